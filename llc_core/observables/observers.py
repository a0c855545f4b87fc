"""What is watched along the chains beside the loss, in memory that does not grow with the steps.

Everything is looked at before a step, every k-th one after burn-in, and weighted by the step's size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.config import RunConfig
from llc_core.potentials.base import Potential
from llc_core.types import Energy

SIZES_EVERY = 50
"""Steps between looks at distances and at the sizes of a step's terms: they then cost next to nothing."""
ROWS = 200_000
"""Chains × samples whose losses are evaluated at once."""


@dataclass(frozen=True)
class Mean:
    """A value, its standard error over independent chains (or data sets), and the parts it is the mean of."""

    value: float = math.nan
    se: float = math.nan
    parts: np.ndarray | None = None


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


class Observers:
    """All that a run watches: term sizes always, ν̂ and a second loss where the configuration asks for them."""

    def __init__(self, config: RunConfig, problem: Potential, observable: Potential | None, like: Tensor):
        """like: [C, D]."""
        self._made_of = config, problem, observable, like.new_empty(len(like), 0)
        self.every, self.observable = config.observe_every, observable
        self.variance_every = config.functional_variance
        self.variance = FunctionalVariance(problem, like) if self.variance_every else None
        self.sizes = torch.zeros(3, len(like), dtype=torch.float64, device=like.device)
        self.looks = 0
        self.loss = torch.zeros(len(like), dtype=torch.float64, device=like.device)
        self.loss_weight = 0.0

    def fresh(self) -> Observers:
        """The same, with nothing seen."""
        return Observers(*self._made_of)

    def due(self, step: int) -> bool:
        """Whether `look` or `size` would do anything at this step."""
        if step < 0:
            return False
        every = [SIZES_EVERY]
        if self.variance is not None and self.variance_every:
            every.append(self.variance_every)
        if self.observable is not None:
            every.append(self.every)
        return any(step % k == 0 for k in every)

    def look(self, step: int, delta: Tensor, weight: float) -> None:
        """step: counted from the end of burn-in; nothing happens before.  delta: [C, D] before the step."""
        if step < 0:
            return
        if step % SIZES_EVERY == 0:
            self.looks += 1
        if self.variance is not None and self.variance_every and step % self.variance_every == 0:
            self.variance.add(delta, weight)
        if self.observable is not None and step % self.every == 0:
            self.loss += weight * self.observable.excess_loss_and_grad(delta)[0]
            self.loss_weight += weight

    def size(self, step: int, energy: Energy, rows: slice = slice(None)) -> None:
        """The sizes of the terms of a step, of the chains `rows` that `energy` is of; before the step, after `look`."""
        if step < 0 or step % SIZES_EVERY:
            return
        distance, gradient = energy.delta.square().sum(dim=1), energy.loss_grad.square().sum(dim=1)
        distance, gradient = distance.double(), gradient.double()
        localization, n_beta = energy.localization.squeeze(1), energy.n_beta.squeeze(1)
        sizes = [distance, n_beta * n_beta * gradient, localization * localization * distance]
        self.sizes[:, rows] += torch.stack(sizes)

    def fluctuation(self, rows: slice, living: np.ndarray, beta: float) -> Mean:
        return Mean() if self.variance is None else self.variance.fluctuation(rows, living, beta)

    def observed(self, rows: slice, living: np.ndarray, n_beta: float) -> Mean:
        """nβ·mean of the second potential's excess loss."""
        if self.observable is None or self.loss_weight == 0:
            return Mean()
        per_chain = n_beta * self.loss[rows].cpu().numpy() / self.loss_weight
        return _over(np.where(living, per_chain, np.nan))

    def term_sizes(self, rows: slice, living: np.ndarray, step_size: float, dim: int) -> dict[str, float]:
        """Root mean squares over steps and living chains: the distance from w0, and the three terms of a step in the
        half convention, (ε/2)·nβ‖∇L‖, (ε/2)·γ‖w − w0‖ and √(ε·D).

        step_size: nan where it belongs to other coordinates than w: the terms are then left out."""
        if self.looks == 0 or not living.any():
            return {}
        mean = (self.sizes[:, rows] / self.looks)[:, torch.as_tensor(living, device=self.sizes.device)].mean(dim=1)
        distance, gradient, localization = mean.sqrt().tolist()
        if not math.isfinite(step_size):
            return {"distance": distance}
        return {
            "distance": distance,
            "gradient_term": step_size / 2 * gradient,
            "localization_term": step_size / 2 * localization,
            "noise_term": math.sqrt(step_size * dim),
        }


def _over(parts: np.ndarray) -> Mean:
    good = parts[np.isfinite(parts)]
    if len(good) == 0:
        return Mean(parts=parts)
    se = float(np.std(good, ddof=1) / math.sqrt(len(good))) if len(good) > 1 else math.nan
    return Mean(float(good.mean()), se, parts)
