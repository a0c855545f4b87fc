"""Work of seconds for a page, in a thread: the page goes on showing what it showed, and of several requests the last one counts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import panel as pn

from app.session.errors import report

THREADS = 2
"""For all visitors: what is done here takes memory too."""


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="reads")


class LatestWork:
    """Used in the session's own callbacks only. on_change: called when work begins and when none is left.

    threads: where it is done.
    """

    broken = "Something went wrong"
    """Opens the sentence on an error that is no ValueError."""

    def __init__(
        self, on_change: Callable[[], None] = lambda: None, threads: Callable[[], Executor] = _threads
    ) -> None:
        self._on_change, self._threads = on_change, threads
        self._future: Future[Any] | None = None
        self._take: Callable[[Any], object] = lambda answer: None
        self._fail: Callable[[str], object] = lambda message: None

    @property
    def busy(self) -> bool:
        return self._future is not None

    def ask(self, work: Callable[[], Any], take: Callable[[Any], object], fail: Callable[[str], object]) -> object:
        """Begin; earlier work that is not done yet is forgotten. take: gets the answer.  fail: gets a sentence, of a ValueError
        of either.
        """
        self.forget()
        self._take, self._fail = take, fail
        self._future = self._threads().submit(work)
        document = pn.state.curdoc
        if document is not None:
            # The only thing of a document that another thread may touch. One that is gone refuses, and nobody waits for it.
            self._future.add_done_callback(lambda _: document.add_next_tick_callback(self.poll))
        self._on_change()

    def poll(self) -> None:
        """Hand over what is done; in the session's own callbacks."""
        future, take, fail = self._future, self._take, self._fail
        if future is None or not future.done():
            return
        self._future = None
        with pn.io.hold():
            self._on_change()
            try:
                take(future.result())
            except ValueError as error:
                fail(str(error))
            except Exception as error:
                fail(f"{self.broken} ({type(error).__name__}).")
                report(error)

    def forget(self) -> None:
        """What was asked for does not count any more. A thread that has begun goes on to its end, for nobody."""
        if self._future is not None:
            self._future.cancel()
            self._future = None
            self._on_change()
