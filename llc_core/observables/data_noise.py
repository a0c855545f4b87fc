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
"""Losses that are kept, 16 MB; twice as many of a run that goes on."""
PIECES = 16
"""Parts that the chains are cut into, at least."""


class DataNoise(NamedTuple):
    """square: the square of the standard error of λ̂ over data, without bias, so that chance can put it below 0.
    square_se: its own standard error.  Both in units of λ̂²; nan: not known."""

    square: float = math.nan
    square_se: float = math.nan


class Influences(NamedTuple):
    """parts: ∂λ̂/∂ω_i from each part of the chains, [P, m], less their mean.  chain: to which chain a part belongs, [P].

    scale: all samples over those that are followed.
    """

    parts: np.ndarray
    chain: np.ndarray
    scale: float

    def noise(self) -> DataNoise:
        """Only products of parts that know nothing of each other count, of two chains or of one where they are no neighbours: chance
        in one then adds nothing to the square."""
        place = np.array([int((self.chain[:k] == each).sum()) for k, each in enumerate(self.chain)])
        counted = (self.chain[:, None] != self.chain) | (abs(place[:, None] - place) > 1)
        product = self.parts @ self.parts.T * self.scale * counted

        def square(but: int | None = None) -> float:
            kept = np.arange(len(product)) != but if but is not None else np.ones(len(product), bool)
            return float(product[np.ix_(kept, kept)].sum() / max(counted[np.ix_(kept, kept)].sum(), 1))

        many = len(product)
        without = np.array([square(each) for each in range(many)])
        return DataNoise(square(), math.sqrt((many - 1) / many * float(((without - without.mean()) ** 2).sum())))


class SampleLosses:
    """ΔL of single samples along the chains.

    Let sample i count ω_i times. With L = (1/n)·Σ ω_i ℓ_i and X = nβ·ΔL, the distribution exp(−X − (γ/2)‖w − w0‖²) gives at a fixed w0
        I_i = ∂λ̂/∂ω_i = β·E[Δℓ_i] − β·Cov(X, Δℓ_i),
    and Σ (I_i − Ī)² is the variance of λ̂ over data sets, to first order (Efron 1982, chapter 6). Without γ a w0 that follows the
    data as their minimum changes nothing at this order, and on a quadratic every I_i is 0: λ̂ is D/2 whatever the data. With γ
    both hold as far as γ is small against nβ times the curvature, which `of_gamma` speaks of. At a singular point I_i is not
    small, since noise in the data moves the place of low loss (Watanabe 2013, theorem 4 and U_n there).
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

    def influences(self, rows: slice, chains: np.ndarray, loss: np.ndarray, n_beta: float) -> Influences | None:
        """rows, chains: those of a group that are counted, [C'] bool.  loss: X [looks, C] of them."""
        good = torch.as_tensor(chains)
        each = (
            torch.stack([kept[rows][good] for kept in self._kept]).cpu().numpy()
            if chains.any()
            else np.empty((0, 0, 0))
        )
        return influences(each, loss[: len(each)], n_beta, self.size)


def _slices(size: int, most: int) -> list[tuple[int, int]]:
    if size <= most:
        return [(0, size)]
    length = most // SLICES
    starts = np.linspace(0, size - length, SLICES).astype(int)
    return [(int(start), int(start) + length) for start in starts]


def influences(each: np.ndarray, loss: np.ndarray, n_beta: float, size: int) -> Influences | None:
    """each: Δℓ [looks, C, m] of m of the `size` samples.  loss: X [looks, C].  None where they are too few, or not finite."""
    looks, chains, many = each.shape
    pieces = math.ceil(PIECES / max(chains, 1))
    if not chains or looks < 2 * pieces or not (np.isfinite(each).all() and np.isfinite(loss).all()):
        return None
    centred = loss - loss.mean()
    mean = each.mean(axis=(0, 1), dtype=float)
    parts, chain = [], []
    for some, x in zip(np.array_split(each, pieces), np.array_split(centred, pieces), strict=True):
        for c in range(chains):
            own = some[:, c].mean(axis=0, dtype=float)
            with_loss = x[:, c] @ some[:, c] / len(x) - x[:, c].mean() * mean
            parts.append(n_beta / size * (own - with_loss))
            chain.append(c)
    found = np.array(parts)
    return Influences(found - found.mean(axis=1, keepdims=True), np.array(chain), size / many)
