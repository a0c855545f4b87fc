"""Work of seconds for a page, in a thread: the page goes on showing what it showed, and of several requests the last one counts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import panel as pn

from app.runs.apart import threads
from app.session.errors import report


class LatestWork:
    """Used in the session's own callbacks only. on_change: called when work begins and when none is left."""

    broken = "Something went wrong"
    """Opens the sentence on an error that is no ValueError."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._future: Future[Any] | None = None
        self._question: Any = None
        self._waiting: Callable[[], Any] | None = None
        self._take: Callable[[Any], object] = lambda answer: None
        self._fail: Callable[[str], object] = lambda message: None

    @property
    def busy(self) -> bool:
        return self._future is not None or self._waiting is not None

    def ask(
        self,
        work: Callable[[], Any],
        take: Callable[[Any], object],
        fail: Callable[[str], object],
        question: Any = None,
        at_once: bool = True,
    ) -> bool:
        """Begin; earlier work that is not done yet is forgotten. Returns whether it has begun.

        take: gets the answer.  fail: gets a sentence, of a ValueError of either.
        question: what the work answers; where it is the one that was asked last, the work is not done again, unless it failed.
        at_once: else it begins at the first `poll`, so that what is more urgent goes first.
        """
        if question is not None and question == self._question:
            return False
        self.forget()
        self._take, self._fail, self._question = take, fail, question
        self._waiting = work
        if at_once:
            self._begin()
        self._on_change()
        return True

    def _begin(self) -> None:
        if self._waiting is None:
            return
        self._future, self._waiting = self.begun(self._waiting), None
        document = pn.state.curdoc
        if document is not None:
            # The only thing of a document that another thread may touch. One that is gone refuses, and nobody waits for it.
            self._future.add_done_callback(lambda _: document.add_next_tick_callback(self.poll))

    def begun(self, work: Callable[[], Any]) -> Future[Any]:
        return threads().submit(work)

    def poll(self) -> None:
        """Hand over what is done; in the session's own callbacks."""
        self._begin()
        future, take, fail = self._future, self._take, self._fail
        if future is None or not future.done():
            return
        self._future = None
        with pn.io.hold():
            self._on_change()
            try:
                take(future.result())
            except ValueError as error:
                self._question = None
                fail(str(error))
            except Exception as error:
                self._question = None
                fail(f"{self.broken} ({type(error).__name__}).")
                report(error)

    def forget(self) -> None:
        """What was asked for does not count any more. A thread that has begun goes on to its end, for nobody."""
        busy, self._question, self._waiting = self.busy, None, None
        if self._future is not None:
            self._future.cancel()
            self._future = None
        if busy:
            self._on_change()
