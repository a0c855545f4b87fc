"""The constants of the random numbers, and which places lie together: shared by the plain and the compiled form."""

from __future__ import annotations

ROUNDS = 10


MULTIPLIERS = 0xD2511F53, 0xCD9E8D57


WEYL = 0x9E3779B9, 0xBB67AE85


LANE_BITS = 10


LANE = 1 << LANE_BITS


GROUP = 4 * LANE
"""Places that lie together: the four words of counter k make the numbers at k, k + LANE, k + 2·LANE and k + 3·LANE."""
