"""Random numbers that are a function of (seed, step, place), the same on every device.

A generator with a state gives its numbers one after the other. These can be made where and when they are needed: inside a
compiled kernel of a GPU, or on a CPU in a loop of vector instructions (measured on an AMD EPYC: .65 ns for a number, torch's
generator 2.4 ns; lab/benchmarks/results/speed.md).
Source: Salmon, Moraes, Dror & Shaw 2011, Philox4x32-7; Box & Muller 1958.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.philox_layout import GROUP, LANE, LANE_BITS, MULTIPLIERS, ROUNDS, WEYL

MASK = 0xFFFFFFFF
UNIT = 2.0**-32

FEW = 1 << 15
"""Counters below which torch would use one thread in any case, and numpy is two to four times as fast."""
MOST_PLACES = 4 << 32
"""Places of one stream: the first word of a counter has 32 bits, and serves four of them."""

Words = tuple[Tensor, Tensor, Tensor, Tensor]


def philox(counter: Words, key: tuple[int | Tensor, int | Tensor]) -> Words:
    """Four random 32-bit words for each counter of four 32-bit words; all words in int64 tensors that broadcast."""
    if _few_on_a_cpu(counter, key):
        return _few(counter, key)
    a, b, c, d = counter
    first, second = key
    for _ in range(ROUNDS):
        # Products wrap at 64 bits, and the mask takes away the sign that the shift brings in. Masks on b and d could wait for
        # the end, but then torch 2.13 compiles `normals` into three kernels in place of one.
        left, right = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b, c, d = (
            ((right >> 32) & MASK) ^ b ^ first,
            right & MASK,
            ((left >> 32) & MASK) ^ d ^ second,
            left & MASK,
        )
        first, second = (first + WEYL[0]) & MASK, (second + WEYL[1]) & MASK
    return a, b, c, d


def _few_on_a_cpu(counter: Words, key: tuple[int | Tensor, int | Tensor]) -> bool:
    if torch.compiler.is_compiling():
        return False
    words = [*counter, *(part for part in key if isinstance(part, Tensor))]
    return (
        all(type(word) is Tensor and word.device.type == "cpu" for word in words)
        and math.prod(np.broadcast_shapes(*(word.shape for word in words))) < FEW
    )


def _few(counter: Words, key: tuple[int | Tensor, int | Tensor]) -> Words:
    """The same by numpy, which starts an operation in a quarter of torch's time."""
    a, b, c, d = (word.numpy().view(np.uint64) for word in counter)
    first, second = (
        part.numpy().view(np.uint64) if isinstance(part, Tensor) else np.uint64(part & MASK) for part in key
    )
    (one, other), (up, on) = map(np.uint64, MULTIPLIERS), map(np.uint64, WEYL)
    mask, half = np.uint64(MASK), np.uint64(32)
    for _ in range(ROUNDS):
        left, right = a * one, c * other
        a, b, c, d = (right >> half) ^ b ^ first, right & mask, (left >> half) ^ d ^ second, left & mask
        first, second = (first + up) & mask, (second + on) & mask
    w, x, y, z = (torch.from_numpy(np.asarray(word).view(np.int64)) for word in (a, b, c, d))
    return w, x, y, z


