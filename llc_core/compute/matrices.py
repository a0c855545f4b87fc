"""Which matrix library a CPU should use, and blocks of chains on its cores.

torch brings MKL, numpy OpenBLAS. On AMD processors OpenBLAS is the faster one for the matrices of a chain (measured, one
thread, GFLOP/s: 93 against 74 at 100×100, 89 against 75 at 400×400), on Intel ones MKL. The choice depends on the
machine alone and not on a stopwatch, so that the same machine gives the same numbers. LLC_LAB_BLAS=torch or numpy
overrides it (auto: as said).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from llc_core.fields import of_environment

VARIABLE = "LLC_LAB_BLAS"
CHOICES = ("auto", "numpy", "torch")

_LOCK = threading.Lock()
_USERS = 0
_THREADS_BEFORE = 1


class PerThread(threading.local):
    """What each thread keeps for itself; a copy starts empty."""

    def __reduce__(self) -> tuple[type[PerThread], tuple[()]]:
        return PerThread, ()


@lru_cache(maxsize=1)
def openblas() -> Any | None:
    """A handle on numpy's own OpenBLAS that sets its number of threads; None where numpy has another library."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    found = ThreadpoolController().select(internal_api="openblas").lib_controllers
    mine = [library for library in found if "numpy" in Path(library.filepath).parent.name]
    return mine[0] if mine else (found[0] if len(found) == 1 else None)


@lru_cache(maxsize=1)
def prefers_numpy() -> bool:
    """Whether products of a chain's matrices are left to numpy on this machine."""
    wish = of_environment(VARIABLE, CHOICES)
    if wish != "auto":
        return wish == "numpy" and openblas() is not None
    try:
        amd = "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return amd and openblas() is not None


@contextmanager
def single_threaded() -> Iterator[None]:
    """OpenBLAS on one thread inside, as before outside: chains are what is spread over the cores. May be nested."""
    global _USERS, _THREADS_BEFORE
    library = openblas()
    if library is None:
        yield
        return
    with _LOCK:
        _USERS += 1
        if _USERS == 1:
            _THREADS_BEFORE = library.get_num_threads()
            if _THREADS_BEFORE != 1:
                library.set_num_threads(1)
    try:
        yield
    finally:
        with _LOCK:
            _USERS -= 1
            if _USERS == 0 and _THREADS_BEFORE != 1:
                library.set_num_threads(_THREADS_BEFORE)


@lru_cache(maxsize=1)
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="chains")


def _after_fork() -> None:
    """A child process has none of its parent's threads."""
    global _LOCK, _USERS
    _LOCK, _USERS = threading.Lock(), 0
    _workers.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


_WISH = PerThread()


@contextmanager
def chains_on_cores() -> Iterator[None]:
    """Inside, torch's own operations have one thread and `over_chains` those that torch had.

    Operations on the parameters of a few chains are too short to be shared: on a busy machine the threads of torch's pool
    then wait for each other far longer than they work (measured at a load of 10 on 2 cores: 30 times slower than with one).
    """
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    _WISH.threads = before
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        del _WISH.threads


def _alone(work: Callable[[Sequence[int]], None], part: Sequence[int]) -> None:
    # A new thread takes all cores for its products, whatever the caller's number of threads is: every thread has its own.
    torch.set_num_threads(1)
    work(part)


def over_chains(count: int, work: Callable[[Sequence[int]], None]) -> None:
    """`work` on blocks of the chains 0 … count − 1, one block for each of torch's threads, one of them in the caller's.

    `work` must treat every chain alone: then nothing depends on the number of threads.
    """
    threads = getattr(_WISH, "threads", None) or torch.get_num_threads()
    blocks = min(threads, count)
    if blocks > 1:
        blocks = min(blocks, os.cpu_count() or 1)
    if blocks <= 1:
        work(range(count))
        return
    cuts = [count * i // blocks for i in range(blocks + 1)]
    parts = [range(a, b) for a, b in zip(cuts, cuts[1:], strict=False)]
    waiting = [_workers().submit(_alone, work, part) for part in parts[1:]]
    try:
        work(parts[0])
        for one in waiting:
            one.result()
    finally:
        # What `_alone` says in its thread is also where threads begin that are started later.
        torch.set_num_threads(torch.get_num_threads())
