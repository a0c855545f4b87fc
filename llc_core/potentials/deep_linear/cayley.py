"""The Cayley map, by which gauge moves turn layers."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def cayley(x: Tensor) -> tuple[Tensor, Tensor]:
    """(I − x)⁻¹(I + x) − I for x [C, H, H] (the Cayley map of 2x, less the identity), and log|det(I − x)| [C].

    The logarithm is nan, and the move refused, where x is not finite, as of a trajectory that has run away, or LAPACK gives pivots that
    it does not take back.
    """
    # A sum is finite only where all entries are: one call for all chains, since most of the time of small matrices is that of calls.
    told = x.sum().isfinite()
    sound = None if told else x.isfinite().flatten(1).all(dim=1)
    kept = x if sound is None else torch.where(sound.view(-1, 1, 1), x, 0.0)
    factors, pivots = torch.linalg.lu_factor(torch.eye(x.shape[-1], dtype=x.dtype, device=x.device) - kept)
    log_det = factors.diagonal(dim1=1, dim2=2).abs().log().sum(dim=1)
    if pivots.min() < 1:
        taken = (pivots >= 1).all(dim=1)
        sound, pivots = taken if sound is None else sound & taken, pivots.clamp_min(1)
    turn = torch.linalg.lu_solve(factors, pivots, 2 * x)
    return turn, log_det if sound is None else torch.where(sound, log_det, math.nan)
