"""`llc_core.compute.philox` as one kernel of a GPU, which makes all four numbers of a counter. Imports triton: import it inside functions.

torch's compiler gives every place all rounds of its own counter, four times the work. Here a program serves one group of one
chain: LANE counters, whose four words make the numbers of GROUP places. The numbers are those of `philox.normals`, up to the
rounding of logarithm and cosine in single precision. Sine and cosine come from one reduced angle by the polynomials of
`philox_kernel`: a cosine of triton is prepared for any angle, with branches and tables in memory.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from llc_core.compute.philox_layout import COSINE, GROUP, LANE, QUARTER, ROUNDS, SINE

S0, S1, S2, C0, C1, C2 = (tl.constexpr(c) for c in (*SINE, *COSINE))
STEP = tl.constexpr(QUARTER)
UNIT = tl.constexpr(2.0**-32)
WARPS = 8


def fill_normals(out: Tensor, seed: int, step: Tensor) -> Tensor:
    """Standard normals of a step, written to `out` [fields, C, D], contiguous and float32, on a GPU.

    seed: 64 bits.  step: whole number, an int64 tensor without dimensions on the same device, read when the kernel runs.
    """
    fields, chains, dim = out.shape
    low, high = (seed & 0xFFFFFFFF), (seed >> 32) & 0xFFFFFFFF
    with torch.cuda.device_of(out):
        grid = (triton.cdiv(dim, GROUP), fields * chains)
        _fill[grid](out, step, _signed(low), _signed(high), chains, dim, LANE=LANE, ROUNDS=ROUNDS, num_warps=WARPS)
    return out


def _signed(word: int) -> int:
    """The 32-bit number of the same bits, so that every seed gives the kernel an argument of one type."""
    return word - (1 << 32) if word >= 1 << 31 else word


@triton.jit(do_not_specialize=["low", "high"])
def _fill(out, step, low, high, chains, dim, LANE: tl.constexpr, ROUNDS: tl.constexpr):  # type: ignore[no-untyped-def]
    group, row = tl.program_id(0), tl.program_id(1)
    field, chain = row // chains, row % chains
    number = tl.load(step)
    lane = tl.arange(0, LANE)
    a = (group * LANE + lane).to(tl.uint32)
    none = tl.zeros_like(a)
    b = none + ((chain << 8) | field).to(tl.uint32)
    c = none + (number & 0xFFFFFFFF).to(tl.uint32)
    d = none + ((number >> 32) & 0xFFFFFFFF).to(tl.uint32)
    one, other = none + low.to(tl.uint32, bitcast=True), none + high.to(tl.uint32, bitcast=True)
    a, b, c, d = tl.philox_impl(a, b, c, d, one, other, ROUNDS)
    at = group.to(tl.int64) * 4 * LANE + lane
    to = out + row.to(tl.int64) * dim
    _pair(to, at, a, b, dim, LANE)
    _pair(to, at + 2 * LANE, c, d, dim, LANE)


@triton.jit
def _pair(to, at, one, other, dim, LANE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Box–Muller: the cosine's number at its place, and the sine's LANE places on."""
    square = -2 * tl.log((one.to(tl.float32) + 0.5) * UNIT)
    radius = tl.sqrt(tl.maximum(square, 0.0))
    quadrant = ((other + 0x20000000) >> 30) & 3
    t = (other - (quadrant << 30)).to(tl.int32, bitcast=True).to(tl.float32) * STEP
    z = t * t
    sine = ((S0 * z + S1) * z + S2) * z * t + t
    cosine = ((C0 * z + C1) * z + C2) * z * z - 0.5 * z + 1.0
    odd = (quadrant & 1) != 0
    x, y = tl.where(odd, sine, cosine), tl.where(odd, cosine, sine)
    x = tl.where((quadrant == 1) | (quadrant == 2), -x, x)
    y = tl.where(quadrant >= 2, -y, y)
    tl.store(to + at, radius * x, mask=at < dim)
    tl.store(to + at + LANE, radius * y, mask=at + LANE < dim)
