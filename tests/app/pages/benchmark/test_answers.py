"""With the answers hidden the page sends no result, and its tour waits for Reveal before it tells one."""

from __future__ import annotations

import json
from html import escape
from types import SimpleNamespace
from typing import Any

import pytest
from bokeh.document import Document

from app.pages.benchmark.page import Benchmark
from app.pages.benchmark.presets import PRESETS
from app.pages.benchmark.texts import TASK, of_guess
from app.pages.benchmark.tour import TOUR
from app.window import touring
from app.window.touring import HIDDEN, Touring


@pytest.fixture
def view():
    made = Benchmark()
    yield made
    made.close()


def sent(view: Benchmark) -> str:
    """Everything that a browser is given of the page, as text."""
    document = Document()
    for part in [*view.sidebar, *view.main]:
        document.add_root(part.get_root(document))
    return json.dumps(document.to_json(), default=str, ensure_ascii=False)


def answers_of(view: Benchmark) -> list[str]:
    """What tells how the samplers did: verdict, table, charts, numbers, lessons, tips and pictures."""
    results = view.results
    point = results.charts.data["charts"][0]["lines"][0]["points"][0]
    return [
        results.verdict.object,
        results._table.object,
        point[-1].splitlines()[1],
        results._values["close"],
        results._values["diverged"],
        view._lesson,
        *(item["picture"] for item in view._items),
        *(preset.lesson for preset in PRESETS),
    ]


def found(hidden: list[str], text: str) -> list[str]:
    """Those of the pieces that are in a text as it is sent: as JSON, HTML escaped once more."""
    written = [(piece, json.dumps(piece, ensure_ascii=False)[1:-1], escape(piece)) for piece in hidden]
    return [ways[0] for ways in written if any(way in text for way in ways)]


@pytest.mark.slow
def test_what_is_hidden_is_not_sent_and_comes_back(view):
    hidden = answers_of(view)
    assert found(hidden, sent(view)) == hidden
    view.answers.visible = False
    withheld = sent(view)
    assert found(hidden, withheld) == []
    assert TASK in withheld and view.reveal.visible
    view.tiles.listener("control")  # what is shown later is withheld too
    assert found(answers_of(view), sent(view)) == []
    for item in view.takeaway.menu.files:
        kept = item["key"] in ("table", "series", "rows")
        if kept:
            with pytest.raises(ValueError, match="hidden"):
                view.takeaway.content(item["key"])
        else:
            assert view.takeaway.content(item["key"])[1]
    view.reveal._handle_msg({"guess": ""})
    assert view.answers.visible and view.reveal.revealed
    assert found(answers_of(view), sent(view)) == answers_of(view)


def test_a_guess_is_compared_once_the_answers_are_revealed(view):
    view.answers.visible = False
    names = [choice["key"] for choice in view.reveal.choices]
    assert len(names) == len(set(names)) > 3 and not view.reveal.said
    best = min((row for row in view.results.table if row.usable), key=lambda row: row.size)
    view.reveal._handle_msg({"guess": best.sampler})
    assert view.reveal.said.endswith("You guessed right.") and f"{best.size:.1%}" in view.reveal.said
    view.reveal._handle_msg({"guess": best.sampler})
    assert not view.answers.visible and not view.reveal.said, "for the next question"
    other = max(view.results.table, key=lambda row: row.size)
    view.reveal._handle_msg({"guess": other.sampler})
    assert f"is number {len(names)} of {len(names)}" in view.reveal.said
    view.reveal._handle_msg({"guess": ""})
    view.reveal._handle_msg({"guess": "<b>nobody</b>"})
    assert view.reveal.said == of_guess(view.results.table, "") and "guess" not in view.reveal.said
    assert of_guess([], "SGLD") == ""


@pytest.fixture
def guide(view, monkeypatch):
    looks = SimpleNamespace(running=True, stop=lambda: setattr(looks, "running", False))
    monkeypatch.setattr(touring, "every", lambda period, call: looks)
    made = Touring()
    made.turn_to(view, TOUR)
    return made


def answered(guide: Touring, option: int) -> dict[str, Any]:
    guide.bar._handle_msg({"tour": "answer", "option": option})
    guide.look()
    return guide.bar.step


def test_the_tour_tells_what_the_store_has(view, guide):
    guide.bar._handle_msg({"tour": "start"})
    step = answered(guide, 2)
    assert step["state"] == "answered" and step["said"].startswith(
        "As you expected. The least root mean square error of all is "
    )
    before = min(row.size for row in view.results.table)
    for option in (2, 2, 2, 0):
        guide.bar._handle_msg({"tour": "next"})
        step = answered(guide, option)
        assert step["state"] == "answered" and step["said"].startswith("As you expected. "), step
    assert view.config.hidden == ("HMC", "UnderdampedLangevin") and view.config.truth == "local"
    assert before > 1 > min(row.size for row in view.results.table)


def test_the_tour_keeps_hidden_results_until_they_are_revealed(view, guide):
    view.answers.visible = False
    guide.bar._handle_msg({"tour": "start"})
    assert answered(guide, 0)["said"] == HIDDEN
    view.answers.visible = True
    guide.look()
    assert guide.bar.step["state"] == "answered"
