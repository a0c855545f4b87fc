"""What is watched along the chains beside the loss, in memory that does not grow with the steps.

Everything is looked at before a step, every k-th one after burn-in, and weighted by the step's size.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from llc_core.config import RunConfig
from llc_core.observables.base import Mean, _over
from llc_core.observables.functional_variance import FunctionalVariance
from llc_core.observables.term_sizes import SIZES_EVERY
from llc_core.potentials.base import Potential
from llc_core.types import Energy


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
