"""Valleys that a visitor draws: strokes become a landscape, are carried in links and scripts, and say λ only where it is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.pages.landscapes.controls import strokes_of, strokes_text
from app.pages.landscapes.page import Landscapes
from app.pages.landscapes.panels.plane import ANEW
from app.pages.landscapes.scene import nearest_truth, true_parameters, window
from app.sharing.links import Link, decode, encode
from app.sharing.reading import parse_file

T = np.linspace(0, 1, 60)


@pytest.fixture
def view():
    made = Landscapes()
    made.plane.click.value = "pen"
    yield made
    made.close()


def draw(view: Landscapes, x, y) -> None:
    """As the browser tells it: the source of the pen has one more line."""
    view.plane.figure.stroke.data = {"xs": [list(x)], "ys": [list(y)]}


@pytest.mark.slow
def test_strokes_become_a_landscape_and_crossings_are_told(view):
    assert view.plane.figure.plot.tags == ["pen"]
    runs = view.runs
    draw(view, 4 * T - 2, np.sin(3 * T))
    assert view.runs == runs + 1 and view.problem.model.name == "drawn"
    assert view.plane.figure.stroke.data == {"xs": [], "ys": []}, "the smooth curve stands in place of what was drawn"
    one = view.problem.local_learning_coefficient
    assert (float(one), one.multiplicity) == (0.5, 1) and "λ = 1/2" in view.question()
    draw(view, 0.2 + 0 * T, 4 * T - 2)
    two = view.problem.local_learning_coefficient
    assert (float(two), two.multiplicity) == (0.5, 2), "w0 has gone to where they cross"
    w0 = view.problem.model.w0
    assert w0[0] == pytest.approx(0.2, abs=0.01) and abs(w0[1] - math.sin(3 * (w0[0] + 2) / 4)) < 0.1
    lines, points = true_parameters(view.problem, window(view.problem, 100.0))
    assert len(lines) == 2 and points == [] and len(view.plane.figure.truth.data["xs"]) == 2
    assert nearest_truth(view.problem, w0[0] + 0.1, w0[1]) == pytest.approx(w0)
    view.plane.click.value = "w0"
    assert view.plane.figure.plot.tags == []
    view._on_tap(-2.0, 0.0)
    assert (
        view.problem.local_learning_coefficient.multiplicity == 1
        and view.problem.learning_coefficient.multiplicity == 2
    )


@pytest.mark.slow
@pytest.mark.long
def test_a_new_drawing_begins_without_the_strokes_before(view):
    draw(view, 4 * T - 2, 0 * T)
    assert view.plane.anew.visible
    view.plane.anew.clicks += 1
    assert ANEW in view.plane._words.object and not view.plane.anew.visible
    draw(view, 0 * T, 4 * T - 2)
    assert len(view.problem.model.parameters["strokes"]) == 1
    for shift in (-1, 0, 1, 2):
        draw(view, 4 * T - 2, shift + 0.3 * T)
    assert len(view.problem.model.parameters["strokes"]) == 4
    assert "1 to 4 strokes" in view.editor.message.object


def test_what_is_no_stroke_is_a_sentence_and_the_run_stays(view):
    before = view.configuration(), view.runs
    for x, y in (([0], [0]), ([0, 0.01], [0, 0]), ([math.nan] * 9, [0.0] * 9)):
        draw(view, x, y)
        assert "too short" in view.editor.message.object
    assert (view.configuration(), view.runs) == before


def test_strokes_are_typed_too(view):
    view.editor.choice.set("drawn")
    view.editor._on_landscape()
    assert view.problem.model.name == "drawn"
    view.editor.strokes.value = "-2, 0; 2, 0 | 0, -2; 0, 2"
    assert view.problem.local_learning_coefficient.multiplicity == 2
    assert strokes_of(view.editor.strokes.value) == [[[-2, 0], [2, 0]], [[0, -2], [0, 2]]]
    runs = view.runs
    for text, words in (
        ("1, 2; x, 3", "Strokes"),
        ("1, 2", "Stroke 1"),
        ("1, 2, 3; 1, 1", "two numbers"),
        ("", "Strokes"),
    ):
        view.editor.strokes.value = text
        assert words in view.editor.message.object and view.editor.strokes.error_state, text
    assert view.runs == runs
    assert strokes_text([[[-2, 0], [2, 0.5]]]) == "-2, 0; 2, 0.5"


@pytest.mark.slow
@pytest.mark.long
def test_links_files_and_scripts_carry_it(view):
    draw(view, np.cos(2 * math.pi * T), np.sin(2 * math.pi * T))
    draw(view, 4 * T - 2, 0.1 + 0 * T)
    configuration = view.configuration()
    link = decode(encode(Link("landscapes", configuration)))
    other = Landscapes()
    try:
        other.restore(link.config)
        assert other.configuration()["problem"] == configuration["problem"]
        assert len(other.problem.model.parameters["strokes"]) == 2
        other.restore(parse_file(view.takeaway.menu.configuration))
        assert other.configuration()["problem"] == configuration["problem"]
    finally:
        other.close()
    script = view.takeaway.menu.code
    assert "strokes" in script and compile(script, "script", "exec")
    with pytest.raises(ValueError, match="strokes"):
        view.restore({"problem": {"kind": "planar", "name": "drawn", "strokes": [[[0, 0]]]}})
