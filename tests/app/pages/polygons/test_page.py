"""The page "Polygons" without a browser: what may be chosen, what is run, and what is said of it."""

from __future__ import annotations

import pytest

from app.pages.polygons import texts
from app.pages.polygons.editor import PolygonEditor
from app.pages.polygons.presets import PRESETS
from app.pages.polygons.scene import expected_llc, get_problem, link_config, preset_config, solutions
from llc_core import Run


def test_a_polygon_never_has_more_corners_than_features():
    editor, heard = PolygonEditor(), []
    editor.listener = lambda: heard.append(editor.problem)
    editor.sides.widget.value = "9"
    editor.features.widget.value = "7"
    assert [(each["sides"], each["features"]) for each in heard] == [(9, 9), (7, 7)]
    for each in heard:
        assert get_problem(each).sides == each["sides"]


def test_solutions_of_six_features_come_from_the_worst_to_the_best():
    found = solutions(6)
    assert [each.name for each in found] == ["Pentagon", "Pentagon and a mean", "Hexagon"]
    assert [each.coefficient for each in found] == [7, 8.5, 8.5]
    assert [each.loss for each in found] == sorted((each.loss for each in found), reverse=True)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_lessons_name_the_exact_coefficient(preset):
    """Of presets whose lesson has it."""
    exact = float(get_problem(preset.problem).local_learning_coefficient)
    if "λ is" in preset.lesson or "only" in preset.lesson:
        assert f"{exact:g}" in preset.lesson


@pytest.mark.slow
def test_a_run_reads_what_it_should():
    """The first preset through the page's own configuration: within the bars of a verdict, 5% and three errors."""
    config = preset_config(PRESETS[0])
    expected = expected_llc(config)
    run = Run(config.complete, problem=config.resolved.problem)
    while not run.finished:
        run.advance(config.lengths[0])
    found = run.estimates()[0]
    assert expected == pytest.approx(found.expected) and found.converged
    assert abs(found.llc - expected) < 0.05 * expected + 3 * found.llc_se


def test_other_problems_are_refused():
    with pytest.raises(ValueError, match="this page runs polygons"):
        link_config({"problem": {"kind": "dln", "widths": [3, 2]}})
    with pytest.raises(ValueError, match="sides is 10"):
        link_config({"problem": {"kind": "superposition", "sides": 10, "features": 12}})


def test_what_is_free_is_said_and_counted():
    for preset in PRESETS:
        problem = get_problem(preset.problem)
        free = problem.dim - round(2 * float(problem.local_learning_coefficient))
        assert texts.exact_values(problem)["free"] == f"{free} of {problem.dim}"
        assert ("wander" in texts.free_words(problem)) == (free > 1)
        assert "λ =" in texts.question(problem, True) and "λ =" not in texts.question(problem, False)
