"""Work that is too long for the event loop, on which all visitors' pages tick: there it is asked for, in a thread it is done.

A calculation that knows itself to be long calls `only_unhurried`. On the event loop, inside `hurried`, this raises
`TakesLong`, which carries the whole calculation for a thread. Anywhere else nothing happens: scripts, tests and the threads
of runs wait for what they ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial, wraps
from typing import Any, ParamSpec, TypeVar

from app.runs.threads import set_threads

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4
"""Long calculations of all visitors that go on at the same time; the others wait. What is done here takes memory too."""

_in_a_hurry: ContextVar[bool] = ContextVar("in_a_hurry", default=False)


class TakesLong(Exception):
    """No error: what was asked for takes long. whole: all of it, for a thread; None where nobody has said it yet."""

    def __init__(self, whole: Callable[[], Any] | None = None):
        super().__init__("This takes long.")
        self.whole = whole


@contextmanager
def hurried() -> Iterator[None]:
    """Inside, what takes long is not done but raises `TakesLong`."""
    token = _in_a_hurry.set(True)
    try:
        yield
    finally:
        _in_a_hurry.reset(token)


def only_unhurried(long: bool) -> None:
    """To be called where long work begins. long: whether it is."""
    if long and _in_a_hurry.get():
        raise TakesLong


def whole(function: Callable[P, T]) -> Callable[P, T]:
    """For a function of plain values, which may be called in a thread: a `TakesLong` from inside is one of all its work."""

    @wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TakesLong:
            raise TakesLong(partial(function, *args, **kwargs)) from None

    return asked


@cache
def threads() -> ThreadPoolExecutor:
    """Those of long calculations. They are not the run manager's: a run that is to begin would wait behind them."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="works", initializer=set_threads)
