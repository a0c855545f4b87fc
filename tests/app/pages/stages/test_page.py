"""The page "Stages" without a browser: configurations, the job, what is said of a rest, files, and hidden answers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from cases import few

from app.estimates.texts import from_variance
from app.pages.stages import texts
from app.pages.stages.config import REAL, StagesConfig
from app.pages.stages.figures import Staircase
from app.pages.stages.job import StagesJob, StagesProgress
from app.pages.stages.page import Stages
from app.pages.stages.pictures import matrices
from app.pages.stages.presets import PRESETS
from app.pages.stages.scene import get_scene, moment
from app.pages.stages.takeaway import python_code
from app.runs.job import State
from app.sharing.desk import WITHHELD

SMALL = StagesConfig(widths=(4, 2, 4), singular_values=(2.0, 0.5), steps=100, chains=4)


@pytest.fixture(scope="module")
def done() -> tuple[StagesJob, StagesProgress]:
    job = StagesJob(SMALL)
    seen = job.progress()
    while not job.finished:
        seen = job.advance(30)
    return job, seen


@pytest.mark.parametrize("preset", few(PRESETS, 3, rare=False), ids=lambda preset: preset.name)
def test_tiles_show_the_exact_steps(preset):
    found = [float(stage.coefficient) for stage in get_scene(preset.config)]
    if preset.config.teacher == REAL:
        assert found[-1] == preset.levels[-1] and all(level < 0 for level in preset.levels[:-1])
    else:
        assert found == list(preset.levels)
        for level in preset.levels if preset.name in ("two", "four") else ():
            assert f"{level:g}" in preset.lesson


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"widths": [4, 4]}, "3 to 7 layer sizes"),
        ({"widths": [4, 41, 4]}, "at most 40"),
        ({"singular_values": [1, 2]}, "the largest first, all different"),
        ({"widths": [4, 1, 4], "singular_values": [2, 1]}, "the narrowest layer has 1 units"),
        ({"widths": [40, 40, 40]}, "3,200 weights; this page takes up to 2,000"),
        ({"teacher": "nobody"}, "teacher"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(given, said):
    with pytest.raises(ValueError, match=said):
        StagesConfig.from_dict(given)


def test_the_staircase_is_measured_rest_by_rest(done):
    job, seen = done
    assert seen.steps == seen.total_steps == 300 and len(seen.estimates) == 3
    exact = np.array([float(stage.coefficient) for stage in job.scene])
    assert (np.diff(exact) > 0).all() and (np.diff(seen.llc) > 0).all()
    for stage, estimate in zip(job.scene, seen.estimates, strict=True):
        assert float(estimate.local_learning_coefficient) == float(stage.coefficient)
        shown = texts.cells(SMALL, stage, seen, moment(job.scene, stage.time))
        assert shown["variance"] == from_variance(estimate.llc_from_variance, estimate.llc_from_variance_se)
        assert abs(estimate.llc - estimate.expected) < 4 * estimate.llc_se + 0.1 * estimate.expected


def test_a_number_so_far_is_there_before_a_rest_is_done():
    job = StagesJob(SMALL)
    seen = job.advance(60)
    assert not seen.estimates and math.isfinite(seen.llc[0]) and math.isnan(seen.llc[1])
    assert texts.cells(SMALL, job.scene[0], seen, moment(job.scene, 0))["llc"].endswith("so far")
    assert "Not yet" in texts.verdict(SMALL, job.scene[1], seen, 1, True)[1]


def test_verdicts_know_a_saddle_a_place_between_two_steps_and_a_right_number(done):
    job, seen = done
    assert "Trust it" in texts.verdict(SMALL, job.scene[-1], seen, 2, True)[1]
    hidden = texts.verdict(SMALL, job.scene[-1], seen, 2, False)[1]
    assert "Reveal" in hidden and "%" not in hidden
    # Planted: the number of another rest is not called right.
    wrong = StagesProgress(300, 300, 2, seen.llc, seen.llc_se, (seen.estimates[2], *seen.estimates[1:]))
    assert "Between two steps" in texts.verdict(SMALL, job.scene[0], wrong, 0, True)[1]
    real = SMALL.replace(teacher=REAL)
    job = StagesJob(real)
    while not job.finished:
        seen = job.advance(100)
    assert texts.cells(real, job.scene[0], seen, moment(job.scene, 0))["exact"] == "none here"
    assert seen.llc[0] < 0 and "Not a minimum" in texts.verdict(real, job.scene[0], seen, 0, True)[1]


def test_hidden_steps_are_not_sent(done):
    job, seen = done
    staircase = Staircase()
    staircase.reset(job.scene)
    staircase.show(seen)
    assert list(staircase.exact.data["y"]) == [float(stage.coefficient) for stage in job.scene]
    staircase.reset(job.scene, minima_from=2)
    assert list(staircase.exact.data["y"]) == [float(job.scene[2].coefficient)]
    staircase.show(seen)
    staircase.show_answers(False)
    assert not staircase.exact.data["y"] and len(staircase.found.data["y"]) == 3


def test_files_wait_for_what_they_hold(done):
    job, seen = done
    view = Stages()
    try:
        view.takeaway.show(SMALL, job.scene)
        with pytest.raises(ValueError, match="wait for the first rest"):
            view.takeaway.content("staircase")
        view.takeaway.update(seen)
        name, table = view.takeaway.content("staircase")
        assert name == "stages_staircase.csv" and len(table.splitlines()) == 4
        assert len(view.takeaway.content("flow")[1].splitlines()) == len(job.scene.times) + 1
        view.takeaway.withheld = True
        with pytest.raises(ValueError, match=WITHHELD[:30]):
            view.takeaway.content("staircase")
    finally:
        view.close()


@pytest.mark.slow
def test_the_python_gives_the_same_numbers(done, capsys):
    _, seen = done
    exec(compile(python_code(SMALL), "pasted", "exec"), {})
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("rank ") and "measured" in line]
    assert [float(line.split("measured ")[1].split()[0]) for line in lines] == [
        pytest.approx(value, rel=1e-5) for value in seen.llc
    ]


def test_the_slider_shows_any_moment_and_follows_the_run_until_it_is_moved(done):
    job, seen = done
    scene = job.scene
    view = Stages()
    try:
        view.config, view.scene = SMALL, scene
        view.reset(SMALL, scene)
        view.state = State(snapshot=seen)
        view.show_words(view.state)
        assert view.time.value == pytest.approx(scene[2].time, rel=0.01)
        assert view.numbers.values["learned"] == "2 of 2" and "rests" in view.whereabouts.object
        half = float(np.interp(0.25, scene.singular_values[:, 1], scene.times))  # the second value, half learned
        view.staircase.on_tap(half)
        now = moment(scene, view.time.value)
        assert now.moving == 1 and now.values[1] == pytest.approx(0.25, abs=0.05)
        assert np.linalg.svd(now.product, compute_uv=False)[:2] == pytest.approx(now.values)
        assert "Value 2 is on its way" in view.whereabouts.object
        assert all(span.location == now.time for span in view.staircase.here)
        view.time.go(scene[1].time)
        view.show_words(view.state)  # the run goes on, and the slider stays
        assert view.numbers.values["learned"] == "1 of 2"
        assert view.numbers.values["exact"] == f"{float(scene[1].coefficient):g}"
        view.time.go(1e9)
        assert view.time.follows and view.numbers.values["learned"] == "2 of 2"
    finally:
        view.close()


def test_a_matrix_is_drawn_cell_by_cell():
    drawn = matrices(np.array([[1.0, -0.5], [0.0, 2.0]]), np.array([[2.0, 0.0], [0.0, 1.0]]))
    first = drawn[: drawn.index("</figure>")]
    for cell, colour, opacity in (
        ("M0 0h", "#1583C9", "0.50"),
        ("M1 0h", "#E69F00", "0.25"),
        ("M1 1h", "#1583C9", "1.00"),
    ):
        assert re.search(rf'd="{cell}[^"]*" fill="{colour}" fill-opacity="{opacity}"', first)
    assert first.count("M") == 3
