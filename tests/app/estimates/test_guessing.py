"""With the answers hidden nothing on a page tells them; a guess is compared with them once they are revealed."""

from __future__ import annotations

import re
from typing import Any

import panel as pn
import pytest
from bokeh.document import Document
from sent_words import sent_words, without_cards

from app.estimates.guessing import TASK, read_guess
from app.pages import load_pages
from app.pages.local_geometry.page import LocalGeometry
from app.runs.job import State
from app.style import numbers
from llc_core import Estimate, estimate


@pytest.fixture(params=["local-geometry", "landscapes", "stationary-bias"])
def hidden(request):
    """A page as a link for a class opens it."""
    view = next(page for page in load_pages() if page.key == request.param).build()
    for part in view.parts.get("answers", ()):
        part.visible = False
    yield view
    view.close()


def test_nothing_that_a_preset_says_is_there_while_answers_are_hidden(hidden):
    for item in list(hidden.tiles.items):
        hidden.on_preset(item["name"])
        lesson = hidden._presets[item["name"]].lesson
        assert lesson not in without_cards(hidden.lesson.object) and hidden.tiles.selected == item["name"]
        assert re.fullmatch(r"No\. \d+", item["title"]) and lesson not in item["tip"]
        assert not re.search(r"\d\.\d|\d%", hidden.lesson.object + item["tip"]), "a number would be an answer"


@pytest.fixture
def class_room():
    view = LocalGeometry()
    view.answers.visible = False
    yield view
    view.close()


def found_by(view: LocalGeometry) -> Estimate:
    return estimate(view.scene.problem, chains=2, steps=200, progress=False)


def words_of(view: LocalGeometry) -> str:
    """All words that the page shows of its run."""
    shown = [view.headline.object, view.lesson.object, view.verdict.object, view.guessing.view.said, *view.tiles.items]
    shown += [pane.object for pane in view.curves.legends]
    return " ".join(map(str, shown))


def test_reveal_shows_the_truth_and_how_far_guess_and_estimate_are_from_it(class_room):
    state = State(estimate=found_by(class_room))
    class_room._show_words(state)
    view = class_room.guessing.view
    assert view.visible and not view.revealed and not view.said and TASK in class_room.lesson.object
    assert "7.5" not in words_of(class_room) and "expected" not in words_of(class_room)
    view._handle_msg({"guess": "6"})
    assert class_room.answers.visible and view.revealed
    assert view.said.startswith("<b>λ at w0 is 7.5.</b> Your guess 6 is 20.0% below λ, and ")
    assert "% below what λ̂ should read here. λ̂ = " in view.said
    assert "At this n and nβ it should read" in view.said and "expected" in words_of(class_room)
    assert class_room.lesson.object != f"<p>{TASK}</p>" and class_room.tiles.items[0]["title"] == "Tiny"
    view._handle_msg({"guess": "6"})
    assert not class_room.answers.visible and not view.revealed and not view.said, "for the next question"
    class_room._show_words(state)
    assert "7.5" not in words_of(class_room)


def test_the_first_ranges_do_not_lie_around_hidden_answers(class_room):
    ends = set()
    for name in ("wanderer", "local"):
        class_room.on_preset(name)
        ends.add((class_room.losses.y.range.end, class_room.estimates.y.range.end))
        assert class_room.estimates.y.range.start == 0
    assert len(ends) == 1, "networks of one size, whatever their λ"


def sent(view: Any) -> str:
    """Everything that the browser is sent of a page, numbers as they are written in JSON."""
    view.later.arrive()
    document = pn.Column(*view.main, *view.sidebar).get_root().document or Document()
    if not document.roots:
        document.add_root(pn.Column(*view.main, *view.sidebar).get_root(document))
    return sent_words(document)


@pytest.mark.slow
@pytest.mark.long
def test_what_is_withheld_is_not_sent_either():
    """Whoever looks into the page's data with the tools of the browser finds no answer there."""
    view = LocalGeometry()
    try:
        state = State(estimate=found_by(view))
        view._show_words(state)
        scene = view.scene
        answers = [repr(float(scene.local)), repr(float(scene.expected))]
        text = sent(view)
        assert all(answer in text for answer in answers), "the test looks at the right numbers"
        view.answers.visible = False
        view.run(view.config)
        view._show_words(state)
        text = sent(view)
        for answer in (*answers, numbers.number(scene.expected), "15/2"):
            told = re.search(rf"(?<![\d.]){re.escape(answer)}(?![\d.]|em|rem|px)", text)
            assert not told, text[told.start() - 80 : told.end() + 40]
        view.answers.visible = True
        view._show_words(state)
        text = sent(view)
        assert all(answer in text for answer in answers)
    finally:
        view.close()


def test_files_that_hold_answers_wait_for_them(class_room):
    class_room._show_words(State(estimate=found_by(class_room)))
    for key in ("results", "sweep", "why"):
        with pytest.raises(ValueError, match="press Reveal first"):
            class_room.takeaway.content(key)
    assert class_room.takeaway.content("traces")[1].startswith("step")
    class_room.answers.visible = True
    class_room._show_words(State(estimate=found_by(class_room)))
    assert "expected_llc" in class_room.takeaway.content("results")[1]


@pytest.mark.parametrize(
    "text, value",
    [("7.5", 7.5), ("15/2", 7.5), (" 7,5 ", 7.5), ("−1", -1.0), ("", None), ("1/0", None), ("a", None), ("nan", None)],
)
def test_guesses_are_read_as_people_type_them(text: str, value: Any):
    assert read_guess(text) == value


def test_a_slip_of_the_hand_gives_nothing_away(class_room):
    class_room._show_words(State(estimate=found_by(class_room)))
    view = class_room.guessing.view
    view._handle_msg({"kept": "6"})
    assert view.said == "Your guess is 6. Press Reveal to compare it." and not view.revealed
    for kind in ("kept", "guess"):
        view._handle_msg({kind: "<b>9"})
        assert "“&lt;b&gt;9” is not a number" in view.said and not view.revealed and not class_room.answers.visible
    assert "7.5" not in words_of(class_room)
    view._handle_msg({"guess": ""})
    assert view.revealed, "without a guess the answer may be seen"
