"""The variance of every sample's loss along the chains, and from it the singular fluctuation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from llc_core.observables.base import Mean, Observable, register
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.base import Potential


@register
@dataclass
class FunctionalVariance(Observable):
    """Singular fluctuation ν̂ = (β/2)·Σ_i Var(log p_i), with p_i := exp(−loss_i) where the loss is no likelihood.

    What is kept is the running mean and variance of every sample's loss along every chain, [C, samples] (weighted; Welford
    1962, West 1979).
    """

    needs_samples = True

    every: int = 10

    def kept(self, chains: int, problem: Potential) -> int:
        return 2 * chains * problem.samples

    def begin(self, setup: RunShape) -> None:
        self.problem = setup.problem
        self.weight = setup.zeros(setup.chains)
        shape = (setup.chains, setup.problem.samples)
        self.means = torch.zeros(shape, dtype=setup.dtype, device=setup.device)
        self.squares = torch.zeros_like(self.means)

    def look(self, seen: Look) -> None:
        weights = seen.weights
        self.weight[seen.rows] += weights
        # A chain that has weighed nothing so far has no mean, and stays where it is.
        share = (weights / self.weight[seen.rows]).nan_to_num(0.0)
        forward = share.to(self.means.dtype).unsqueeze(1)
        # Σw(x − new mean)² grows by w·(x − old mean)·(x − new mean) = w(1 − w/W)·off²
        growth = (weights * (1 - share)).to(self.means.dtype).unsqueeze(1)
        for part, losses in seen.sample_losses():
            means = self.means[seen.rows, part]
            off = losses - means
            means.addcmul_(off, forward)
            self.squares[seen.rows, part].addcmul_(growth * off, off)

    def total(self, group: Group) -> np.ndarray:
        """Σ_i Var(log p_i), for [data_sets] groups of chains that share their data: chains are pooled, so that what one
        chain has not yet seen of the posterior shows as the difference from others. Then leave-one-out values of the
        first group when it is the only one: [data_sets, 1 + chains]."""
        data_sets = self.problem.data_sets
        weight = self.weight[group.rows]
        seen = (weight > 0).cpu().numpy()
        if not seen.any():
            return np.full((data_sets, 1), np.nan)
        good = group.living & seen
        mean, second = self.means[group.rows], self.squares[group.rows] / weight.to(self.squares.dtype).unsqueeze(1)
        results = []
        for chains in np.split(np.arange(len(good)), data_sets):
            kept = torch.as_tensor(chains[good[chains]], device=mean.device)
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

    def mean(self, group: Group) -> Mean:
        """ν̂ over all n samples, with one part for each data set; its error is a jackknife over chains, or the spread over
        data sets where there are several. nan before the first look."""
        problem = self.problem
        factor = group.n_beta / problem.n / 2 * problem.n / problem.samples
        values = factor * self.total(group)
        if problem.data_sets == 1:
            rest = values[0, 1:]
            se = math.sqrt((len(rest) - 1) * float(np.var(rest))) if len(rest) > 1 else math.nan
            return Mean(float(values[0, 0]), se, values[:, 0])
        return Mean.of(values[:, 0])

    def read(self, group: Group) -> dict[str, np.ndarray]:
        return self.mean(group).arrays()
