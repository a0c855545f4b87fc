"""Random numbers that are a function of (seed, step, place), the same on every device, from plain tensor operations.

A generator with a state hands out numbers in an order; these can be made inside a compiled kernel, where and when they
are needed, and need no memory. On a CPU torch's own generators are the faster ones.
Source: Salmon, Moraes, Dror & Shaw 2011, Philox4x32-10.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

ROUNDS = 10
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF

Words = tuple[Tensor, Tensor, Tensor, Tensor]


def philox(counter: Words, key: tuple[int, int]) -> Words:
    """Four random 32-bit words for each counter of four 32-bit words; all words in int64 tensors that broadcast."""
    a, b, c, d = counter
    first, second = key
    for _ in range(ROUNDS):
        # Products wrap at 64 bits, and the mask takes away the sign that the shift brings in.
        left, right = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = (
            ((right >> 32) & _MASK) ^ b ^ first,
            right & _MASK,
            ((left >> 32) & _MASK) ^ d ^ second,
            left & _MASK,
        )
        first, second = (first + _WEYL[0]) & _MASK, (second + _WEYL[1]) & _MASK
    return a, b, c, d


def normals(seed: int, step: Tensor, shape: tuple[int, int, int], dtype: torch.dtype) -> Tensor:
    """Standard normals [fields, C, D] of a step, on the step's device.

    seed: 64 bits.  step: whole number, an int64 tensor without dimensions, so that a recorded kernel can count it up.
    float32 and float64 give the same numbers up to rounding (Box & Muller 1958); none exceeds 6.8.
    """
    fields, chains, dim = shape
    at = step.device
    place = torch.arange(dim, device=at)
    row = torch.arange(chains, device=at).unsqueeze(1)
    field = torch.arange(fields, device=at).view(-1, 1, 1)
    counter = place, (row << 8) | field, step & _MASK, step >> 32
    one, other, *_ = philox(counter, (seed & _MASK, (seed >> 32) & _MASK))
    unit = 2.0**-32
    radius = (-2 * ((one.to(dtype) + 0.5) * unit).log()).clamp_min(0).sqrt()
    return radius * (other.to(dtype) * (2 * math.pi * unit)).cos()
