"""Work that is too long for the event loop, on which all visitors' pages tick: there it is asked for, in a thread it is done.

A calculation that knows itself to be long calls `only_unhurried`. On the event loop, inside `hurried`, this raises `TakesLong`
before anything long has begun, and whoever asked has the same function called by a thread. Anywhere else nothing happens:
scripts, tests and the threads of runs wait for what they ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from app.runs.threads import set_threads

THREADS = 4
"""Long calculations of all visitors that go on at the same time; the others wait. What is done here takes memory too."""

_in_a_hurry: ContextVar[bool] = ContextVar("in_a_hurry", default=False)


class TakesLong(Exception):
    """No error: what was asked for takes long, and nothing of it has been done. doing: for the visitor, None for the usual words."""

    def __init__(self, doing: str | None = None):
        super().__init__(doing)
        self.doing = doing


@contextmanager
def hurried() -> Iterator[None]:
    """Inside, what takes long is not done but raises `TakesLong`."""
    token = _in_a_hurry.set(True)
    try:
        yield
    finally:
        _in_a_hurry.reset(token)


def only_unhurried(long: bool, doing: str | None = None) -> None:
    """To be called where long work begins. long: whether it is.  doing: as in `TakesLong`."""
    if long and _in_a_hurry.get():
        raise TakesLong(doing)


@cache
def threads() -> ThreadPoolExecutor:
    """Those of long calculations. They are not the run manager's: a run that is to begin would wait behind them."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="works", initializer=set_threads)
