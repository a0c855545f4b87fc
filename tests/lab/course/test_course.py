"""The course: its links open what they say, its notes are as written by its command, and its hand-outs can be printed."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from app.pages import load_pages
from app.sharing.links import named
from lab.course import handouts, notes, write

ROOT = Path(__file__).resolve().parents[3]
MOMENTS, QUESTIONS = notes.moments(), notes.questions()
SHELVES = {page.key: page for page in load_pages()}


def test_there_are_seventeen_and_the_quiz_has_ten():
    assert len(MOMENTS) == len({moment.key for moment in MOMENTS}) == 17
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize("key", sorted({moment.page for moment in MOMENTS}))
def test_every_link_opens_a_tile_that_is_there(key):
    view = SHELVES[key].build()
    try:
        offered = {item["name"] for item in view.tiles.items}
        assert {moment.preset for moment in MOMENTS if moment.page == key} <= offered
        assert view.answers.visible
    finally:
        view.close()


@pytest.mark.parametrize("key", sorted({moment.page for moment in MOMENTS}))
def test_a_tile_to_press_is_named_by_the_number_that_a_class_sees(key):
    view = SHELVES[key].build()
    try:
        titles = [item["title"] for item in view.tiles.items]
    finally:
        view.close()
    for step in [step for moment in MOMENTS if moment.page == key for step in moment.show]:
        for pressed in re.findall(r"Press “([^”]+)”", step):
            if pressed in titles:
                assert f"Press “{pressed}”, tile No. {titles.index(pressed) + 1}" in step


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.key)
def test_a_class_link_leaves_the_answers_out(moment):
    arguments = {
        key: [value.encode() for value in values]
        for key, values in parse_qs(urlsplit(moment.link(hidden=True)).query).items()
    }
    found = named(arguments)
    assert (found.page, found.preset, found.hide) == (moment.page, moment.preset, ("answers",))


def test_notes_are_as_their_command_writes_them():
    """python -m lab.course.write"""
    folder = ROOT / "docs/course"
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == write.pages()


def test_every_note_has_a_question_an_answer_and_a_notebook():
    for moment in MOMENTS:
        assert moment.ask.endswith("?") and len(moment.show) >= 2
        assert (ROOT / f"lab/notebooks/{moment.notebook}.ipynb").is_file()
        assert not re.search(r"[{}]", moment.answer)


def test_every_question_of_the_quiz_is_answered_by_a_moment():
    assert {question.moment for question in QUESTIONS} <= {moment.key for moment in MOMENTS}
    assert len({question.right for question in QUESTIONS}) == 3  # not always the same letter


def test_a_wrong_place_of_the_right_option_is_refused(monkeypatch):
    wrong = {"text": "Why?", "options": ["a", "b"], "right": 2, "moment": "volume"}
    monkeypatch.setattr(notes, "_read", lambda name, key: [wrong])
    with pytest.raises(ValueError, match="right is 2 in “Why\\?”; it counts options from 0"):
        notes.questions()


def test_hand_outs_have_all_of_it_and_ask_nobody(tmp_path):
    handouts.main([str(tmp_path / "handouts.html")])
    text = (tmp_path / "handouts.html").read_text()
    parser = _Addresses()
    parser.feed(text)
    assert parser.asked == [] and "<script" not in text
    assert text.count("<section>") == len(MOMENTS) + 3
    for question in QUESTIONS:
        assert question.text.split("’")[0][:20] in text


class _Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.asked += [value for key, value in attrs if key in ("src", "href") and value]


def test_without_a_browser_it_is_said_what_to_do(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="write handouts.html in place of a PDF"):
        handouts.main(["handouts.pdf"])


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, handouts.BROWSERS)), reason="no Chromium here")
def test_a_pdf_is_printed(tmp_path):
    handouts.main([str(tmp_path / "handouts.pdf")])
    printed = (tmp_path / "handouts.pdf").read_bytes()
    assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") >= len(MOMENTS) + 3
