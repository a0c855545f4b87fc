"""nβ·E[ΔL] at each level, with less noise than the mean of the losses has.

Where layers are swept, the mean of E[ΔL] under the distributions they are drawn from (Rao and Blackwell). Elsewhere Stein's identity says what
part of the noise is known: for a field f that does not leave the prior's space, E[f·∇V − div f] = 0 under exp(−V); with f = δ this is
the theorem of equipartition. What is averaged is ΔL less the multiple of it that fits the noise best. It is exact for any multiple.
Neither costs a gradient. Source: Mira, Solgi & Imparato 2013, "Zero variance Markov chain Monte Carlo for Bayesian estimators".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llc_core.studies.tempering.replicas import Replicas

BY_COORDINATE = 4
"""Parameters up to which each has a field of its own; else one field for all."""


class Levels(NamedTuple):
    """each: λ̂(nβ) of each ladder, [K, C].  llc, se: [K] their means, and standard errors.  near: correlation of the errors of neighbouring levels.
    drift: by how many standard errors the second half of the run lies above the first, all levels together."""

    each: np.ndarray
    llc: np.ndarray
    se: np.ndarray
    near: float
    drift: float


class Energies:
    """Sums over the steps, of each half: nβ·ΔL and V identities, [2, K, C, 1 + V], and of their products, [K, 1 + V, 1 + V]."""

    def __init__(self, replicas: Replicas, steps: int):
        levels, chains, dim = replicas.delta.shape
        self.steps = steps
        self.each = dim <= BY_COORDINATE
        width = 1 if replicas.sweeps else 1 + (dim if self.each else 1)
        self.sums = np.zeros((2, levels, chains, width))
        self.products = np.zeros((levels, width, width))
        self.counts = np.zeros(2)

    def look(self, step: int, now: Replicas) -> None:
        half = int(2 * step >= self.steps)
        row = self._row(now)
        self.sums[half] += row
        self.products += row.transpose(0, 2, 1) @ row
        self.counts[half] += 1

    def _row(self, now: Replicas) -> np.ndarray:
        if now.sweeps:
            return (now.heat * now.expected_loss).unsqueeze(-1).numpy()
        field, divergence = now.prior.field(now.delta)
        known = field * (now.heat.unsqueeze(-1) * now.grad - now.prior.slope(now.delta)) - divergence
        if not self.each:
            known = known.sum(-1, keepdim=True)
        return np.concatenate([(now.heat * now.loss).unsqueeze(-1).numpy(), known.numpy()], axis=-1)

    def read(self) -> Levels:
        halves = self._halves()
        each = np.tensordot(self.counts / self.counts.sum(), halves, 1)
        chains = each.shape[1]
        spread = each.std(axis=1, ddof=1)
        apart = ((each.T - each.mean(1)) / np.maximum(spread, 1e-300)).T[1:]
        near = float((apart[1:] * apart[:-1]).sum() / max((apart * apart).sum(), 1e-300))
        change = halves[1] - halves[0]
        moved = (change / np.maximum(change.std(axis=1, ddof=1, keepdims=True), 1e-300))[1:].mean(0)
        drift = float(moved.mean() / max(moved.std(ddof=1) / np.sqrt(chains), 1e-300))
        return Levels(each, each.mean(1), spread / np.sqrt(chains), float(np.clip(near, 0, 0.95)), drift)

    def _halves(self) -> np.ndarray:
        """[2, K, C]: the means of each half and ladder, less what is known of their noise."""
        means = self.sums / np.maximum(self.counts, 1)[:, None, None, None]
        if self.sums.shape[-1] == 1:
            return means[..., 0]
        count = self.counts.sum() * self.sums.shape[2]
        mean = self.sums.sum((0, 2)) / count
        spread = self.products / count - mean[:, :, None] * mean[:, None, :]
        own = np.trace(spread[:, 1:, 1:], axis1=1, axis2=2)[:, None, None]
        ridge = np.eye(spread.shape[-1] - 1) * (1e-9 * own + 1e-300)
        slope = np.linalg.solve(spread[:, 1:, 1:] + ridge, spread[:, 1:, :1])
        return means[..., 0] - (means[..., 1:] @ slope)[..., 0]
