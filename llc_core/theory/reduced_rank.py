"""Deep linear networks whose product has the largest rank that they allow: how much of the noise they fit, for the data at hand.

If the rank of the product P0 is the smallest width, the products are all matrices of at most that rank, and near P0 they are a
smooth manifold of dimension 2λ, wherever the weights wander along the fibre. L_n is quadratic in the product, with its minimum at
P0 + Snx·Sxx⁻¹, so that its minimum over the manifold is that of reduced-rank regression: the best approximation of a matrix by
one of rank r (Eckart & Young 1936). Above it the posterior of nβ·L_n is that of 2λ normal directions as nβ grows. At a smaller rank
of P0 other sheets of the manifold come near, and at moderate γ the posterior is on them too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def has_largest_rank(ranks: Sequence[Sequence[int]]) -> bool:
    """Whether the product's rank is the smallest width, from ranks[s][t] with the widths on the diagonal."""
    return ranks[0][-1] == min(ranks[layer][layer] for layer in range(len(ranks)))


def fitted_noise(product: Array, rank: int, sxx: Array, snx: Array) -> float:
    """L_n(w0) less the least L_n over all products of this rank, the loss being the squared error summed over outputs.

    product: P0 [H_M, H_0].  sxx [H_0, H_0] = XᵀX/n, of full rank; snx [H_M, H_0] = noiseᵀX/n.
    """
    values, vectors = np.linalg.eigh(sxx)
    noise = snx @ (vectors / np.sqrt(values))  # Snx·Sxx^−½ up to a rotation, which no norm sees
    singular = np.linalg.svd(product @ (vectors * np.sqrt(values)) + noise, compute_uv=False)
    return float(np.square(noise).sum() - np.square(singular[rank:]).sum())
