"""The two figures of every page that estimates λ, and their legends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.estimates.curves import ONE_TRUTH, Curves
from app.estimates.figures import EstimateFigure
from app.estimates.loss_figure import BLOCK, STRIP, LossFigure, _gamma
from app.runs.history import Cursor, History, NewRows
from app.style import theme
from llc_core import Run, RunConfig


def rows_of(steps, losses, at=(), llc=(), se=()):
    return NewRows(
        Cursor(),
        np.array(steps),
        np.array(losses, dtype=float),
        np.full(len(steps), np.nan),
        *map(np.array, (at, llc, se)),
    )


def test_figures_take_rows_and_a_new_number_of_chains():
    losses, estimates = LossFigure(), EstimateFigure()
    drawn = len(losses.plot.renderers)
    for chains in (3, 5, 2):
        losses.reset(chains, 100, 50, 7.5, 7.2)
        estimates.reset(100, 50, {"local": 7.5, "global": 7.5, "expected": 7.2})
        rows = rows_of([0, 1], np.full((2, chains), np.nan), [60.0], [7.1], [0.1])
        losses.stream(rows)
        estimates.stream(rows)
        assert chains == len(losses.source.column_names) - 1
        assert len(losses.source.data["step"]) == 2 and len(estimates.source.data["llc"]) == 1
        assert len(losses.plot.renderers) == drawn, "the other chains are drawn when they are asked for"
        losses.show_chains(True)
        assert len(losses.plot.renderers) == drawn + chains - 1
        losses.show_chains(False)
        assert not any(line.visible for line in losses._others)


def test_the_band_is_the_middle_of_all_chains():
    """Ten chains whose values are known: the quantiles of each block of rows are those of all its values."""
    figure = LossFigure()
    figure.reset(10, 1000, 0, 1.0, None)
    values = np.random.default_rng(0).gamma(2.0, size=(1000, 10))
    for start in range(0, 1000, 37):  # as polls bring them: in pieces that are no blocks
        figure.stream(rows_of(np.arange(start, min(start + 37, 1000)), values[start : start + 37]))
    assert len(figure.band.data["step"]) == 1000 // BLOCK
    for block in (0, 60, 124):
        low, middle, high = np.quantile(values[block * BLOCK : (block + 1) * BLOCK], [0.1, 0.5, 0.9])
        seen = [figure.band.data[name][block] for name in ("low", "median", "high")]
        assert np.allclose(seen, [low, middle, high])
    assert "80% of the values lie between" in figure.summary()


@pytest.mark.slow
def test_the_mean_of_the_histogram_is_the_estimate():
    """On a run whose every step is a row, to the last digits; a chain that diverged counts in neither."""
    config = RunConfig(
        problem={"kind": "dln", "widths": [4, 3, 4], "layer_ranks": [3, 3], "seed": 1}, chains=6, steps=400, burn_in=200
    )
    run, history = Run(config), History(6, 400)
    while not run.finished:
        history.add(run.advance(50))
    figure = LossFigure()
    figure.reset(6, 400, 200, 7.5, None)
    rows = history.since(Cursor())
    figure.stream(rows)
    estimate = run.estimates()[0]
    assert figure.counted().mean() == pytest.approx(estimate.llc, rel=1e-9)
    assert figure.mean.data["y"][0] == pytest.approx(estimate.llc, rel=1e-9)
    bars = figure.marginal.data
    middles = (np.array(bars["top"]) + np.array(bars["bottom"])) / 2
    lengths = np.array(bars["right"]) - np.array(bars["left"])
    width = bars["top"][0] - bars["bottom"][0]
    inside = figure.counted()
    inside = inside[inside <= figure.y.range.end]
    assert np.average(middles, weights=lengths) == pytest.approx(inside.mean(), abs=width / 2)
    losses = rows.losses.copy()
    losses[300:, 2] = np.nan
    figure.reset(6, 400, 200, 7.5, None)
    figure.stream(replace(rows, losses=losses))
    assert len(figure.counted()) == 5 * (rows.steps >= 200).sum()


def test_one_truth_has_one_line_and_one_label():
    curves = Curves([], [("local", "local λ"), ("global", "global λ"), ("expected", "expected λ̂")])
    curves.reset_estimates(100, 50, {"local": 7.5, "global": 7.5, "expected": 7.2})
    assert ONE_TRUTH in curves.legends[1].object and "global λ" not in curves.legends[1].object
    assert [line.location for line in curves.estimates.truths] == [7.5, None, 7.2]
    curves.reset_estimates(100, 50, {"local": 8.0, "global": 7.5, "expected": 7.2})
    assert ONE_TRUTH not in curves.legends[1].object and "global λ" in curves.legends[1].object
    assert [line.location for line in curves.estimates.truths] == [8.0, 7.5, 7.2]
    assert {line.line_color for line in curves.estimates.truths} == {theme.TRUTH}, "truth has one colour"


@pytest.mark.parametrize("level", [-0.3, -40.0, -4e4])
def test_figures_follow_values_below_zero(level):
    losses, estimates = LossFigure(), EstimateFigure()
    losses.reset(4, 1000, 100, 7.5, 7.2)
    estimates.reset(1000, 100, {"local": 7.5, "global": 7.5, "expected": 7.2})
    rows = rows_of(np.arange(500), np.full((500, 4), level), [300.0], [level], [0.01])
    losses.stream(rows)
    estimates.stream(replace(rows, recent=np.full(500, level)))
    for figure in (losses, estimates):
        assert figure.y.range.start < level < figure.y.range.end
    assert len(losses.marginal.data["left"]) == 1


def test_the_newest_is_the_moving_average_until_there_is_an_estimate():
    figure = EstimateFigure()
    figure.reset(100, 50, {"local": 7.5})
    assert np.isnan(figure.newest())
    figure.stream(replace(rows_of([0, 1], np.ones((2, 1))), recent=np.array([2.0, 3.0])))
    assert figure.newest() == 3.0
    figure.stream(rows_of([60], np.ones((1, 1)), [60.0], [7.1], [0.1]))
    assert figure.newest() == 7.1
    figure.reset(100, 50, {"local": 7.5})
    assert np.isnan(figure.newest())


@pytest.mark.parametrize("llc", [0.5, 3.0, 12.0])
def test_a_settled_chain_lies_along_the_gamma_curve(llc):
    """Draws of Gamma(λ, 1) fill the bars up to the curve; those of another width with the same mean do not."""
    random = np.random.default_rng(0)
    edges = np.linspace(0, 3 * llc + 4, 31)
    middles = (edges[1:] + edges[:-1]) / 2

    def farthest(draws: np.ndarray) -> float:
        counts, _ = np.histogram(draws, edges)
        curve = _gamma(llc, counts, edges, 1000)
        expected = (np.interp(middles, curve["y"], curve["x"]) / 1000 - STRIP[0]) / (STRIP[1] - STRIP[0]) * counts.max()
        seen = (expected > 30) & (middles > edges[2])  # where chance is small, and the curve is not cut off
        return float(np.abs((counts - expected) / np.sqrt(expected))[seen].max())

    assert farthest(random.gamma(llc, size=20_000)) < 5
    assert farthest(random.gamma(4 * llc, scale=0.25, size=20_000)) > 15


def test_below_zero_there_is_no_gamma_curve():
    assert not len(_gamma(-1.0, np.array([3, 1]), np.array([0.0, 1.0, 2.0]), 100)["x"])
