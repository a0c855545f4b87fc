"""Work of seconds for a page, in a thread: the page goes on showing what it showed, and of several requests the last one counts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import panel as pn

from app.session.errors import report

THREADS = 2
"""For all visitors: what is done here takes memory too."""


class LatestWork:
    """Used in the session's own callbacks only. on_change: called when work begins and when none is left."""

    def __init__(self, on_change: Callable[[], None] = lambda: None):
        self._on_change = on_change
        self._future: Future[Any] | None = None
        self._take: Callable[[Any], None] = lambda answer: None
        self._fail: Callable[[str], None] = lambda message: None

    @property
    def busy(self) -> bool:
        return self._future is not None

    def ask(self, work: Callable[[], Any], take: Callable[[Any], None], fail: Callable[[str], None]) -> None:
        """Begin; earlier work that is not done yet is forgotten. take: gets the answer.  fail: gets a sentence."""
        self.forget()
        self._take, self._fail = take, fail
        self._future = _threads().submit(work)
        document = pn.state.curdoc
        if document is not None:
            # The only thing of a document that another thread may touch. One that is gone refuses, and nobody waits for it.
            self._future.add_done_callback(lambda _: document.add_next_tick_callback(self.poll))
        self._on_change()

    def poll(self) -> None:
        """Hand over what is done; in the session's own callbacks."""
        future = self._future
        if future is None or not future.done():
            return
        self._future = None
        with pn.io.hold():
            self._on_change()
            try:
                answer = future.result()
            except ValueError as error:
                self._fail(str(error))
            except Exception as error:
                self._fail(f"Something went wrong ({type(error).__name__}).")
                report(error)
            else:
                self._take(answer)

    def forget(self) -> None:
        """What was asked for does not count any more."""
        if self._future is not None:
            self._future.cancel()
            self._future = None
            self._on_change()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="reads")
