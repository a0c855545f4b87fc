"""Warnings that are expected, kept from the user. Python's state of warnings belongs to the process, so threads take turns."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_TURN = threading.RLock()


@contextmanager
def caught() -> Iterator[list[warnings.WarningMessage]]:
    """The warnings raised inside; none of them is shown.

    Two blocks of `warnings.catch_warnings` that overlap in two threads miss each other's warnings, and leave the one's state in
    place for good.
    """
    with _TURN, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found
