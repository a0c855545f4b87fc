"""Top curvature of the target along the chains, by power iteration: what limits every sampler's step size."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.potentials.base import Potential


def top_curvature(
    potential: Potential,
    delta: Tensor,
    n_beta: Tensor,
    localization: Tensor,
    vector: Tensor,
    metric: Tensor | None = None,
    iterations: int = 3,
) -> tuple[Tensor, Tensor]:
    """Largest |eigenvalue| of G^½(nβ∇²L + γ)G^½ at each δ, [C, 1], and the vector [C, D] to go on from.

    Power iteration approaches the value from below; warm starts (the returned vector) make few iterations enough.
    """
    root = None if metric is None else metric.sqrt()
    size = torch.zeros_like(n_beta)
    for _ in range(iterations):
        vector = vector / vector.norm(dim=1, keepdim=True).clamp_min(1e-30)
        inner = vector if root is None else root * vector
        image = n_beta * potential.hvp(delta, inner) + localization * inner
        vector = image if root is None else root * image
        size = vector.norm(dim=1, keepdim=True)
    return size, vector
