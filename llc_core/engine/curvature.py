"""Top curvature of the target along the chains, by power iteration: what limits every sampler's step size."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.engine.target import Target


def top_curvature(
    target: Target, z: Tensor, vector: Tensor, metric: Tensor | None = None, iterations: int = 3, in_place: bool = False
) -> tuple[Tensor, Tensor]:
    """Largest |eigenvalue| of G^½·∇²U·G^½ at each point z, [C, 1], and the vector [C, D] to go on from.

    G is the sampler's diagonal `metric`, or the identity. Power iteration approaches the value from below; warm starts
    (the returned vector) make few iterations enough. in_place: `vector` itself is changed, which spares copies of it.
    """
    root = None if metric is None else metric.sqrt()
    size = torch.zeros_like(target.n_beta)
    for _ in range(iterations if in_place else 0):
        vector.div_(vector.norm(dim=1, keepdim=True).clamp_min(1e-30))
        if root is not None:
            vector.mul_(root)
        image = target.potential.hvp(z, vector).mul_(target.n_beta).addcmul_(target.localization, vector)
        vector.copy_(image if root is None else image.mul_(root))
        del image
        size = vector.norm(dim=1, keepdim=True)
    if in_place:
        return size, vector
    for _ in range(iterations):
        vector = vector / vector.norm(dim=1, keepdim=True).clamp_min(1e-30)
        image = target.curvature(z, vector if root is None else root * vector)
        vector = image if root is None else root * image
        size = vector.norm(dim=1, keepdim=True)
    return size, vector
