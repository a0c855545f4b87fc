"""Which matrix library a CPU uses: numpy's or torch's.

torch brings MKL, numpy OpenBLAS. On AMD processors OpenBLAS is the faster one for the matrices of a chain (measured, one
thread, GFLOP/s: 93 against 74 at 100×100, 89 against 75 at 400×400), on Intel ones MKL. The choice depends on the
processor and not on a measured time, so that the same machine gives the same numbers. LLC_LAB_BLAS=torch or numpy
overrides it; auto is the default.
"""

from __future__ import annotations

import os
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from llc_core.compute.cores import worker_threads
from llc_core.fields import of_environment

VARIABLE = "LLC_LAB_BLAS"
CHOICES = ("auto", "numpy", "torch")

_LOCK = threading.Lock()
_USERS = 0
_THREADS_BEFORE = 1


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
    """Whether numpy multiplies the matrices of a chain on this machine."""
    wish = of_environment(VARIABLE, CHOICES)
    if wish != "auto":
        return wish == "numpy" and openblas() is not None
    try:
        amd = "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return amd and openblas() is not None


class SingleThreaded:
    """Inside, OpenBLAS uses one thread, because the chains are spread over the cores. Afterwards it uses as many as before. May be nested.

    A class and no generator, because a step of a small network is too short for one.
    """

    def __enter__(self) -> None:
        global _USERS, _THREADS_BEFORE
        library = openblas()
        if library is None:
            return
        with _LOCK:
            _USERS += 1
            if _USERS == 1:
                _THREADS_BEFORE = library.get_num_threads()
                if _THREADS_BEFORE != 1:
                    library.set_num_threads(1)

    def __exit__(self, *error: object) -> None:
        global _USERS
        library = openblas()
        if library is None:
            return
        with _LOCK:
            _USERS -= 1
            if _USERS == 0 and _THREADS_BEFORE != 1:
                library.set_num_threads(_THREADS_BEFORE)


_SINGLE = SingleThreaded()


def single_threaded() -> SingleThreaded:
    """The one that all share: it keeps nothing of its own."""
    return _SINGLE


def _after_fork() -> None:
    """A child process has none of its parent's threads."""
    global _LOCK, _USERS
    _LOCK, _USERS = threading.Lock(), 0
    worker_threads.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
