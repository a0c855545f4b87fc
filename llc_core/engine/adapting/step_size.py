"""The step size of every chain: the one place where it is kept."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.engine.resolve import OF_TARGET
from llc_core.engine.setup import Setup
from llc_core.samplers import Sampler, hyperparameters
from llc_core.types import Hp


class StepSize:
    """Holds the step sizes [C, 1] and makes the hyperparameters of each step from them.

    `Control` moves `current` while `automatic` is true; everything else reads. Until the first look at the curvature an
    automatic step size is nan.

    hp: the hyperparameters with the present step size, before it decays.
    decay: step number t has (t + 1)^−decay times the step size.
    """

    def __init__(self, hp: Hp, automatic: bool, decay: float = 0.0):
        self.hp, self.automatic, self.decay = hp, automatic, decay
        self._given: Tensor | None = None

    @classmethod
    def begun(cls, sampler: Sampler, setup: Setup) -> StepSize:
        """That of a run which has not moved yet: the sampler's, or the grid's, or automatic."""
        hp = hyperparameters(sampler, setup.groups.count, setup.like, setup.problem.layers)
        for name in setup.config.grid:
            if name not in OF_TARGET:
                setattr(hp, name, setup.of_grid(name))
        return cls(hp, setup.auto_step, setup.config.step_decay)

    @property
    def current(self) -> Tensor:
        """The step sizes now, [C, 1], before they decay."""
        step_size: Tensor = self.hp.step_size
        return step_size

    @current.setter
    def current(self, values: Tensor) -> None:
        self.hp.step_size = values

    def share(self, step: Any) -> np.ndarray:
        """Size of step number `step` (a number or an array) in units of `current`; also its weight in averages."""
        return (np.asarray(step) + 1.0) ** -self.decay if self.decay else np.ones_like(step, dtype=float)

    def hp_at(self, step: int) -> Hp:
        """The hyperparameters of step number `step`."""
        if not self.decay:
            return self.hp
        hp = copy.copy(self.hp)
        hp.step_size = hp.step_size * float(self.share(step))
        return hp

    def wait_for_coordinates(self) -> None:
        """A step size given by hand is meant for the adapted coordinates: until they are there the step is automatic."""
        if not self.automatic:
            self._given, self.automatic = self.current, True

    def coordinates_are_adapted(self) -> bool:
        """Take the step size that was given by hand, if one waits; returns whether one did."""
        if self._given is None:
            return False
        self.current, self.automatic, self._given = self._given, False, None
        return True

    def halve(self, rows: Tensor) -> None:
        """rows: [C, 1], of which chains."""
        self.current = torch.where(rows, self.current / 2, self.current)

    def end_metric_adaptation(self) -> None:
        """Samplers with a metric that is to be frozen freeze it now."""
        self.hp.adapting = torch.zeros_like(self.hp.adapting)
