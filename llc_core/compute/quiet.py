"""Expected warnings are collected and not shown to the user."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_TURN = threading.RLock()


@contextmanager
def catching_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collects the warnings that this thread raises inside, and does not show them. Warnings from other threads are shown as usual.

    Threads take turns, because `warnings.catch_warnings` saves and restores the state of the whole process: if two blocks
    overlapped in two threads, the state of one of them would stay for good.
    """
    mine, found = threading.get_ident(), list[warnings.WarningMessage]()
    with _TURN, warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
            if threading.get_ident() == mine:
                found.append(warnings.WarningMessage(message, category, filename, lineno, file, line))
            else:
                before(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        warnings.simplefilter("always")
        yield found
