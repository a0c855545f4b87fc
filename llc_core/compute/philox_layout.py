"""The constants of the random numbers, and which places lie together: shared by the plain and the compiled form."""

from __future__ import annotations

ROUNDS = 7
"""The least of Philox4x32 that pass all of BigCrush (Salmon et al. 2011). With six, some bits of a word do not follow each bit of
the counter as often as not (tests/llc_core/compute/test_philox.py)."""


MULTIPLIERS = 0xD2511F53, 0xCD9E8D57


WEYL = 0x9E3779B9, 0xBB67AE85


LANE_BITS = 10


LANE = 1 << LANE_BITS


GROUP = 4 * LANE
"""Places that lie together: the four words of counter k make the numbers at k, k + LANE, k + 2·LANE and k + 3·LANE."""
