"""`llc_core.compute.philox` as loops that LLVM turns into vector instructions. Imports numba: import it inside functions.

Every loop does one kind of work over LANE numbers in the first-level cache and calls nothing: only such loops become vector
instructions. Logarithm, sine and cosine are the single-precision polynomials of Cephes (Moshier 1992), right to 2 units in the
last place; that of the logarithm reads exponent and mantissa from the bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32, int32, uint32, uint64

from llc_core.compute.compiling import compiled
from llc_core.compute.philox_layout import COSINE, GROUP, LANE, MULTIPLIERS, QUARTER, ROUNDS, SINE, WEYL

OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}


def numba_compiled(function: Any) -> Any:
    """A function compiled by numba. Compiling takes seconds, so numba stores the result if it finds a folder for it.

    numba compiles again when this file changes, and only then. Whoever changes a constant in `philox_layout` must therefore
    change this file too.
    """
    try:
        return compiled(**OPTIONS, cache=True)(function)
    except RuntimeError:
        return compiled(**OPTIONS)(function)


M0, M1 = (np.uint64(m) for m in MULTIPLIERS)
W0, W1 = (np.uint32(w) for w in WEYL)
P0, P1, P2, P3, P4, P5, P6, P7, P8 = (
    np.float32(c)
    for c in (
        7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
    )
)  # fmt: skip
S0, S1, S2, C0, C1, C2 = (np.float32(c) for c in (*SINE, *COSINE))
ZERO, HALF, ONE, TWO = (np.float32(c) for c in (0, 0.5, 1, 2))
LOG_TWO, ROOT_TWO, UNIT = np.float32(math.log(2)), np.float32(math.sqrt(2)), np.float32(2.0**-32)
STEP = np.float32(QUARTER)


@numba_compiled
def fill_groups(out: Any, group: int, chain: int, step_low: int, step_high: int, key_low: int, key_high: int) -> None:
    """The groups from number `group` on, as many as `out` (float32) takes; the last may be cut."""
    a, b, c, d = (
        np.empty(LANE, np.uint32),
        np.empty(LANE, np.uint32),
        np.empty(LANE, np.uint32),
        np.empty(LANE, np.uint32),
    )
    whole, work = np.empty(GROUP, np.float32), np.empty(LANE, np.float32)
    for start in range(0, out.size, GROUP):
        first = uint32((group + start // GROUP) * LANE)
        _words(a, b, c, d, first, uint32(chain), uint32(step_low), uint32(step_high), uint32(key_low), uint32(key_high))
        stop = min(out.size, start + GROUP)
        to = out[start:stop] if stop - start == GROUP else whole
        _pairs(a, b, to[:LANE], to[LANE : 2 * LANE], work)
        if stop - start > 2 * LANE:
            _pairs(c, d, to[2 * LANE : 3 * LANE], to[3 * LANE :], work)
        if stop - start < GROUP:
            out[start:stop] = whole[: stop - start]


@numba_compiled
def fill_uniform_groups(
    out: Any, group: int, chain: int, step_low: int, step_high: int, key_low: int, key_high: int
) -> None:
    """As `fill_groups`, with numbers between 0 and 1, one from each word."""
    a, b, c, d = (
        np.empty(LANE, np.uint32),
        np.empty(LANE, np.uint32),
        np.empty(LANE, np.uint32),
        np.empty(LANE, np.uint32),
    )
    for start in range(0, out.size, GROUP):
        first = uint32((group + start // GROUP) * LANE)
        _words(a, b, c, d, first, uint32(chain), uint32(step_low), uint32(step_high), uint32(key_low), uint32(key_high))
        for lane in range(4):
            words = a if lane == 0 else b if lane == 1 else c if lane == 2 else d
            begin = start + lane * LANE
            for i in range(max(0, min(out.size - begin, LANE))):
                out[begin + i] = (float32(words[i]) + HALF) * UNIT


@numba_compiled
def _words(r0: Any, r1: Any, r2: Any, r3: Any, first: Any, k1: Any, k2: Any, k3: Any, key0: Any, key1: Any) -> None:
    """Philox4x32-7 of the counters (first + i, k1, k2, k3)."""
    for i in range(LANE):
        a, b, c, d = uint32(first + uint32(i)), k1, k2, k3
        x, y = key0, key1
        for _ in range(ROUNDS):
            left, right = uint64(a) * M0, uint64(c) * M1
            a, b = uint32(uint32(right >> uint64(32)) ^ b ^ x), uint32(right)
            c, d = uint32(uint32(left >> uint64(32)) ^ d ^ y), uint32(left)
            x, y = uint32(x + W0), uint32(y + W1)
        r0[i], r1[i], r2[i], r3[i] = a, b, c, d


@numba_compiled
def _pairs(u: Any, v: Any, one: Any, other: Any, work: Any) -> None:
    """√(−2·log u)·(cos, sin)(2πv) of words u and v, as fractions of 2³²; `one`, `other` also hold what is on its way."""
    bits, mantissa = one.view(np.int32), other.view(np.int32)
    for i in range(LANE):
        one[i] = (float32(u[i]) + HALF) * UNIT
    for i in range(LANE):
        mantissa[i] = (bits[i] & int32(0x7FFFFF)) | int32(0x3F800000)
        work[i] = float32((bits[i] >> int32(23)) - int32(127))
    for i in range(LANE):
        m, e = other[i], work[i]
        large = m > ROOT_TWO
        m = m * HALF if large else m
        e = e + ONE if large else e
        x = m - ONE
        z = x * x
        y = ((((((((P0 * x + P1) * x + P2) * x + P3) * x + P4) * x + P5) * x + P6) * x + P7) * x + P8) * x * z
        y = y - HALF * z + x + e * LOG_TWO
        work[i] = np.sqrt(max(-TWO * y, ZERO))
    for i in range(LANE):
        w = v[i]
        quadrant = uint32(((w + uint32(0x20000000)) >> uint32(30)) & uint32(3))
        t = float32(int32(w - uint32(quadrant << uint32(30)))) * STEP
        z = t * t
        sine = ((S0 * z + S1) * z + S2) * z * t + t
        cosine = ((C0 * z + C1) * z + C2) * z * z - HALF * z + ONE
        odd = (quadrant & uint32(1)) != uint32(0)
        x = sine if odd else cosine
        y = cosine if odd else sine
        x = -x if (quadrant == uint32(1)) or (quadrant == uint32(2)) else x
        y = -y if quadrant >= uint32(2) else y
        one[i] = work[i] * x
        other[i] = work[i] * y
