"""How much memory is free, and how much of it one thing may take."""

from __future__ import annotations

import contextlib
import os

from llc_core.fields import whole

LARGEST_SHARE = 8
"""One thing may take at most one part in so many of the memory that is free: there are copies of it for a while, and others need theirs."""
UNKNOWN = 4 * 2**30
"""Bytes where the system does not say."""
GROUP = "/sys/fs/cgroup/"


def free_memory() -> int:
    """Bytes that this process may still take: the machine's, or its container's where these are fewer.

    What the system keeps of files counts as free.
    """
    found = UNKNOWN
    with contextlib.suppress(ValueError, OSError, AttributeError):
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    with contextlib.suppress(ValueError, OSError, StopIteration), open("/proc/meminfo", encoding="ascii") as file:
        found = 1024 * int(next(line for line in file if line.startswith("MemAvailable")).split()[1])
    # Where there is no container there are no such files; one without a limit says "max".
    with contextlib.suppress(ValueError, OSError):
        found = min(found, max(0, _number("memory.max") - _number("memory.current") + _files()))
    return found


def may_take(memory: int | None = None) -> int:
    """Bytes that one thing may take.  memory: what the user says of it; None: a share of what is free."""
    return free_memory() // LARGEST_SHARE if memory is None else whole("memory", memory, 0)


def _number(name: str) -> int:
    with open(GROUP + name, encoding="ascii") as file:
        return int(file.read())


def _files() -> int:
    with open(GROUP + "memory.stat", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("inactive_file "))
