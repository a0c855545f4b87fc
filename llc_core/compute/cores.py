"""Chains spread over the cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache

import torch


class PerThread(threading.local):
    """What each thread keeps for itself; a copy starts empty."""

    def __reduce__(self) -> tuple[type[PerThread], tuple[()]]:
        return PerThread, ()


@lru_cache(maxsize=1)
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="chains")


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
