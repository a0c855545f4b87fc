"""Tours without a browser: a prediction before every change, numbers after it, and a way out at any time."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from app.pages import load_pages
from app.pages.tours import MOVES, Step, Tour, llc_moved
from app.runs.job import State, Status
from app.window import touring
from app.window.touring import HIDDEN, NO_NUMBER, OTHER, STARTING, WAITING, Touring

PAGES = {page.key: page for page in load_pages()}
TOURS = {key: page.tour for key, page in PAGES.items() if page.tour is not None}
KEYS = {
    "local-geometry": ("llc", "se", "exact", "r_hat"),
    "landscapes": ("llc", "se", "exact", "r_hat"),
    "polygons": ("llc", "se", "exact", "r_hat"),
    "your-network": ("llc", "se", "exact", "r_hat"),
    "stationary-bias": ("left", "right", "left_second", "right_second", "chance"),
    "many-modes": ("left", "right", "factor"),
    "functions": ("weights", "functions"),
    "decisions": ("left", "right", "draws", "one"),
    "benchmark": ("best", "close", "rows", "near"),
}
VALUES = (0.0123, 0.4321, 1.2345, 7.891, 23.45)


class Page:
    """Runs that end when the test says so."""

    def __init__(self) -> None:
        self.state, self.runs = State(Status.FINISHED), 1
        self.answers = SimpleNamespace(visible=True)
        self.llc, self.asked = 2.0, []
        self.tiles = SimpleNamespace(listener=self._run)

    def _run(self, what: Any) -> None:
        self.asked.append(what)
        self.state, self.runs = State(Status.RUNNING), self.runs + 1

    def configuration(self) -> dict[str, Any]:
        return {"chains": 4, "steps": 100}

    def restore(self, configuration: Any) -> str:
        self._run(configuration)
        return ""

    def ends(self, llc: float) -> None:
        self.llc, self.state = llc, State(Status.FINISHED)


def measured(page: Page) -> dict[str, float]:
    return {"llc": page.llc, "se": 0.1, "exact": 3.0}


STEPS = (
    Step("A tile.", "What?", MOVES, lambda before, now, shown: (0, f"λ̂ is {now['llc']}."), preset="tiny"),
    Step("A change.", "What?", MOVES, llc_moved, change={"steps": 500}),
    Step("An answer.", "What?", MOVES, llc_moved, preset="other", telling=True),
)


@pytest.fixture
def guide(monkeypatch):
    looks = SimpleNamespace(running=True, stop=lambda: setattr(looks, "running", False))
    monkeypatch.setattr(touring, "every", lambda period, call: looks)
    page, made = Page(), Touring()
    made.turn_to(page, Tour(STEPS, measured))
    return page, made


def says(made: Touring) -> tuple[str, str]:
    return made.bar.step["state"], made.bar.step["said"]


def test_a_tour_asks_first_then_changes_then_tells(guide):
    page, made = guide
    assert made.bar.offered and not made.bar.step
    made.bar._handle_msg({"tour": "start"})
    assert says(made) == ("ask", "") and not page.asked, "nothing changes before the prediction"
    made.bar._handle_msg({"tour": "next"})
    assert made.bar.step["place"] == "1 of 3"
    made.bar._handle_msg({"tour": "answer", "option": 2})
    assert says(made) == ("wait", WAITING) and page.asked == ["tiny"]
    made.look()
    assert says(made)[0] == "wait"
    page.ends(2.5)
    made.look()
    assert says(made) == ("answered", "You expected “It falls”; it was “It rises”. λ̂ is 2.5.")
    made.bar._handle_msg({"tour": "next"})
    made.bar._handle_msg({"tour": "answer", "option": 1})
    assert page.asked[-1] == {"chains": 4, "steps": 500}
    page.ends(2.6)
    made.look()
    assert says(made)[1].startswith("As you expected. λ̂ was 2.50 ± 0.10 and is 2.60 ± 0.10 (no further")
    assert made.bar.step["last"] is False
    page.answers.visible = False
    made.bar._handle_msg({"tour": "next"})
    assert made.bar.step["last"] is True
    made.bar._handle_msg({"tour": "answer", "option": 0})
    page.ends(4.0)
    made.look()
    assert says(made) == ("wait", HIDDEN)
    page.answers.visible = True
    made.look()
    assert says(made)[0] == "answered" and "exact at this n: 3" in says(made)[1]
    made.bar._handle_msg({"tour": "leave"})
    assert made.bar.step == {} and made._looking is None


def test_it_waits_for_the_run_before_and_sees_runs_of_others(guide):
    page, made = guide
    made.bar._handle_msg({"tour": "start"})
    made._ask(1)
    page.state = State(Status.RUNNING)
    made.bar._handle_msg({"tour": "answer", "option": 0})
    assert says(made) == ("wait", STARTING) and not page.asked
    page.ends(1.0)
    made.look()
    assert page.asked
    page._run("the visitor's own")
    made.look()
    assert says(made) == ("answered", OTHER)
    made._ask(1)
    page.ends(math.nan)
    made.bar._handle_msg({"tour": "answer", "option": 0})
    page.ends(1.0)
    made.look()
    assert says(made) == ("answered", NO_NUMBER)


def test_what_cannot_be_run_is_said_and_another_page_ends_the_tour(guide):
    page, made = guide

    def refuse(configuration: Any) -> str:
        raise ValueError("There is no room.")

    page.restore = refuse
    made.bar._handle_msg({"tour": "start"})
    made._ask(1)
    made.bar._handle_msg({"tour": "answer", "option": 0})
    assert says(made) == ("answered", "This cannot be done now: There is no room.")
    made.turn_to(page, None)
    assert not made.bar.offered and made.bar.step == {}
    for message in (
        {"tour": "start"},
        {"tour": "answer", "option": 99},
        {"tour": 3},
        "x",
        {"tour": "answer", "option": "a"},
    ):
        made.bar._handle_msg(message)
    assert made.bar.step == {}


@pytest.mark.parametrize("key", TOURS)
def test_the_steps_of_every_page(key):
    tour = TOURS[key]
    names = {item["name"] for item in _tiles(key)}
    assert 4 <= len(tour.steps) <= 5
    for step in tour.steps:
        assert bool(step.preset) != bool(step.change) and (not step.preset or step.preset in names)
        assert (
            2 <= len(step.options) <= 3
            and step.question.startswith("What do you expect")
            and step.question.endswith("?")
        )
        for first in VALUES:
            for second in VALUES:
                before, now = (
                    {name: value * (1 + place / 3) for place, name in enumerate(KEYS[key])} for value in (first, second)
                )
                came, words = step.outcome(before, now, True)
                assert 0 <= came < len(step.options) and words.endswith((".", ").")), words
                if "exact" in now:
                    assert "exact" not in step.outcome(before, now, False)[1]


def _tiles(key: str) -> list[Any]:
    from importlib import import_module

    presets = import_module(f"app.pages.{key.replace('-', '_')}.presets").PRESETS
    return [{"name": each.name} for each in presets]
