"""Pages prepare in a thread what takes long: tests wait for it here, and hold it back here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

PATIENCE_SECONDS = 60
"""Nothing waits so long unless it is broken."""


def settled(view: Any) -> Any:
    """The page, with what it was preparing taken as its next tick would take it."""
    future = view.preparation._future
    if future is not None:
        future.exception(timeout=PATIENCE_SECONDS)
        view.preparation.poll()
    return view


def on_screen(view: Any) -> Any:
    """The page, as if it were on the screen of a browser, except that nothing polls it: its run begins."""
    view._live._callback = SimpleNamespace(running=False, period=0)
    view._live._appear()
    return view


class Gate:
    """Holds calls back until it is opened."""

    def __init__(self) -> None:
        self._open, self.begun = threading.Event(), threading.Event()

    def open(self) -> None:
        self._open.set()

    def before(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def held(*given: Any, **named: Any) -> Any:
            self.begun.set()
            assert self._open.wait(PATIENCE_SECONDS), "nobody has opened the gate"
            return function(*given, **named)

        return held


def eventually(condition: Callable[[], bool]) -> None:
    """For what another thread does in its own time; normally it holds at once."""
    pause, limit = threading.Event(), time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < limit, "it never held"
        pause.wait(0.005)