def normals(
    seed: int,
    step: Tensor,
    shape: tuple[int, int, int],
    dtype: torch.dtype,
    first: tuple[int, int, int] = (0, 0, 0),
) -> Tensor:
    """Standard normals [fields, C, D] of a step, on the step's device.

    seed: 64 bits.  step: whole number, an int64 tensor without dimensions, so that a recorded kernel can count it up.
    first: field, chain and place of the first of them.
    float32 and float64 give the same numbers up to rounding; none exceeds 6.8.
    """
    at, start, stop = step.device, first[2], first[2] + shape[2]
    field, row = (torch.arange(first[axis], first[axis] + shape[axis], device=at) for axis in (0, 1))
    rest = ((row.view(-1, 1) << 8) | field.view(-1, 1, 1), step & MASK, step >> 32)
    counters = torch.arange(start // GROUP * LANE, -(-stop // GROUP) * LANE, device=at)
    # An operation that is not compiled goes through memory, so those on counters are done once for the four places of each.
    # A compiled kernel makes each number in registers and writes it at once, for which every place makes its own words.
    if torch.compiler.is_compiling() or len(counters) >= shape[2]:
        words, lane = _at(seed, torch.arange(start, stop, device=at), rest)
        return _normal(words, lane, dtype)
    skip = start % GROUP
    return _normal_groups(_words(seed, counters, rest), dtype)[..., skip : skip + shape[2]].contiguous()


def normals_at(seed: int | Tensor, place: Tensor, dtype: torch.dtype) -> Tensor:
    """The numbers of `normals` for field, chain and step 0 at any places < MOST_PLACES (int64, any shape).

    seed: 63 bits; a tensor that broadcasts with the places has a stream for each.
    """
    none = torch.zeros((), dtype=torch.int64, device=place.device)
    words, lane = _at(seed, place, (none, none, none))
    return _normal(words, lane, dtype)


def uniforms_at(seed: int | Tensor, place: Tensor, dtype: torch.dtype) -> Tensor:
    """Numbers between 0 and 1 as a function of (seed, place), as `normals_at` has normal ones."""
    none = torch.zeros((), dtype=torch.int64, device=place.device)
    (a, b, c, d), lane = _at(seed, place, (none, none, none))
    word = torch.where(lane < 2, torch.where(lane == 0, a, b), torch.where(lane == 2, c, d))
    return (word.to(dtype) + 0.5) * UNIT


def _at(seed: int | Tensor, place: Tensor, rest: tuple[Tensor, Tensor, Tensor]) -> tuple[Words, Tensor]:
    """The four words of the counter that serves a place, and which of them (0 … 3) is the place's own."""
    counter = ((place >> (LANE_BITS + 2)) << LANE_BITS) | (place & (LANE - 1))
    return _words(seed, counter, rest), (place >> LANE_BITS) & 3


def _words(seed: int | Tensor, counter: Tensor, rest: tuple[Tensor, Tensor, Tensor]) -> Words:
    return philox((counter, *rest), (seed & MASK, (seed >> 32) & MASK))


def _normal(words: Words, lane: Tensor, dtype: torch.dtype) -> Tensor:
    """Of each counter's four words the number at one place."""
    a, b, c, d = words
    return _box_muller(torch.where(lane < 2, a, c), torch.where(lane < 2, b, d), lane & 1, dtype)


def _normal_groups(words: Words, dtype: torch.dtype) -> Tensor:
    """Of the words [fields, C, counters] of whole groups all numbers, [fields, C, 4 · counters], in the order of places."""
    a, b, c, d = (word.unflatten(-1, (-1, 1, LANE)) for word in words)
    one, other = torch.stack((a, c), -3), torch.stack((b, d), -3)
    sine = torch.arange(2, device=a.device).unsqueeze(-1)
    return _box_muller(one, other, sine, dtype).flatten(2)


def _box_muller(one: Tensor, other: Tensor, sine: Tensor, dtype: torch.dtype) -> Tensor:
    """The cosine's number of two words, or (1 in `sine`) the sine's; all arguments broadcast."""
    radius = (-2 * ((one.to(dtype) + 0.5) * UNIT).log()).clamp_min(0).sqrt()
    # The sine as a cosine a quarter of a turn later; whole turns are taken off while the numbers are still whole.
    turned = (other - (sine << 30)) & MASK
    return radius * (turned.to(dtype) * (2 * math.pi * UNIT)).cos()


def fill(out: Tensor, seed: int, step: int, row: int, field: int = 0, start: int = 0) -> Tensor:
    """The numbers of `normals` for one chain and field, at the places from `start` on, written to `out` [count].

    The compiled loop serves float32 on a CPU from multiples of GROUP on; without numba, and elsewhere, `normals` does.
    """
    compiled = _compiled(out, start)
    if compiled is not None:
        compiled.fill_groups(out.numpy(), start // GROUP, *words_of(seed, step, row, field))
        return out
    at = torch.tensor(step, device=out.device)
    return out.copy_(normals(seed, at, (1, 1, len(out)), out.dtype, (field, row, start))[0, 0])


def fill_uniforms(out: Tensor, seed: int, start: int = 0) -> Tensor:
    """The numbers of `uniforms_at` at the places from `start` on, written to `out` [count], as `fill` does."""
    compiled = _compiled(out, start)
    if compiled is not None:
        compiled.fill_uniform_groups(out.numpy(), start // GROUP, *words_of(seed, 0, 0))
        return out
    return out.copy_(uniforms_at(seed, torch.arange(start, start + len(out), device=out.device), out.dtype))


def words_of(seed: int, step: int, row: int, field: int = 0) -> tuple[int, int, int, int, int]:
    """A stream as the compiled loops take it: three words of the counters, two of the key."""
    return (row << 8) | field, step & MASK, step >> 32, seed & MASK, seed >> 32


def _compiled(out: Tensor, start: int) -> Any | None:
    """The module of compiled loops; None where they cannot fill this, or where numba is missing."""
    if out.device.type != "cpu" or out.dtype != torch.float32 or start % GROUP:
        return None
    try:
        from llc_core.compute import philox_kernel
    except ImportError:
        return None
    return philox_kernel
