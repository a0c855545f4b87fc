"""The constants of the random numbers, and which places lie together: shared by the plain and the compiled form."""

from __future__ import annotations

import math

ROUNDS = 7
"""The least of Philox4x32 that pass all of BigCrush (Salmon et al. 2011). With six, some bits of a word do not follow each bit of
the counter as often as not (tests/llc_core/compute/test_philox.py)."""


MULTIPLIERS = 0xD2511F53, 0xCD9E8D57


WEYL = 0x9E3779B9, 0xBB67AE85


LANE_BITS = 10


LANE = 1 << LANE_BITS


GROUP = 4 * LANE
"""Places that lie together: the four words of counter k make the numbers at k, k + LANE, k + 2·LANE and k + 3·LANE."""

SINE = -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1
COSINE = 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2
"""Of t up to an eighth of a turn, by Cephes (Moshier 1992) in single precision: ((s0·z + s1)·z + s2)·z·t + t of z = t², and
((c0·z + c1)·z + c2)·z² − z/2 + 1."""
QUARTER = math.pi / 2 / 2**30
"""A quarter of a turn has 2³⁰ steps."""
