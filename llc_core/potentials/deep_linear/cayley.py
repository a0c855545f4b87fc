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
    sound = x.isfinite().flatten(1).all(dim=1)
    factors, pivots = torch.linalg.lu_factor(
        torch.eye(x.shape[-1], dtype=x.dtype, device=x.device) - torch.where(sound.view(-1, 1, 1), x, 0.0)
    )
    sound = sound & (pivots >= 1).all(dim=1)
    log_det = factors.diagonal(dim1=1, dim2=2).abs().log().sum(dim=1)
    return torch.linalg.lu_solve(factors, pivots.clamp_min(1), 2 * x), torch.where(sound, log_det, math.nan)
