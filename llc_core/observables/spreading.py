"""Whether the chains have spread: along how many directions they have not, from the gradients that their steps take anyway, and
whether they still travel away from w0, in memory that does not grow with the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, dtype, stack

from llc_core.diagnostics.convergence import plateau_drift
from llc_core.observables.base import Observable
from llc_core.observables.look import Group, Look, RunShape

AT_ONCE = 1 << 20
"""Numbers of all chains that are multiplied at once: what that holds does not grow with D."""


class SpreadSeen(NamedTuple):
    """Of a group's living chains at the looks, [looks, C'].

    unspread: D − δ·∇U.  pull: γ‖δ‖².  loss: nβ·ΔL, on the batch of the step.  weights: of the states.
    """

    unspread: np.ndarray
    pull: np.ndarray
    loss: np.ndarray
    weights: np.ndarray


class SpreadCount(Observable):
    """D − δ·∇U along the chains, where δ = w − w0; its mean is 0 under the target exp(−U) (Stein 1972, with the field δ).

    ∇U may be of a minibatch. The batch of a step is drawn when the chains are already at δ, and every row is equally likely in it,
    so that its gradient there has the gradient of all data as its mean whatever δ is, and δ·∇U keeps its mean too. What batches
    add is chance, which is in the error. (With data that stream in epochs the rows that are left depend on those that were seen;
    that is as weak as the chains' memory of single batches.) So the count costs no gradient of its own.

    Where chains are hotter than the target, E[δ·∇U] is larger: on a quadratic by twice what heat adds to nβ·ΔL.
    Chains may be shown one at a time and in threads: each writes to its own column.
    """

    needs_energy = True

    def begin(self, setup: RunShape) -> None:
        self._setup = setup
        self._rows: dict[int, Tensor] = {}

    def look(self, seen: Look) -> None:
        energy, wide = seen.energy, self._setup.wide
        n_beta, localization = (part.squeeze(1).to(wide) for part in (energy.n_beta, energy.localization))
        pull = localization * _dot(energy.delta, energy.delta, wide)
        product = n_beta * _dot(energy.delta, energy.loss_grad, wide) + pull
        if energy.prior_grad is not None:
            product += _dot(energy.delta, energy.prior_grad, wide)
        row = self._rows.setdefault(seen.step, self._setup.zeros(4, self._setup.chains))
        row[:, seen.rows] = stack(
            (self._setup.problem.dim - product, pull, n_beta * energy.excess_loss.to(wide), seen.weights.to(wide))
        )

    def seen(self, group: Group) -> SpreadSeen:
        """What was seen of the group's living chains that weigh something."""
        if not self._rows:
            return SpreadSeen(*np.zeros((4, 0, 0)))
        rows = stack([self._rows[step] for step in sorted(self._rows)])[:, :, group.rows].double().cpu().numpy()
        good = group.living & (rows[:, 3].sum(axis=0) > 0)
        return SpreadSeen(*rows[:, :, good].transpose(1, 0, 2))


def _dot(one: Tensor, other: Tensor, wide: dtype) -> Tensor:
    """Σ over parameters of [C, D] · [C, D], in parts, [C]."""
    width = max(1, AT_ONCE // len(one))
    total = one.new_zeros(len(one), dtype=wide)
    for left, right in zip(one.split(width, 1), other.split(width, 1), strict=True):
        total += (left * right).sum(dim=1, dtype=wide)
    return total


LEAST_ROWS = 100
MOST_ROWS = 256
"""Twice as far apart from then on, every second row is kept."""


@dataclass
class Travel(Observable):
    """Rows of ‖w − w0‖² of all chains, evenly spaced over the steps since burn-in. A loss may stand while chains, begun at w0,
    still spread along its valleys, where λ̂ is another."""

    every: int = 10

    @classmethod
    def over(cls, steps: int) -> Travel:
        """For a run that keeps so many steps: a short one is looked at more often."""
        return cls(max(1, min(cls.every, steps // LEAST_ROWS)))

    def begin(self, setup: RunShape) -> None:
        self._wide = setup.wide
        self._rows: list[Tensor] = []
        self._stride = 1

    @property
    def period(self) -> int:
        return self.every * self._stride

    def look(self, seen: Look) -> None:
        if seen.step % self.period:
            return
        # A norm, since it needs no second tensor of the size of the states.
        self._rows.append(torch.linalg.vector_norm(seen.delta, dim=1).to(self._wide).square())
        if len(self._rows) == MOST_ROWS:
            self._rows = self._rows[::2]
            self._stride *= 2

    def drift(self, group: Group) -> tuple[float, float]:
        """By what share of its mean the squared distance rose from one half to the other, and the error of that; nan and nan
        where there is too little to tell."""
        if not self._rows:
            return np.nan, np.nan
        rows = torch.stack(self._rows)[:, group.rows].double().cpu().numpy()[:, group.living]
        mean = float(rows.mean()) if rows.size and np.isfinite(rows).all() else 0.0
        if not mean > 0:
            return np.nan, np.nan
        rise, error = plateau_drift(rows)
        return rise / mean, error / mean

    def in_use(self, group: Group) -> dict[str, float]:
        """The drift under the names that an estimate's diagnostics have."""
        return dict(zip(("distance_drift", "distance_drift_se"), self.drift(group), strict=True))

    def read(self, group: Group) -> dict[str, np.ndarray]:
        return {name: np.array(value) for name, value in self.in_use(group).items()}
