"""The density that the samplers see: exp(−U) in coordinates that may be adapted during burn-in.

A constant linear change of variables δ = R·z turns any sampler into its preconditioned version with the constant
metric G = R·Rᵀ (for Langevin dynamics with momentum: a mass matrix), and leaves the law of δ exactly as it was. So
samplers never know of it: they move z, and what they see is U(R·z).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from llc_core.engine.coordinates import Coordinates, KroneckerCoordinates, PriorCoordinates
from llc_core.groups import Groups
from llc_core.potentials.base import Batch, Factors, Potential
from llc_core.types import Energy, Hp


@dataclass
class Target:
    """U = nβ·ΔL + (γ/2)‖δ‖² − log φ of a potential, for C chains, in the samplers' coordinates.

    n_beta, localization: [C, 1].
    """

    potential: Potential
    n_beta: Tensor
    localization: Tensor
    coordinates: Coordinates | None = None

    def of(self, row: slice) -> Target:
        """The same for one chain; without adapted coordinates."""
        assert self.coordinates is None
        return Target(self.potential, self.n_beta[row], self.localization[row])

    def delta(self, z: Tensor) -> Tensor:
        return z if self.coordinates is None else self.coordinates.to_delta(z)

    def position(self, delta: Tensor) -> Tensor:
        """z of δ, [C, D]."""
        return delta if self.coordinates is None else self.coordinates.from_delta(delta)

    @property
    def prior_precision(self) -> Tensor:
        """Of the Gaussian part of the target beside the loss, γ among it: [C, D], or [C, 1] where it is γ alone."""
        own = self.potential.prior_precision(self.n_beta)
        return self.localization if own is None else self.localization + own

    def use_prior_coordinates(self) -> None:
        """Samplers move in z with the prior N(0, I), for good."""
        self.coordinates = PriorCoordinates(self.prior_precision)

    def evaluate(
        self,
        z: Tensor,
        batch: Batch | None,
        metric_batch: Batch | Literal["full"] | None = None,
        probe: torch.Generator | None = None,
    ) -> Energy:
        """The energy at z, [C, D]. metric_batch: what the metric's own gradient is taken on; None: it has none.

        probe: random numbers for the Hessian's diagonal; None: the diagonal is not wanted.
        """
        delta = self.delta(z)
        loss, grad = self.potential.excess_loss_and_grad(delta, batch)
        prior, prior_grad = self.potential.prior_energy_and_grad(delta) or (None, None)
        if self.coordinates is None:
            metric_grad = diagonal = None
            if metric_batch is not None:
                on = None if metric_batch == "full" else metric_batch
                metric_grad = self.potential.excess_loss_and_grad(delta, on)[1]
            if probe is not None:
                diagonal = self.potential.hessian_diagonal(delta, batch, probe)
            return Energy(
                loss,
                grad,
                delta,
                self.n_beta,
                self.localization,
                metric_grad=metric_grad,
                hessian_diagonal=diagonal,
                prior_energy=prior,
                prior_grad=prior_grad,
                prior_prox=None if prior is None else partial(self.potential.prior_prox, delta),
            )
        total = (self.localization * delta).addcmul_(self.n_beta, grad)
        if prior_grad is not None:
            total += prior_grad
        pulled = self.coordinates.pull_back(total)
        return Energy(loss, grad, delta, self.n_beta, self.localization, pulled, None, None, prior, prior_grad)

    def curvature(self, z: Tensor, vector: Tensor) -> Tensor:
        """∇²U·vector in z, [C, D]."""
        if self.coordinates is None:
            return self.n_beta * self.potential.hvp(z, vector) + self.prior_precision * vector
        move = self.coordinates.to_delta(vector)
        image = self.n_beta * self.potential.hvp(self.delta(z), move) + self.prior_precision * move
        return self.coordinates.pull_back(image)

    def recoordinate(self, z: Tensor, factors: list[Factors], groups: Groups) -> Tensor:
        """Change to coordinates made from `factors`; returns the new z of the same points."""
        delta = self.delta(z)
        self.coordinates = KroneckerCoordinates(factors, self.n_beta, self.localization, groups, delta)
        return self.coordinates.from_delta(delta)


def hp_of(hp: Hp, row: slice) -> Hp:
    """The hyperparameters of some of the chains, beside `Target.of`."""
    return Hp(**{name: value[row] if isinstance(value, Tensor) else value for name, value in vars(hp).items()})
