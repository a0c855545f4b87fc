"""Whether the chains still travel away from w0: the squared distance along the run, in memory that does not grow with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.diagnostics.convergence import plateau_drift
from llc_core.observables.base import Observable
from llc_core.observables.look import Group, Look, RunShape

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
