"""By how much λ̂ would differ had other data of the same size been drawn: the infinitesimal jackknife over samples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llc_core.potentials.base import Potential

MOST_SAMPLES, SLICES = 1024, 16
"""So many samples are followed, in so many stretches that lie evenly over the data, which may be in an order."""
MOST_NUMBERS = 1 << 22
"""Losses that are kept, 16 MB."""
PIECES = 8
"""Independent parts that the chains are cut into, at least."""


class DataNoise(NamedTuple):
    """square: the square of the standard error of λ̂ over data, without bias, so that chance can put it below 0.
    square_se: its own standard error.  Both in units of λ̂²; nan: not known."""

    square: float = math.nan
    square_se: float = math.nan


class SampleLosses:
    """ΔL of single samples along the chains.

    Let sample i count ω_i times. With L = (1/n)·Σ ω_i ℓ_i and X = nβ·ΔL, the law exp(−X − (γ/2)‖w − w0‖²) gives
        I_i = ∂λ̂/∂ω_i = β·E[Δℓ_i] − β·Cov(X, Δℓ_i),
    and Σ (I_i − Ī)² is the variance of λ̂ over data sets, to first order (Efron 1982, chapter 6). That w0 follows the data where it
    is a minimum changes nothing at this order. On a quadratic with w0 at its minimum every I_i is 0: λ̂ is D/2 whatever the data.
    At a singular point it is not, since noise in the data moves the place of low loss (Watanabe 2013, theorem 4 and U_n there).
    """

    def __init__(self, problem: Potential, looks: int, like: Tensor):
        """looks: how many there will be.  like: δ [C, D] of the chains."""
        self.problem, self.size = problem, problem.samples
        fit = max(SLICES, MOST_NUMBERS // max(looks * len(like), 1))
        self._slices = _slices(self.size, min(MOST_SAMPLES, fit))
        self.followed = sum(stop - start for start, stop in self._slices)
        self._at_w0 = self._losses(torch.zeros_like(like[:1]))
        self._kept: list[Tensor] = []

    def look(self, delta: Tensor) -> None:
        if (
            len(self._kept) * self.followed * len(delta) < 2 * MOST_NUMBERS
        ):  # a run that goes on sees more than was planned
            self._kept.append((self._losses(delta) - self._at_w0).float())

    def _losses(self, delta: Tensor) -> Tensor:
        return torch.cat([self.problem.per_sample_loss(delta, *each) for each in self._slices], dim=1)

    def noise(self, rows: slice, chains: np.ndarray, loss: np.ndarray, n_beta: float) -> DataNoise:
        """rows, chains: those of a group that are counted, [C'] bool.  loss: X [looks, C] of them."""
        each = torch.stack([kept[rows][torch.as_tensor(chains)] for kept in self._kept]).double().cpu().numpy()
        return data_noise(each, loss[: len(each)], n_beta, self.size)


def _slices(size: int, most: int) -> list[tuple[int, int]]:
    if size <= most:
        return [(0, size)]
    length = most // SLICES
    starts = np.linspace(0, size - length, SLICES).astype(int)
    return [(int(start), int(start) + length) for start in starts]


def data_noise(each: np.ndarray, loss: np.ndarray, n_beta: float, size: int) -> DataNoise:
    """each: Δℓ [looks, C, m] of m of the `size` samples.  loss: X [looks, C].

    The chains are cut into parts, and only products of different parts count: chance in one then adds nothing to the square.
    """
    looks, chains, many = each.shape
    pieces = math.ceil(PIECES / max(chains, 1))
    if looks < 2 * pieces or not (np.isfinite(each).all() and np.isfinite(loss).all()):
        return DataNoise()
    influence = n_beta / size * (each - (loss - loss.mean())[:, :, None] * (each - each.mean(axis=(0, 1))))
    parts = np.concatenate([part.mean(axis=0) for part in np.array_split(influence, pieces)])
    parts -= parts.mean(axis=1, keepdims=True)
    product = parts @ parts.T * (size / many)
    of = len(product)

    def square(but: int | None = None) -> float:
        left = product if but is None else np.delete(np.delete(product, but, 0), but, 1)
        return float((left.sum() - np.trace(left)) / (len(left) * (len(left) - 1)))

    without = np.array([square(each) for each in range(of)])
    return DataNoise(square(), math.sqrt((of - 1) / of * float(((without - without.mean()) ** 2).sum())))
