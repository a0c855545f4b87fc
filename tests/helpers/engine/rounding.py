"""How far rounding may move a number: unit roundoff × root of the operations × condition, whatever the processor.

Sources: N. J. Higham, Accuracy and Stability of Numerical Algorithms (2nd edition, SIAM 2002), sections 3.1 and 3.5: an
inner product of length n, in any order of its sums and with or without fused multiplications, is off by at most
γ_n Σ|a_i b_i| with γ_n = n u / (1 − n u). N. J. Higham and T. Mary, A new approach to probabilistic rounding error
analysis, SIAM J. Sci. Comput. 41 (2019), A2815: where the signs of the roundings are random, n u becomes safety · √n u, and
a bound fails with probability at most 2 exp(−safety²/2) for an inner product.

Two conditions of a sum Σ t_i are in use: Σ|t_i| / |Σ t_i|, which no choice of signs exceeds, and √(Σ t_i²) / |Σ t_i|, which
holds where the terms have random signs too: its partial sums then grow with the root of their number.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llc_core import DeepLinearNetwork
from llc_core.potentials.base import Batch

SAFETY = 5.0
"""A bound of random signs fails once in 130,000 inner products: 2 exp(−25/2) = 7e-6."""


def unit_roundoff(dtype: torch.dtype | np.dtype | type) -> float:
    """u: half the distance from 1 to the next number; 6e-8 in float32 and 1.1e-16 in float64."""
    return (torch.finfo(dtype) if isinstance(dtype, torch.dtype) else np.finfo(dtype)).eps / 2  # type: ignore[arg-type]


def worst(operations: int, dtype: torch.dtype | type) -> float:
    """γ_n: the relative error of `operations` roundings that all go the same way."""
    total = operations * unit_roundoff(dtype)
    assert total < 1, f"{operations} operations leave no digit of {dtype}"
    return total / (1 - total)


def likely(operations: int, dtype: torch.dtype | type, safety: float = SAFETY) -> float:
    """safety · √n · u: the relative error of `operations` roundings of random signs."""
    return safety * operations**0.5 * unit_roundoff(dtype)


class Passes(NamedTuple):
    """Lengths of the inner products on the way, summed: how many roundings one number goes through."""

    loss: int
    gradient: int


def passes(network: DeepLinearNetwork) -> Passes:
    """Every layer once and the inputs' moments; then an inner product of two matrices, or every layer on the way back."""
    inputs, outputs, layers = network.widths[0], network.widths[-1], sum(network.widths)
    return Passes(layers + inputs + inputs * outputs, 2 * layers + inputs)


class Condition(NamedTuple):
    """By how much a relative error of random sign in each factor is multiplied; [chains]."""

    loss: Tensor
    gradient: Tensor


def condition(
    network: DeepLinearNetwork, delta: Tensor, batch: Batch | None = None, subtracted_above: float = math.inf
) -> Condition:
    """Of ΔL = ⟨D, D·Sxx − 2·Snx⟩ in itself, and of its gradient in the largest of its entries.

    D = W_M ⋯ W_1 − P0 is propagated layer by layer, or is the difference of the two products where its norm is above
    `subtracted_above`; an error of D reaches ΔL by the force 2(D·Sxx − Snx), and the gradient by what it changes of the
    force. delta: [chains, D].
    """
    data = {} if batch is None else batch.data
    sxx, snx = (data.get(key, getattr(network.data, key)[None]).double().numpy() for key in ("sxx", "snx"))
    loss, gradient = [], []
    for chain, row in enumerate(delta.double().numpy()):
        difference, spread = _difference(network, row, subtracted_above)
        xx, nx = (rows[chain * len(rows) // len(delta)] for rows in (sxx, snx))
        force = 2 * (difference @ xx - nx)
        loss.append(np.sqrt(np.sum(spread * force**2)) / abs(np.sum(difference * (force - difference @ xx))))
        gradient.append(1 + 2 * np.sqrt(np.sum(spread @ xx**2)) / np.linalg.norm(force))
    return Condition(torch.tensor(loss, dtype=torch.float64), torch.tensor(gradient, dtype=torch.float64))


def _difference(network: DeepLinearNetwork, row: np.ndarray, subtracted_above: float) -> tuple[np.ndarray, np.ndarray]:
    """D of one chain, and the sum of the squared terms of each of its entries: signs are random."""
    product = squares = moved = np.eye(network.widths[0])
    difference = spread = np.zeros_like(product)
    at = 0
    for w in network.weights:
        move, at = row[at : at + w.size].reshape(w.shape), at + w.size
        difference, product = move @ product + (w + move) @ difference, w @ product
        spread, squares = move**2 @ squares + (w + move) ** 2 @ spread, w**2 @ squares
        moved = (w + move) ** 2 @ moved
    return difference, squares + moved if np.linalg.norm(difference) > subtracted_above else spread
