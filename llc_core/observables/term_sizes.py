"""The sizes of a step's terms, and the distance from w0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from llc_core.observables.base import Observable
from llc_core.observables.look import Group, Look, RunShape
from llc_core.observables.registry import register


@register
@dataclass
class TermSizes(Observable):
    """Root mean squares over steps and living chains: the distance from w0, and the three terms of a step in the half
    convention, (ε/2)·nβ‖∇L‖, (ε/2)·γ‖w − w0‖ and √(ε·D).

    Steps count alike, however large they are.
    """

    needs_energy = True

    every: int = 50
    """At this distance they cost next to nothing."""

    def begin(self, setup: RunShape) -> None:
        self.dim = setup.problem.dim
        self.sizes = setup.zeros(3, setup.chains)
        self.weight = setup.zeros(setup.chains)

    def look(self, seen: Look) -> None:
        energy = seen.energy
        distance, gradient = energy.delta.square().sum(dim=1), energy.loss_grad.square().sum(dim=1)
        distance, gradient = distance.to(self.sizes.dtype), gradient.to(self.sizes.dtype)
        localization, n_beta = energy.localization.squeeze(1), energy.n_beta.squeeze(1)
        sizes = [distance, n_beta * n_beta * gradient, localization * localization * distance]
        self.sizes[:, seen.rows] += torch.stack(sizes) * seen.chain_weights
        self.weight[seen.rows] += seen.chain_weights

    def in_use(self, group: Group) -> dict[str, float]:
        """distance, gradient_term, localization_term and noise_term; the distance alone where step_size is nan; empty
        where nothing was seen."""
        weight = self.weight[group.rows]
        good = torch.as_tensor(group.living, device=weight.device) & (weight > 0)
        if not bool(good.any()):
            return {}
        mean = (self.sizes[:, group.rows] / weight)[:, good].mean(dim=1)
        distance, gradient, localization = mean.sqrt().tolist()
        if not math.isfinite(group.step_size):
            return {"distance": distance}
        return {
            "distance": distance,
            "gradient_term": group.step_size / 2 * gradient,
            "localization_term": group.step_size / 2 * localization,
            "noise_term": math.sqrt(group.step_size * self.dim),
        }

    def read(self, group: Group) -> dict[str, np.ndarray]:
        return {name: np.array(size) for name, size in self.in_use(group).items()}
