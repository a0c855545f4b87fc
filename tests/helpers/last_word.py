"""A visitor who presses buttons and asks for changes while nothing moves by itself: runs make a step, and preparations come to their
end, only where the test says so. What the page must do is kept beside it, and compared after every deed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st
from waiting import on_screen

from app.components.transport import Transport
from app.runs.apart import only_unhurried
from app.runs.handle import RunHandle
from app.runs.job import OVER, Status
from app.runs.stepped_run import SteppedRun
from app.runs.tasks import Done, NewestJob
from app.session.live import Live
from app.session.run_state import RunState, Shown

PLAYS = {"play": True, "pause": False, "step": False, "reset": True}
"""Words of the buttons, and whether a run plays after them."""


class InlineRuns:
    """Stands for the run manager, without a thread: `turn` gives every run one step."""

    def __init__(self) -> None:
        self._runs: list[SteppedRun] = []

    def submit(self, build: Callable[[], Any], playing: bool = True, claim: Any = None) -> RunHandle:
        self._runs.append(SteppedRun(build, RunHandle(playing, lambda: None, claim)))
        return self._runs[-1].handle

    def turn(self) -> None:
        self._runs = [run for run in self._runs if not run.free()]
        for run in self._runs:
            run.serve(SimpleNamespace(submit=_done), 0.0)  # in no time there is room for one step


class Held:
    """Stands for the threads of preparations: each comes to its end when `finish` says so, in any order."""

    def __init__(self) -> None:
        self._work: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        future = Future[Any]()
        future.set_running_or_notify_cancel()  # it has begun, so that it goes on to its end even where nobody wants it
        self._work.append((future, work))
        return future

    def finish(self, place: int, refused: bool) -> None:
        if self._work:
            future, work = self._work.pop(place % len(self._work))
            if refused:
                future.set_exception(ValueError("This cannot be run."))
            else:
                future.set_result(work())

    @property
    def count(self) -> int:
        return len(self._work)


@contextmanager
def nothing_moves() -> Iterator[tuple[Held, InlineRuns]]:
    """Inside, runs and preparations of pages wait for the test."""
    held, runs = Held(), InlineRuns()
    with patch("app.session.preparation.threads", lambda: held), patch("app.session.live.manager", lambda: runs):
        yield held, runs


def _done(work: Callable[[], Any]) -> Future[Any]:
    future = Future[Any]()
    future.set_result(work())
    return future


def slow(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, as one whose answer takes long: it is there when the preparation ends."""

    def asked(*given: Any) -> Any:
        only_unhurried(True)
        return function(*given)

    return asked


