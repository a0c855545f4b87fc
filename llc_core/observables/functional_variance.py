"""The variance of every sample's loss along the chains."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from llc_core.observables.base import Mean, _over
from llc_core.potentials.base import Potential

ROWS = 200_000
"""Chains × samples whose losses are evaluated at once."""


class FunctionalVariance:
    """Running mean and variance of every sample's log-likelihood along every chain (Welford 1962), both [C, samples]."""

    def __init__(self, problem: Potential, like: Tensor):
        self.problem = problem
        self.weight = 0.0
        self.mean = torch.zeros(len(like), problem.samples, dtype=like.dtype, device=like.device)
        self.square = torch.zeros_like(self.mean)

    def add(self, delta: Tensor, weight: float) -> None:
        self.weight += weight
        step = max(64, ROWS // len(delta))
        for start in range(0, self.problem.samples, step):
            stop = min(start + step, self.problem.samples)
            mean, square = self.mean[:, start:stop], self.square[:, start:stop]
            off = self.problem.per_sample_loss(delta, start, stop) - mean
            mean.add_(off, alpha=weight / self.weight)
            # Σw(x − new mean)² grows by w·(x − old mean)·(x − new mean) = w(1 − w/W)·off²
            square.addcmul_(off, off, value=weight * (1 - weight / self.weight))

    def total(self, rows: slice, living: np.ndarray, data_sets: int) -> np.ndarray:
        """Σ_i Var(log p_i), for [data_sets] groups of chains that share their data: chains are pooled, so that what one
        chain has not yet seen of the posterior shows as the difference from others. Then leave-one-out values of the
        first group when it is the only one: [data_sets, 1 + chains]."""
        if self.weight == 0:
            return np.full((data_sets, 1), np.nan)
        mean, second = self.mean[rows], self.square[rows] / self.weight
        results = []
        for group in np.split(np.arange(len(living)), data_sets):
            kept = torch.as_tensor(group[living[group]], device=mean.device)
            if len(kept) == 0:
                results.append([np.nan])
                continue
            m, v = mean[kept].double(), second[kept].double()
            center = m.mean(dim=0, keepdim=True)
            m = m - center
            first, both = m.sum(dim=0), (v + m * m).sum(dim=0)
            values = [float((both / len(kept) - (first / len(kept)).square()).sum())]
            if data_sets == 1 and len(kept) > 1:
                less = len(kept) - 1
                for i in range(len(kept)):
                    rest = (both - v[i] - m[i] * m[i]) / less - ((first - m[i]) / less).square()
                    values.append(float(rest.sum()))
            results.append(values)
        return np.array(results)

    def fluctuation(self, rows: slice, living: np.ndarray, beta: float) -> Mean:
        """ν̂ = (β/2)·Σ_i Var(log p_i) over all n samples."""
        sets = self.problem.data_sets
        factor = beta / 2 * self.problem.n / self.problem.samples
        values = factor * self.total(rows, living, sets)
        if sets == 1:
            rest = values[0, 1:]
            se = math.sqrt((len(rest) - 1) * float(np.var(rest))) if len(rest) > 1 else math.nan
            return Mean(float(values[0, 0]), se, values[:, 0])
        return _over(values[:, 0])
