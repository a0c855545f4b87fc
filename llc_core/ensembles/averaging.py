"""Weighted means over draws that do not depend on the order of the draws, not even in their last bit."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.fields import short


def shares(weights: Any, count: int) -> Tensor:
    """[S] of weights of `count` draws, their sum 1; equal ones give exactly what None gives, in double precision.

    ValueError where there are too many or too few of them, one is negative or not finite, or all are 0.
    """
    if weights is None:
        return torch.full((count,), 1.0 / count, **EXACT)
    try:
        given = torch.as_tensor(weights, **EXACT).detach().cpu().flatten()
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"weights is {short(weights)}; give one number for each draw.") from None
    if len(given) != count:
        raise ValueError(f"weights has {len(given)} numbers for {count} draws; give one for each draw.")
    if not bool(torch.isfinite(given).all()) or bool((given < 0).any()) or not bool((given > 0).any()):
        raise ValueError("weights must be finite and at least 0, and one of them above 0; check them for nan.")
    scaled = given / given.max()
    return scaled / ordered_sum(scaled)


def weighted_mean(values: Tensor, share: Tensor) -> Tensor:
    """Σ_s share_s·values_s of values [S, …], in double precision. Draws that weigh nothing may be anything."""
    column = share.view(-1, *[1] * (values.dim() - 1))
    parts = torch.where(column > 0, values.double() * column, torch.zeros((), **EXACT))
    return ordered_sum(parts)


def ordered_sum(parts: Tensor) -> Tensor:
    """Over the first dimension, from the smallest to the largest, so that a permutation changes nothing."""
    return parts.sort(dim=0).values.sum(dim=0)


def kish_share(share: Tensor) -> float:
    """(Σw)²/(S·Σw²) in (0, 1]: the effective share of the draws (Kish 1965); 1 where all weigh the same."""
    return min(1.0, float(1 / (len(share) * ordered_sum(share.square()))))  # rounding goes beyond
