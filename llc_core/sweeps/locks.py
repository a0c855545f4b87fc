"""A lock that ends with its process, so that one sweep alone writes to a store."""

from __future__ import annotations

from typing import Any


def lock(file: Any) -> bool:
    """Lock the file; returns whether that succeeded. The system unlocks it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
