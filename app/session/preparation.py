"""What a visitor asked for last: there at once where that is quick, else prepared in a thread while the page goes on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from html import escape
from typing import Any, TypeVar

from app.runs.apart import TakesLong, hurried, threads
from app.session.latest import LatestWork
from app.style import theme
from app.style.layout import prose

T = TypeVar("T")

DOING = "Preparing what you asked for. Until it is there, the page shows what it showed before."


class Preparation(LatestWork):
    """view: says that something is prepared, and `afterwards`, what it will do once it is there."""

    broken = "What you asked for could not be prepared"

    def __init__(self) -> None:
        super().__init__(self._show)
        self._closed, self._doing, self._afterwards = False, DOING, ""
        self.view = prose(theme.LESSON, margin=(6, 2, 0, 2), visible=False)

    def have(self, wanted: Callable[[], T], take: Callable[[T], object], fail: Callable[[str], object]) -> str:
        """Hand what `wanted` returns to `take`, now or from a later `poll`. What was asked for before is forgotten.

        wanted: of plain values, since a thread calls it where it takes long.
        Now, ValueErrors of both go to the caller, and what was asked for before still counts; later their sentence goes to `fail`.
        Returns what the visitor should know: a sentence where it comes later, else nothing.
        """
        try:
            with hurried():
                found = wanted()
        except TakesLong as long:
            self._doing = DOING if long.doing is None else long.doing
            self.ask(wanted, take, fail)
            return self._doing
        take(found)
        self.forget()
        return ""

    def begun(self, work: Callable[[], Any]) -> Future[Any]:
        return threads().submit(work)  # by this module's name, so that tests can hold preparations alone

    def say(self, afterwards: str) -> None:
        """What will come of it, for the visitor; empty where that goes without saying."""
        self._afterwards = afterwards
        self._show()

    def close(self) -> None:
        """As `forget`, and touches nothing on the screen: it may be gone."""
        self._closed = True
        self.forget()

    def _show(self) -> None:
        if not self._closed:
            words = f"{self._doing} {self._afterwards}".strip() if self.busy else ""
            text = f'<p role="status">{escape(words)}</p>' if words else ""
            self.view.param.update(object=text, visible=bool(text))
