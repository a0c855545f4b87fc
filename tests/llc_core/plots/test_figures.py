"""Figures of results: what is drawn is what was found, and what cannot be drawn is one sentence."""

from __future__ import annotations

from dataclasses import replace

import holoviews as hv
import numpy as np
import pytest

import llc_core
from app.style import theme
from llc_core.plots import figures, style
from llc_core.results import Estimate
from llc_core.studies.over_training import OverTraining

SIZES = [1e-9, 1e-8, 1e-7]


@pytest.fixture(scope="module")
def problem():
    return llc_core.DeepLinearNetwork.random(widths=[4, 3, 4], seed=1)


@pytest.fixture(scope="module")
def found(problem):
    return llc_core.estimate(problem, steps=300, progress=False)


def elements(figure, kind):
    return [each for each in figure.traverse(lambda each: each, [kind]) if type(each) is kind]


def test_colours_are_those_of_the_app():
    assert (style.ESTIMATE, style.TRUTH, style.GOOD, style.MARK) == (
        theme.ESTIMATE,
        theme.TRUTH,
        theme.GOOD,
        theme.MARK,
    )
    assert (style.QUIET, style.CHAINS) == (theme.RECENT, theme.CHAINS)


@pytest.mark.slow
def test_an_estimate_is_its_traces_and_its_running_mean(found):
    above, below = found.plot()
    assert len(elements(above, hv.Curve)) == found.chains
    for curve, chain in zip(elements(above, hv.Curve), found.trace.T, strict=True):
        np.testing.assert_array_equal(curve["y"], chain)
    assert {each.data for each in elements(above, hv.HLine)} == {found.expected, found.llc}
    assert [each.data for each in elements(above, hv.VLine)] == [found.burn_in]
    last = elements(below, hv.Curve)[0]["y"][-1]
    assert last == pytest.approx(found.trace[found.trace_steps >= found.burn_in].mean())
    hv.render(found.plot(), backend="bokeh")


def test_an_estimate_that_was_read_from_text_holds_no_trace(found):
    with pytest.raises(ValueError, match="holds no trace"):
        Estimate.from_json(found.to_json()).plot()


def test_chains_that_all_died_have_no_running_mean(found):
    dead = replace(found, trace=np.full_like(found.trace, np.nan))
    with pytest.raises(ValueError, match="smaller step_size"):
        figures.running(dead)


@pytest.mark.slow
def test_estimates_of_a_grid_are_a_curve_for_each_other_setting(problem):
    grid = llc_core.estimate(
        problem, llc_core.SGLD(), gradient="full", steps=200, progress=False,
        grid={"step_size": SIZES, "localization": [1.0, 100.0]},
    )  # fmt: skip
    figure = grid.plot()
    assert isinstance(grid, list) and [curve.label for curve in elements(figure, hv.Curve)] == [
        "localization 1", "localization 100",
    ]  # fmt: skip
    mine = [each for each in grid if each.setting["localization"] == 100.0]
    np.testing.assert_allclose(elements(figure, hv.Curve)[1]["y"], [each.llc for each in mine])
    hollow = sum(len(each) for each in elements(figure, hv.Scatter)[1::2])
    assert hollow == sum(not each.converged for each in grid)
    assert [curve.label for curve in elements(grid.plot("localization"), hv.Curve)] == [
        f"step_size {e:g}" for e in SIZES
    ]
    hv.render(figure, backend="bokeh")


def test_estimates_without_a_setting_are_refused(found):
    with pytest.raises(ValueError, match="no setting that differs"):
        figures.settings([found])


def test_settings_without_an_estimate_and_names_that_are_none_are_no_crash(found, problem):
    dead = [replace(found, llc=np.nan, setting={"step_size": size, "localization": 1.0}) for size in SIZES] + [
        replace(found, setting={"step_size": size, "localization": 2.0}) for size in SIZES
    ]
    assert [curve.label for curve in elements(figures.settings(dead), hv.Curve)] == ["localization 2"]
    with pytest.raises(ValueError, match="do not differ in 'sizes'; choose one of step_size, localization"):
        figures.settings(dead, "sizes")
    many = [replace(found, setting={"step_size": SIZES[0], "localization": float(k)}) for k in range(1, 21)]
    assert len(elements(figures.settings(many), hv.Curve)) == 20


