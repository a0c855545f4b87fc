"""A server whose every callback comes late, as on a machine that does much else: tests must wait for what their own deed brings about.

`LLC_LAB_TESTS_LATE=0.5 pytest tests/browser` has all servers of the browser's tests answer half a second late: what the browser says is
heard so much later, in its order and without holding up what comes after it, and so are callbacks of the next tick, timeouts and the
first call of everything that is repeated. `closed_pages.py`, which those servers are set up with, calls `come_late`.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from bokeh.server.views.ws import WSHandler
from bokeh.util.tornado import _AsyncPeriodic, _CallbackGroup

VARIABLE = "LLC_LAB_TESTS_LATE"
"""Seconds; 0 or nothing: in time."""


def come_late(seconds: float | None = None) -> None:
    """For the whole process, before it serves. seconds: those of the environment unless given."""
    late = float(os.environ.get(VARIABLE) or 0) if seconds is None else seconds
    if late > 0:
        _hear_late(late)
        _call_late(late)


def _hear_late(late: float) -> None:
    on_message = WSHandler.on_message

    def hear(self: WSHandler, fragment: str | bytes) -> None:
        loop = asyncio.get_running_loop()
        due, before = loop.time() + late, getattr(self, "_late", None)

        async def later() -> None:
            if before is not None:
                await before
            await asyncio.sleep(due - loop.time())
            if self.ws_connection is not None:  # else the visitor has left
                await on_message(self, fragment)

        self._late = asyncio.ensure_future(later())

    WSHandler.on_message = hear


class _Late:
    """An event loop for callbacks. It calls them later than it is asked to."""

    def __init__(self, loop: Any, late: float):
        self._loop, self._by = loop, late

    def add_callback(self, callback: Any, *given: Any) -> None:
        # Another thread may ask, and may set no timer.
        self._loop.add_callback(self._loop.call_later, self._by, callback, *given)

    def call_later(self, delay: float, callback: Any, *given: Any) -> Any:
        return self._loop.call_later(delay + self._by, callback, *given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


def _call_late(late: float) -> None:
    init, start = _CallbackGroup.__init__, _AsyncPeriodic.start

    def late_group(self: Any, io_loop: Any) -> None:
        init(self, _Late(io_loop, late))

    def late_start(self: Any) -> None:
        """Repeated calls keep their time between two: only the first waits."""
        self._loop = self._loop._loop if isinstance(self._loop, _Late) else self._loop
        self._loop.call_later(late, lambda: None if self._stopped else start(self))

    _CallbackGroup.__init__ = late_group
    _AsyncPeriodic.start = late_start
