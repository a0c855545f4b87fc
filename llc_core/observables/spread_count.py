"""How many directions the chains have not spread along, from the gradients that their steps take anyway."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torch import Tensor, dtype, stack

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