def test_problems_of_a_family_are_curves_of_their_own(found):
    other = found.config.replace(problem={**found.config.problem, "seed": 99})
    both = [
        replace(found, config=config, setting={"step_size": size}) for config in (found.config, other) for size in SIZES
    ]
    assert [curve.label for curve in elements(figures.settings(both), hv.Curve)] == ["problem 1", "problem 2"]


@pytest.mark.slow
def test_a_calibration_marks_its_choice(problem):
    found = llc_core.calibrate(problem, "SGLD", steps=400)
    figure = found.plot()
    assert len(elements(figure, hv.Curve)) == len(found.localization) * len(found.n_beta)
    marked = [each for each in elements(figure, hv.Scatter) if each.label == "chosen"]
    assert len(marked) == (found.chosen is not None)
    if found.chosen is not None:
        e, g, n = found.chosen
        assert (marked[0]["x"][0], marked[0]["y"][0]) == (found.step_size[e], found.llc[e, g, n])
    hv.render(figure, backend="bokeh")


def test_over_training_is_llc_above_the_loss(found):
    figure = OverTraining({10: found, 20: found}).plot()
    llc, loss = elements(figure, hv.Curve)
    assert list(llc["y"]) == [found.llc] * 2 and list(loss["y"]) == [found.baseline_loss] * 2


def test_singular_fluctuation_over_training_is_hollow_where_it_has_no_error(found):
    known = replace(found, singular_fluctuation=2.0, singular_fluctuation_se=0.1)
    alone = replace(found, singular_fluctuation=3.0)
    llc, nu, _ = OverTraining({10: known, 20: alone}).plot()
    assert list(elements(nu, hv.Curve)[0]["y"]) == [2.0, 3.0] and found.converged
    for picture, doubted in ((llc, []), (nu, [20])):
        assert list(elements(picture, hv.Scatter)[-1]["x"]) == doubted, "white dots lie over the others"


def test_a_free_energy_shows_the_levels_that_have_a_number():
    found = llc_core.free_energy(llc_core.surface("sum", exponents=(2, 4)), chains=16, steps=200, seed=5)
    dots = elements(found.plot(), hv.Scatter)[0]
    np.testing.assert_array_equal(dots["y"], found.level_llc[1:])
    assert [each.data for each in elements(found.plot(), hv.HLine)] == [found.llc]
    beside = hv.render(found.plot(truth=2.0), backend="bokeh")
    assert beside.y_range.start < 0.75 < 2.0 < beside.y_range.end, "lines are inside of the frame"


def test_chains_on_the_line_lie_beside_densities():
    found = llc_core.simulate(llc_core.SGLD(step_size=0.1), "normal", chains=200, steps=50, seed=1)
    target = llc_core.landscape("normal").density(found.bins.centers)
    figure = found.plot({"target": target})
    np.testing.assert_array_equal(elements(figure, hv.Histogram)[0]["Frequency"], found.density())
    assert [curve.label for curve in elements(figure, hv.Curve)] == ["target"]


def test_a_function_of_one_number_has_a_band():
    inputs = np.array([1.0, -2.0, 0.0])
    found = llc_core.estimate(
        llc_core.BayesianNetwork((1, 5, 5, 1)), llc_core.SplitHMC(leapfrog_steps=3), chains=4, steps=60, burn_in=0.5,
        seed=1, predict=inputs, progress=False,
    ).predictive  # fmt: skip
    curve = elements(found.plot(), hv.Curve)[0]
    assert list(curve["x"]) == [-2.0, 0.0, 1.0]
    np.testing.assert_array_equal(curve["y"], np.asarray(found.mean)[[1, 2, 0]])
    low, high = found.band_over_time(0.5)
    area = elements(found.plot(level=0.5), hv.Area)[0]
    np.testing.assert_array_equal(area["low"], low[[1, 2, 0]])
    np.testing.assert_array_equal(area["high"], high[[1, 2, 0]])
    low, _ = found.band_across_chains(0.8)
    figure = found.plot(across="chains", beside={"exact": (inputs, inputs + 1)}, data=(inputs[:, None], inputs))
    np.testing.assert_array_equal(elements(figure, hv.Area)[0]["low"], low[[1, 2, 0]])
    assert [list(each["y"]) for each in elements(figure, hv.Curve)[:2]] == [[-2.0, 0.0, 1.0], [-1.0, 1.0, 2.0]]
    assert elements(figure, hv.Scatter)[0].label == "data"
    with pytest.raises(ValueError, match="across is 'draws'; give 'time' or 'chains'"):
        found.plot(across="draws")
