"""What was asked for last is shown: at once, or when a thread has prepared it."""

from __future__ import annotations

from typing import Any

import pytest
from waiting import PATIENCE_SECONDS, Gate

from app.runs.apart import only_unhurried
from app.session.preparation import DOING, Preparation


def number(value: float, long: bool = True) -> float:
    only_unhurried(long)
    if value < 0:
        raise ValueError("value is below 0; use a larger one.")
    return 1 / value


class Page:
    """`shown` and `said` are what a page would show."""

    def __init__(self) -> None:
        self.preparation = Preparation()
        self.shown: list[float] = []
        self.said: list[str] = []

    def ask(self, wanted: Any) -> str:
        return self.preparation.have(wanted, self.shown.append, self.said.append)

    def settle(self) -> None:
        future = self.preparation._future
        assert future is not None
        future.exception(timeout=PATIENCE_SECONDS)
        self.preparation.poll()


def test_what_is_quick_is_there_at_once():
    page = Page()
    assert page.ask(lambda: number(2, long=False)) == "" and page.shown == [0.5]
    with pytest.raises(ValueError, match="use a larger one"):
        page.ask(lambda: number(-1, long=False))
    assert page.shown == [0.5] and not page.preparation.busy and not page.preparation.view.visible


def test_what_takes_long_comes_later_and_the_page_says_so():
    page, gate = Page(), Gate()
    held = gate.before(number)
    assert page.ask(lambda: _long(held, 4)) == DOING
    page.preparation.poll()
    assert not page.shown and page.preparation.view.visible and "Preparing" in page.preparation.view.object
    gate.open()
    page.settle()
    assert page.shown == [0.25] and not page.preparation.view.visible and not page.preparation.busy


def test_what_takes_long_may_say_what_it_does_or_nothing():
    page = Page()
    for doing, said in (("Reading “a < b” …", "Reading “a &lt; b” …"), ("", ""), (None, "Preparing")):
        asked = page.ask(lambda doing=doing: only_unhurried(True, doing))
        assert asked == (DOING if doing is None else doing) and page.preparation.busy
        assert said in page.preparation.view.object and page.preparation.view.visible is bool(said)
        page.settle()
        assert not page.preparation.view.visible


def test_the_latest_wins():
    page, gate = Page(), Gate()
    held = gate.before(number)
    page.ask(lambda: _long(held, 4))
    first = page.preparation._future
    assert gate.begun.wait(PATIENCE_SECONDS)
    page.ask(lambda: number(2, long=False))
    gate.open()
    assert first is not None and first.result(PATIENCE_SECONDS) == 0.25
    page.preparation.poll()
    assert page.shown == [0.5], "the first one came after the second had been asked for"
    page.ask(lambda: number(5))
    page.ask(lambda: number(10))
    page.settle()
    assert page.shown == [0.5, 0.1]


def test_errors_of_the_thread_are_one_sentence():
    page = Page()
    page.ask(lambda: number(-1))
    page.settle()
    page.ask(lambda: number(0))
    page.settle()
    assert page.said == [
        "value is below 0; use a larger one.",
        "What you asked for could not be prepared (ZeroDivisionError).",
    ]
    assert not page.shown and not page.preparation.view.visible


def test_a_page_that_closes_takes_nothing_any_more():
    page, gate = Page(), Gate()
    held = gate.before(number)
    page.ask(lambda: _long(held, 4))
    page.preparation.close()
    gate.open()
    page.preparation.poll()
    assert not page.shown and not page.said


def _long(held: Any, value: float) -> float:
    only_unhurried(True)
    return held(value, long=False)
