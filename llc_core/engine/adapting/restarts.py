"""Groups of chains that blew up while the step is automatic are started again."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.engine.stepping.base import Stepper
from llc_core.groups import Groups
from llc_core.types import State

FAR, FAR_PER_PARAMETER, FAR_PER_START = 1000.0, 20.0, 2.0
"""At equilibrium nβ·ΔL is about λ ≤ D/2. Far above that, and above where the chains began, the integrator has left its
stable region."""


class Restarts:
    """Keeps a checkpoint of the chains, and the place where they began.

    A group starts again from the checkpoint, at rest. The checkpoint may already lie on a diverging path; if the group
    blows up again before the next one, it goes back to the chain's first point.
    """

    def __init__(self, stepper: Stepper, groups: Groups):
        self.stepper, self.groups = stepper, groups
        self._n_beta = stepper.target.n_beta
        self._began: Tensor | None = None
        self._checkpoint: State | None = None
        self._first: State | None = None
        self._failures = torch.zeros_like(self._n_beta)

    def begin(self, state: State) -> None:
        """The chains are where they begin."""
        self._checkpoint = self._first = self.stepper.save(state)

    def see_first(self, loss: Tensor) -> None:
        """loss: ΔL [C] where the chains began; later ones are ignored."""
        if self._began is None:
            self._began = (self._n_beta.squeeze(1) * loss).abs().nan_to_num(0.0, 0.0, 0.0)

    def save(self, state: State) -> None:
        self._checkpoint = self.stepper.save(state)

    def end(self) -> None:
        """Nothing starts again from now on."""
        self._checkpoint = self._first = None

    def blown_up(self, loss: Tensor, dim: int) -> Tensor | None:
        """Which chains belong to groups that blew up, [C, 1], from the last ΔL [C]; None: none does."""
        assert self._began is not None
        ceiling = FAR_PER_PARAMETER * dim + FAR + FAR_PER_START * self._began
        bad = ~(self._n_beta.squeeze(1) * loss.abs() < ceiling)  # true for a loss that is not a number
        if not bool(bad.any()):
            self._failures = torch.zeros_like(self._failures)
            return None
        again = self.groups.any(bad).unsqueeze(1)
        self._failures = torch.where(again, self._failures + 1, torch.zeros_like(self._failures))
        return again

    def go_back(self, state: State, again: Tensor) -> State:
        """The state in which the chains `again`, [C, 1], have started again."""
        return self.stepper.restart(state, again, self._failures > 1, self._checkpoint, self._first)
