"""Step sizes of samplers that reject: held at a mean acceptance."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.engine.adapting.step_size import StepSize
from llc_core.groups import Groups
from llc_core.samplers.base import Sampler
from llc_core.types import State

DECAY = 0.6
"""Step number t changes log ε by (t + 1)^−DECAY times what it seems to be off by: between ½ and 1, as Robbins & Monro ask."""
SLOPE = 2.0
"""The acceptance a falls with log ε by about SLOPE·a·(1 − a). In many dimensions a = 2Φ(−cε^k), with k = 2 for leapfrog trajectories, 3/2 for MALA
and 1 without a gradient (Roberts & Rosenthal 1998; Beskos et al. 2013): at their targets the slope is .39, .58 and .47, and this says .32,
.49 and .36."""
AVERAGED = 0.5
"""From this share of the burn-in on log ε is averaged, and the mean is what stays (Polyak & Juditsky 1992)."""


class Acceptance:
    """log ε ← log ε + (t + 1)^−DECAY·(mean acceptance of the group's chains − target) / slope, at every step of the burn-in.

    The slope is that of the acceptance at its target: without it trajectories, whose acceptance is at most .2 above their target,
    would take hundreds of steps to lengthen, and a short burn-in would end at .9.
    All chains of a group share one step: each would else sample at a pace of its own.
    """

    def __init__(self, target: float, largest: float, groups: Groups, step_size: StepSize, burn_in: int):
        self.target, self.largest, self.groups, self.step_size = target, largest, groups, step_size
        self.burn_in = burn_in
        self._gain = 1 / (SLOPE * target * (1 - target))
        self._sums: Tensor | None = None
        self._trials: Tensor | None = None
        self._logs: Tensor | None = None
        self._count = 0

    @classmethod
    def of(cls, sampler: Sampler, groups: Groups, step_size: StepSize, burn_in: int) -> Acceptance | None:
        """None where the step does not follow the acceptance."""
        if sampler.target_acceptance is None or not step_size.automatic:
            return None
        return cls(sampler.target_acceptance, sampler.largest_step, groups, step_size, burn_in)

    def follow(self, step: int, state: State) -> None:
        """Before step number `step`, with the acceptance of the step before; at the end of the burn-in the step is settled."""
        trials, sums = state["trials"], state["accepted"] * state["trials"]
        if self._sums is not None and self._trials is not None:
            tried = trials - self._trials
            if bool((tried > 0).all()):  # chains that were started again have tried nothing
                rate = (sums - self._sums) / tried
                off = self.groups.mean(rate) - self.target
                grown = self.step_size.current * torch.exp(self._gain * off * (step + 1.0) ** -DECAY)
                self.step_size.current = grown.clamp(max=self.largest)
        self._sums, self._trials = sums, trials
        if step >= AVERAGED * self.burn_in:
            now = self.step_size.current.log()
            self._logs = now if self._logs is None else self._logs + now
            self._count += 1
        if step == self.burn_in and self._logs is not None:
            self.step_size.current = (self._logs / self._count).exp()
