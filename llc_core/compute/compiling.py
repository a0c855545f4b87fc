"""numba's compiler, made safe for threads that compile at once.

numba times every compilation by counting starts and ends, and the counts of two threads can mix. A timer may then end that
never began, and the compilation fails: AttributeError, no attribute '_ts' (github.com/numba/numba/issues/10564).
With a time to count from, the worst is a wrong duration, which nobody here reads.

Holds for numba 0.68.1.  Upstream: https://github.com/numba/numba/issues/10564
Gains: pages and tests whose threads compile at once no longer fail now and then.
"""

from __future__ import annotations

from typing import Any


def compiled(**options: Any) -> Any:
    """`numba.njit` with these options: the decorator of every kernel. Raises ImportError where numba is missing."""
    from numba import njit
    from numba.core.event import TimingListener

    if not hasattr(TimingListener, "_ts"):
        TimingListener._ts = 0.0
    return njit(**options)
