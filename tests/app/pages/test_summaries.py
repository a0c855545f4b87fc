"""Charts tell in a sentence what they show, for those who do not see them, and tell nothing that is withheld."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from app.pages.functions.figures import FunctionsFigure
from app.pages.functions.panels.particles import BY_WEIGHTS, LANGEVIN, ParticlesPanel
from app.pages.landscapes.panels.one_step import OneStepPanel
from app.pages.landscapes.panels.points import PointsPanel, PointsProgress
from app.pages.landscapes.panels.volume import VolumePanel
from app.pages.local_geometry.panels.sweep.panel import SweepPanel
from app.pages.many_modes.figures import CellsFigure, PlaneFigure
from app.pages.many_modes.panels.basins import BasinPanel
from app.pages.many_modes.panels.inside import Inside
from app.pages.stationary_bias.figures import DistanceFigure, DistributionFigure, Frame, MetricFigure
from app.pages.stationary_bias.panels.exact.figure import BiasFigure
from app.pages.stationary_bias.panels.llc_errors.figure import WIDEST, ErrorFigure
from app.pages.your_network.figures import CalibrationFigure, TrainingFigures
from app.style.legend import Heard, told_html
from llc_core import planar_landscape, volume_scaling

X = np.linspace(-4, 4, 801)


def normal(mean: float, sd: float) -> np.ndarray:
    return np.exp(-((X - mean) ** 2) / (2 * sd**2))


def test_histograms_tell_their_moments_and_those_of_the_laws_that_are_drawn():
    law = DistributionFigure("left", Frame())
    assert law.summary() == ""
    law.histogram.data = {"left": X - 0.005, "right": X + 0.005, "top": normal(0.5, 0.7)}
    law._laws = [X, normal(0, 1), normal(0.5, 0.75)]
    law.show_answers(True)
    assert law.summary() == (
        "The histogram has mean 0.5 and standard deviation 0.7, the target mean 0 and standard deviation 0.999, "
        "the prediction mean 0.5 and standard deviation 0.75."
    )
    law.show_exact(X, normal(0.4, 0.5))
    assert "exact distribution at this step size mean 0.4 and standard deviation 0.5" in law.summary()
    law.show_answers(False)
    assert law.summary().endswith("the target mean 0 and standard deviation 0.999.")


def test_distances_tell_the_newest():
    figure = DistanceFigure()
    figure.reset(1_000, 100)
    assert figure.summary() == ""
    figure.stream(np.array([[200, 0.3, 0.2, 0.1, 0.05, 0.02], [400.0, 0.25, 0.12, 0.1, 0.04, 0.01]]))
    assert figure.summary() == (
        "At step 400 the left histogram is 0.25 from the target and 0.12 from its prediction. The right one is "
        "0.1 and 0.04 away. Chance alone leaves 0.01."
    )


def test_exact_biases_tell_the_ends_of_their_curves_and_the_settings():
    figure = BiasFigure()
    figure.reset(0.01)
    assert figure.summary([""]) == ""
    for step, distance, current in ((0.1, 0.4, False), (0.001, 0.02, False), (0.01, 0.1, True)):
        point = SimpleNamespace(step_size=step, to_target=distance, to_limit=0.01, current=current)
        figure.add(0, point)
    assert figure.summary(["α = 0.9", "α = 0"]) == (
        "At the step size set here, 0.01, the chain is exactly 0.1 from the target. "
        "With α = 0.9 it is 0.02 at step size 0.001 and 0.4 at 0.1."
    )
    figure.reset(0.01)
    assert figure.summary([""]) == ""


def test_a_metric_tells_where_it_is_high_and_low():
    figure = MetricFigure("left", Frame())
    assert figure.summary() == ""
    figure.source.data, figure._high = {"x": X, "metric": 1 + normal(0.5, 0.3)}, 3.0
    assert figure.summary() == "G is highest, 2, at 0.5 and is lowest, 1, at -4."
    figure._high = 1.5
    assert figure.summary() == "G goes above 1.5 at 0.5 and is lowest, 1, at -4."
    figure.source.data = {"x": X, "metric": np.full(len(X), 0.5)}
    assert figure.summary() == "G is 0.5 everywhere."


def test_errors_of_samplers_tell_their_range():
    long = "Frozen PSGLD stability 0.01, minibatch"
    figure = ErrorFigure(["SGLD", long])
    assert figure.summary() == ""
    figure.show(
        {"SGLD": [(1, -0.02, 0.01), (2, 0.01, 0.01), (3, float("nan"), 0.1)], long: [(1, 0.5, 0.1), (2, 0.3, 0.1)]},
        "x",
    )
    rows = {row for row, _ in figure.source.data["row"]}
    assert rows == set(figure.plot.y_range.factors), "every mark has its row"
    assert all(len(line) <= WIDEST for row in rows for line in row.split("\n")), "so that a phone has room for them"
    assert figure.summary() == (
        "SGLD: errors of 2 problems from −2.0% to +1.0%, median −0.5%. "
        f"{long}: errors of 2 problems from +30.0% to +50.0%, median +40.0%."
    )


def test_particles_tell_how_wide_they_are():
    panel = ParticlesPanel()
    assert panel.summary() == ""
    panel.density.data = {"x": X, "y": 0.5 + 3 * normal(0, 0.1)}
    assert panel.summary() == ""
    panel.dots[LANGEVIN].data = {"x": np.array([-0.25, 0.25]), "y": [3.0, 3.0]}
    panel.dots[BY_WEIGHTS].data = {"x": np.zeros(2), "y": [2.0, 2.0]}
    assert panel.summary() == (
        "Standard deviation of the phase: of the chains 0.25, of particles that repel as weights 0, exact 0.1."
    )


def test_bands_tell_the_exact_one_only_where_it_is_drawn():
    figure = FunctionsFigure()
    assert figure.summary() == ""
    x = np.array([-1.0, 0.0, 1.0])
    figure.live.data = {"x": x, "mean": 0 * x, "low": np.array([-1.0, -0.5, -3.0]), "high": np.array([1.0, 0.5, 3.0])}
    said = figure.summary()
    assert (
        said
        == "At 0 the band of the chains is from -0.5 to 0.5. The band of the chains is narrowest at 0 and widest at 1."
    )
    figure.exact.data = {"x": x, "mean": 0 * x, "low": x - 0.25, "high": x + 0.75}
    assert "the exact band from -0.25 to 0.75" in figure.summary()


def test_cells_tell_their_ratios_only_where_these_are_sent():
    cells, plane = CellsFigure("left"), PlaneFigure("left")
    assert cells.summary() == "" and plane.summary() == ""
    cells.ratio.data = {"x": [0] * 3, "y": [0] * 3, "log": [-2.0, 0.5, 0.0], "text": [""] * 3}
    assert (
        cells.summary() == "2 of 3 cells have between half and twice their exact mass; the ratios go from 0.25 to 1.41."
    )
    cells.shows_ratio = False
    assert cells.summary() == ""
    plane.heads.data = {"x": [0.5, -1.25], "y": [2.0, 1.0], "color": ["", ""], "size": [6, 6]}
    assert plane.summary() == "2 chains are drawn: x is between -1.2 and 0.5, y between 1 and 2."


def test_basins_tell_the_exact_mass_only_where_it_is_drawn():
    panel = BasinPanel()
    panel._curve = np.array([[1.0, 100.0], [0.8, 0.2]])
    panel.found["left"].data = {"n_beta": [1.0, 100.0], "share": [0.7, 0.25], "low": [0.6, 0.2], "high": [0.8, 0.3]}
    panel.show_answers(True)
    assert panel.summary() == "At nβ = 100 the left method finds 25.0% ± 5.0% of the mass on the line; exact are 20.0%."
    panel.show_answers(False)
    assert panel.summary() == "At nβ = 100 the left method finds 25.0% ± 5.0% of the mass on the line."
    assert "20.0%" not in panel._head.view.object


def test_volumes_tell_the_fit():
    panel = VolumePanel()
    panel.show(planar_landscape("normal_crossing"))
    panel._take(volume_scaling(planar_landscape("normal_crossing")))
    found = re.search(r'data-summary="volume_figure">(.*?)</p>', panel._head.view.object)
    assert found is not None and f"λ = {panel.found.learning_coefficient:.4f} and m = 2" in found[1]
    panel.close()


def test_training_and_calibration_tell_their_numbers():
    training = TrainingFigures()
    assert training.summary() == ""
    kept = [SimpleNamespace(step=step, train_loss=loss, test_loss=2 * loss) for step, loss in ((0, 1.0), (500, 0.25))]
    training.show(SimpleNamespace(checkpoints=kept))
    estimates = [
        (0, SimpleNamespace(llc=1.5, llc_se=0.1, singular_fluctuation=0.5, singular_fluctuation_se=0.1, converged="")),
        (
            500,
            SimpleNamespace(llc=4.5, llc_se=0.2, singular_fluctuation=2.0, singular_fluctuation_se=0.1, converged=""),
        ),
    ]
    training.show_found(estimates)
    assert training.summary() == (
        "From step 0 to 500 the training loss falls from 1 to 0.25. On held-out data it falls from 2 to 0.5. "
        "λ̂ is 1.5 at step 0 and 4.5 at step 500. ν̂ is 0.5 at step 0 and 2 at step 500."
    )
    figure = CalibrationFigure()
    assert figure.summary() == ""
    llc, ok = np.array([[[3.0], [4.0]], [[5.0], [np.nan]]]), np.array([[[True], [True]], [[False], [False]]])
    reason = np.full(llc.shape, "", dtype=object)
    figure.show(
        SimpleNamespace(step_size=[1e-4, 1e-3], localization=[1.0, 10.0], llc=llc, ok=ok, reason=reason, chosen=None)
    )
    assert figure.summary() == "2 of 4 settings are not refused, and there λ̂ is between 3 and 4."
    figure.show(
        SimpleNamespace(
            step_size=[1e-4, 1e-3], localization=[1.0, 10.0], llc=llc, ok=ok & False, reason=reason, chosen=None
        )
    )
    assert figure.summary() == "All of 4 settings are refused."


def test_words_that_are_seen_are_marked_as_those_of_their_figures():
    points = PointsPanel()
    random = np.random.default_rng(0)
    points._draw(PointsProgress(100, 100, {"U": random.normal(0.5, 0.1, 50), "V": random.normal(0.25, 0.1, 50)}))
    assert 'data-summary="points_figure">Step 100 of 100. ' in points.words.object
    assert 'data-summary="sweep_figure sweep_dead">' in SweepPanel().words.object
    assert '<p data-summary="one_step">Press Step' in OneStepPanel()._words.object
    inside = Inside("left")
    inside._figures.objects = [CellsFigure("left").plot]
    inside._say("θ < 1")
    assert inside._words.object == '<p class="small" data-summary="cells_left">θ &lt; 1</p>'
    assert told_html("a", "b") == '<p class="small" data-summary="a">b</p>'


@pytest.mark.parametrize("words", ["", "f < g"])
def test_what_is_heard_waits_unless_it_is_the_last(words):
    heard = Heard("bands")
    heard.say("first", now=True)
    heard.say("second")
    assert "first" in heard.view.object
    heard.say(words, now=True)
    assert heard.view.object == ('<p class="heard" data-summary="bands">f &lt; g</p>' if words else "")
