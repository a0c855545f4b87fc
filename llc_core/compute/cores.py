"""The processor cores that this process may use, and chains spread over them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import lru_cache

import torch


class PerThread(threading.local):
    """What each thread keeps for itself. A copy, or an object that was pickled, starts empty."""

    def __reduce__(self) -> tuple[type[PerThread], tuple[()]]:
        return PerThread, ()


def available_cores() -> int:
    """Processor cores that this process may use; on a cluster they are often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def worker_threads() -> ThreadPoolExecutor:
    """Threads beside the caller's, one for every further core."""
    return ThreadPoolExecutor(max(1, available_cores() - 1), thread_name_prefix="chains")


_BEFORE = PerThread()
"""The number of torch's threads outside `chains_on_cores`, in a thread that is inside."""


@contextmanager
def chains_on_cores() -> Iterator[None]:
    """Inside, torch's own operations use one thread, and `over_chains` uses as many as torch had before.

    Operations on the parameters of a few chains are too short to be shared among threads. On a busy machine the threads of
    torch's pool wait for each other far longer than they work (measured at a load of 10 on 2 cores: 30 times slower than
    with one thread).
    """
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    _BEFORE.threads = before
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        del _BEFORE.threads


def _alone(work: Callable[[Sequence[int]], None], part: Sequence[int], in_inference: bool) -> None:
    # torch counts threads per thread, and a new one starts with all cores: without this it would use them all.
    torch.set_num_threads(1)
    with torch.inference_mode() if in_inference else nullcontext():
        work(part)


def over_chains(count: int, work: Callable[[Sequence[int]], None]) -> None:
    """Call `work` on blocks of the chains 0 … count − 1: one block for each of torch's threads, one of them in the caller's.

    `work` must treat every chain by itself. Then no number depends on how many threads there are.
    """
    threads = getattr(_BEFORE, "threads", None) or torch.get_num_threads()
    blocks = min(threads, count)
    if blocks > 1:
        blocks = min(blocks, available_cores())
    if blocks <= 1:
        work(range(count))
        return
    cuts = [count * i // blocks for i in range(blocks + 1)]
    parts = [range(a, b) for a, b in zip(cuts, cuts[1:], strict=False)]
    waiting = [worker_threads().submit(_alone, work, part, torch.is_inference_mode_enabled()) for part in parts[1:]]
    try:
        work(parts[0])
        for one in waiting:
            one.result()
    finally:
        # `_alone` also changes the number with which later threads start; this restores it.
        torch.set_num_threads(torch.get_num_threads())
