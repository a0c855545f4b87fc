"""Warnings that are expected, kept from the user. Python's state of warnings belongs to the process, so threads take turns."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_TURN = threading.RLock()


@contextmanager
def catching_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """The warnings that this thread raises inside; they are not shown. Those of others are, as before.

    Two blocks of `warnings.catch_warnings` that overlap in two threads leave the one's state in place for good.
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
