"""The loss of a second problem along the chains of the first: on the data of another distribution, for example."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llc_core.observables.base import Mean, Observable, register
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.base import Potential


@register
@dataclass
class SecondLoss(Observable):
    """nβ times the mean excess loss of the run's second potential (`estimate(observable=…)`): a data-refined coefficient."""

    every: int = 10

    def check(self, problem: Potential, second: Potential | None) -> None:
        if second is None:
            raise ValueError("SecondLoss needs a second problem; give one as observable.")

    def begin(self, setup: RunShape) -> None:
        assert setup.second is not None
        self.second = setup.second
        self.loss, self.weight = setup.zeros(setup.chains), setup.zeros(setup.chains)

    def look(self, seen: Look) -> None:
        loss = self.second.excess_loss(seen.delta)
        self.loss[seen.rows] += seen.weights.to(loss) * loss
        self.weight[seen.rows] += seen.weights

    def mean(self, group: Group) -> Mean:
        """Over the living chains, with parts [C']; nan before the first look."""
        weight = self.weight[group.rows].cpu().numpy()
        good = group.living & (weight > 0)
        if not weight.any():
            return Mean()
        per_chain = np.full(len(weight), np.nan)
        per_chain[good] = group.n_beta * self.loss[group.rows].cpu().numpy()[good] / weight[good]
        return Mean.of(per_chain)

    def read(self, group: Group) -> dict[str, np.ndarray]:
        return self.mean(group).arrays()
