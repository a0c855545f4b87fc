"""Guesses of a class are numbers without names, one for each window, and the teacher's card says how they lie."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from app.estimates.guessing import Guessing, Truth
from app.sharing import class_room
from app.sharing.class_room import NOBODY, ROOMS, SEATS, ClassRoom, ClassView, drawing, room, words
from app.sharing.exact_answers import ExactAnswers


def test_the_last_guess_of_a_window_counts_and_what_is_no_number_does_not():
    found = ClassRoom()
    for window, value in (("a", 3.0), ("b", 7.5), ("a", 8.0), ("c", float("nan")), ("d", float("inf"))):
        found.guess(window, value)
    assert sorted(found.guesses) == [7.5, 8.0]
    for seat in range(SEATS + 5):
        found.guess(str(seat), float(seat))
    assert len(found.guesses) == SEATS and 0.0 not in found.guesses


def test_each_link_has_a_room_and_the_oldest_is_given_up(monkeypatch):
    monkeypatch.setattr(class_room, "_rooms", type(class_room._rooms)())
    first = room("one")
    first.guess("a", 1.0)
    assert room("one") is first and room("two") is not first
    for number in range(ROOMS):
        room(f"other {number}")
    assert room("one").guesses == []


def test_what_is_typed_before_the_answer_is_counted_and_later_no_more():
    answers, counted = ExactAnswers(), []
    answers.visible = False
    guessing = Guessing(lambda: answers)
    guessing.on_guess = counted.append
    guessing.show(Truth("λ", 7.5), None)
    guessing.view._handle_msg({"kept": "6"})
    guessing.view._handle_msg({"kept": "six"})
    guessing.view._handle_msg({"guess": "7"})
    assert counted == [6.0, 7.0] and answers.visible
    guessing.view._handle_msg({"guess": "7.5"})  # hides the answers again
    assert counted == [6.0, 7.0]


def test_the_card_tells_the_exact_value_only_once_it_is_shown():
    found, truth = ClassRoom(), [None]
    view = ClassView(found, lambda: truth[0])
    assert NOBODY in view._words.object.replace("&amp;", "&") and not view._drawing.object
    for window, value in (("a", 6.0), ("b", 7.4), ("c", 12.0)):
        found.guess(window, value)
    view.look()
    assert view._words.object == "<p>3 guesses, from 6 to 12, middle 7.4.</p>" and "D55E00" not in view._drawing.object
    truth[0] = 7.5
    view.look()
    assert "The exact λ is 7.5: 1 within 10%." in view._words.object and "D55E00" in view._drawing.object
    view.close()


@pytest.mark.parametrize("guesses", [[7.5], [0.0, 0.0], [-3.0, 1e6], [1.0] * 300])
@pytest.mark.parametrize("truth", [None, 7.5])
def test_whatever_is_guessed_can_be_drawn(guesses, truth):
    tree = ElementTree.fromstring(drawing(guesses, truth))
    dots = [dot for dot in tree if dot.tag == "circle"]
    assert len(dots) == len(guesses) and all(
        0 <= float(dot.get("cx")) <= 640 and float(dot.get("cy")) > 0 for dot in dots
    )
    assert words(guesses, truth).endswith(".")
