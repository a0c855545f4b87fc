"""How much memory is free."""

from __future__ import annotations

import contextlib
import os

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


def _number(name: str) -> int:
    with open(GROUP + name, encoding="ascii") as file:
        return int(file.read())


def _files() -> int:
    with open(GROUP + "memory.stat", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("inactive_file "))
