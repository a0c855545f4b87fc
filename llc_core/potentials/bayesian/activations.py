"""Activations of Bayesian networks: each with its slope."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


@dataclass(frozen=True)
class Activation:
    """value: z ↦ φ(z).  slope: (z, φ(z)) ↦ φ′(z), from whichever of the two is the shorter way."""

    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]


def _selu(z: Tensor) -> Tensor:
    below = z.clamp(max=0).expm1_().mul_(SELU_SCALE * SELU_ALPHA)
    return below.add_(z.clamp(min=0), alpha=SELU_SCALE)


def _selu_slope(z: Tensor, a: Tensor) -> Tensor:
    # Below 0 the slope is S·α·eᶻ = φ(z) + S·α.
    return torch.where(z > 0, torch.full_like(z, SELU_SCALE), a + SELU_SCALE * SELU_ALPHA)


ACTIVATIONS = {
    "selu": Activation(_selu, _selu_slope),
    "relu": Activation(lambda z: z.clamp(min=0), lambda z, a: (z > 0).to(z.dtype)),
    "erf": Activation(torch.erf, lambda z, a: z.square().neg_().exp_().mul_(2 / math.sqrt(math.pi))),
    "tanh": Activation(torch.tanh, lambda z, a: 1 - a.square()),
}
"""By name. SELU is that of Klambauer et al. 2017."""
