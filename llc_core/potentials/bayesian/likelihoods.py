"""Likelihoods of Bayesian networks: losses of single samples and their slopes in the prediction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Likelihood:
    """−log p(y | f) for a noise variance v.

    loss: (f − y, v) ↦ nats, constants included.  slope: its derivative in f.
    smooth: a slope without jumps, for proposals of samplers that accept or reject; None: `slope` has none.
    """

    loss: Callable[[Tensor, float], Tensor]
    slope: Callable[[Tensor, float], Tensor]
    smooth: Callable[[Tensor, float], Tensor] | None = None


ROUNDED = 0.3
"""Within so many scales b of 0 the smooth slope of a Laplace likelihood rises straight from −1/b to 1/b. A trajectory that meets a jump
errs by as much as its step is long, and a smooth one by its square. What is too smooth misses the energy at both ends, whatever
the step: on 48 points by about √(4.8·ROUNDED³) nats, 0.36 here."""


def laplace_scale(variance: float) -> float:
    """b of the Laplace density e^{−|r|/b}/(2b) whose variance 2b² is given."""
    return math.sqrt(variance / 2)


LIKELIHOODS = {
    "gaussian": Likelihood(
        lambda r, v: r.square().mul_(1 / (2 * v)).add_(math.log(2 * math.pi * v) / 2),
        lambda r, v: r / v,
    ),
    "laplace": Likelihood(
        lambda r, v: r.abs().mul_(1 / laplace_scale(v)).add_(math.log(2 * laplace_scale(v))),
        lambda r, v: torch.sign(r) / laplace_scale(v),
        lambda r, v: (r / (ROUNDED * laplace_scale(v))).clamp(-1, 1) / laplace_scale(v),
    ),
}
"""By name. At r = 0 the Laplace likelihood has no derivative; 0 is taken, one of its subgradients."""
