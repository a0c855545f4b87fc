"""What a visitor asked for last: there at once where that is quick, else prepared in a thread while the page goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from app.runs.apart import TakesLong, hurried, threads
from app.style import theme
from app.style.layout import prose

T = TypeVar("T")

log = logging.getLogger(__name__)

DOING = "Preparing what you asked for. Until it is there, the page shows what it showed before."


class Preparation:
    """Used in the session's own callbacks only; `poll` is called at every tick. view: says that something is prepared."""

    def __init__(self) -> None:
        self.view = prose(theme.LESSON, margin=(6, 2, 0, 2), visible=False)
        self._future: Future[Any] | None = None
        self._take: Callable[[Any], object] = lambda found: None
        self._fail: Callable[[str], object] = lambda message: None

    def ask(self, wanted: Callable[[], T], take: Callable[[T], object], fail: Callable[[str], object]) -> str:
        """Hand what `wanted` returns to `take`, now or from a later `poll`. What was asked for before is forgotten.

        Now, ValueErrors of both go to the caller; later their sentence goes to `fail`. Returns what the visitor should know:
        a sentence where it comes later, else nothing.
        """
        self.forget()
        try:
            with hurried():
                found = wanted()
        except TakesLong as long:
            assert long.whole is not None, "a function of plain values has to say that it can be done in a thread"
            self._take, self._fail = take, fail
            self._future = threads().submit(long.whole)
            self._say(DOING)
            return DOING
        take(found)
        return ""

    @property
    def busy(self) -> bool:
        return self._future is not None

    def poll(self) -> None:
        """Take what is ready."""
        if self._future is None or not self._future.done():
            return
        future, take, fail = self._future, self._take, self._fail
        self.forget()
        error = future.exception()
        if error is not None and not isinstance(error, ValueError):
            log.error("What a visitor asked for could not be prepared.", exc_info=error)
            fail(f"What you asked for could not be prepared ({type(error).__name__}: {error}).")
            return
        try:
            take(future.result())
        except ValueError as wrong:
            fail(str(wrong))

    def forget(self) -> None:
        """What is being prepared is not wanted any more. A thread that has begun goes on to its end, for nobody."""
        if self._future is not None:
            self._future.cancel()
            self._say("")
        self._future = None
        self._take, self._fail = lambda found: None, lambda message: None

    def close(self) -> None:
        """As `forget`, and touches nothing on the screen: it may be gone."""
        if self._future is not None:
            self._future.cancel()
        self._future = None

    def _say(self, text: str) -> None:
        self.view.param.update(object=f'<p role="status">{text}</p>' if text else "", visible=bool(text))