def quick(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, as one whose answer is there at once, however long it takes."""

    def asked(*given: Any) -> Any:
        return Context().run(function, *given)  # in which nobody is in a hurry

    return asked


class Count(NewestJob):
    """A run that only counts its steps."""

    def __init__(self, total: int) -> None:
        self._steps, self._total = 0, total

    @property
    def finished(self) -> bool:
        return self._steps >= self._total

    def advance(self, steps: int) -> Done:
        self._steps += steps
        return Done(self._steps)


class BarePage:
    """What every page has of a run, and nothing else. number: of the change whose run is shown."""

    TOTAL = 40

    def __init__(self) -> None:
        self.number, self.faults = 0, 0
        self.transport = Transport()
        self._live = Live(lambda state, rows: None, 100, self.transport, lambda: self._start(self.number))
        self._start(0)

    def ask(self, number: int, quick: bool) -> None:
        self._live.change((lambda: number) if quick else slow(lambda: number), self._start, self._refuse)

    def _start(self, number: int) -> None:
        self.number = number
        self._live.start(partial(Count, self.TOTAL), 0)
        self.transport.begin(self.TOTAL, 0, self._live.playing)

    def _refuse(self, message: str) -> None:
        self.faults += 1

    def _on_command(self, word: str) -> None:
        self._live.command(word)

    def close(self) -> None:
        self._live.close()


class Visitor:
    """ask: has the page make change number n, quick or not.  number: of the change whose run the page shows."""

    def __init__(
        self, view: Any, held: Held, runs: InlineRuns, ask: Callable[[int, bool], Any], number: Callable[[], int]
    ):
        self.view, self._held, self._runs, self._ask, self._number = view, held, runs, ask, number
        self.shown, self.newest = number(), number()
        self.plays = True
        """Whether the run on the screen is to play."""
        self.then: bool | None = None
        """The same of the one that is prepared; None where none is."""
        self.order: list[int] = []
        """Numbers of the changes that are being prepared, also those that nobody wants any more."""
        self.gone = False
        self.owed = 0
        """Presses of Step since the last other word on the run that is prepared."""

    # -- deeds --------------------------------------------------------------------------------------------------------

    def press(self, word: str) -> None:
        over = self._over
        self.view._on_command(word)
        if self.gone:
            return
        waits = self.then is not None
        if waits:
            self.then = PLAYS[word]
            self.owed = self.owed + 1 if word == "step" else 0
        if word == "reset" or not over or (word != "pause" and not waits):
            self.plays = PLAYS[word]

    def change(self, quick: bool) -> None:
        self.newest += 1
        self._ask(self.newest, quick)
        if self.gone:
            return
        self.owed = 0
        if quick:
            self.shown, self.plays, self.then = self.newest, True, None
        else:
            self.then = True
            self.order.append(self.newest)

    def stay(self) -> None:
        """What was changed is changed back."""
        self.view._live.stay()
        self.then, self.owed = None, 0

    def finish(self, place: int, refused: bool) -> None:
        """One of the preparations ends. Only that of the newest change is heard."""
        if not self._held.count:
            return
        number = self.order.pop(place % len(self.order))
        self._held.finish(place, refused)
        self.view._live.preparation.poll()
        if self.gone or number != self.newest or self.then is None:
            return
        if not refused:
            self.shown, self.plays = number, self.then
        self.then = None
        if not refused and self.owed:
            self._check_steps()

    def wait(self, turns: int) -> None:
        """Time passes: runs are stepped, and the page looks at its run."""
        for _ in range(turns):
            self._runs.turn()
            if not self.gone:
                self.view._live._poll()

    def away(self, turns: int) -> None:
        """The connection is lost for a moment."""
        with patch.object(self.view._live, "_watched", lambda: False):
            self.wait(turns)

    def leave(self) -> None:
        if not self.gone:
            self.view.close()
        self.gone = True

    # -- what must be so ----------------------------------------------------------------------------------------------

    @property
    def _over(self) -> bool:
        return self.view._live.over

    def check(self) -> None:
        run = self.view._live.run
        if self.gone:
            assert run.state.status in OVER, "its run is ended"
            assert self._number() == self.shown
            return
        assert self._number() == self.shown, "the run of the newest change that could be run"
        wanted = self.then if self.then is not None else self.plays and not self._over
        assert self.view.transport.playing == wanted, "the buttons show what was asked for last"

    def check_run(self) -> None:
        """The run on the screen does what it was told: it moves, or rests once it has done the steps that were asked for."""
        if self.gone or self._over:
            return
        live = self.view._live
        if not self.plays:
            while live.run.wants_steps:
                self.wait(1)
        self.wait(2)  # it is built
        before = live.run.state.steps
        self.wait(3)
        if self.plays:
            assert self._over or live.run.state.steps > before, "it plays"
        else:
            assert live.run.state.steps == before and live.run.state.status is not Status.RUNNING, "it rests"

    def _check_steps(self) -> None:
        """As many as the presses of Step ask for, and not one more."""
        run, stride = self.view._live.run, self.view.transport.stride
        assert not self._over
        while run.wants_steps:
            self.wait(1)
        assert run.state.steps == self.owed * stride and not self.view.transport.playing


WORDS = st.sampled_from(sorted(PLAYS)).map(lambda word: ("press", word))
CHANGES = st.sampled_from([("change", False), ("change", False), ("change", True), ("stay",)])
ENDS = st.tuples(st.just("finish"), st.integers(0, 2), st.booleans())
WAITS = st.tuples(st.just("wait"), st.integers(1, 4))
AWAY = st.tuples(st.just("away"), st.integers(1, 4))
DEEDS = st.one_of(WORDS, WORDS, CHANGES, ENDS, WAITS, AWAY)
"""Names of methods of `Visitor`, with what they are given."""
DEEDS_AND_LEAVING = st.one_of(DEEDS, DEEDS, st.sampled_from([("wait", 60), ("leave",)]))


def go_through(visitor: Visitor, deeds: Sequence[tuple[Any, ...]]) -> None:
    """Do one after the other; AssertionError where the page does not do what was asked for last."""
    visitor.check()
    for name, *given in deeds:
        getattr(visitor, name)(*given)
        visitor.check()
    visitor.check_run()
    for _ in range(len(visitor.order)):  # whatever still comes
        visitor.finish(0, False)
        visitor.check()
    visitor.check_run()
    visitor.check()


def bare_visitor(held: Held, runs: InlineRuns) -> Visitor:
    page = BarePage()
    on_screen(page)
    return Visitor(page, held, runs, page.ask, lambda: page.number)


def plays_anyway(state: RunState, request: int) -> RunState:
    """As it was: a run that had been prepared played, whatever had been said meanwhile."""
    return replace(state, shown=Shown.RUNNING, then=None) if state.preparing and request == state.request else state
