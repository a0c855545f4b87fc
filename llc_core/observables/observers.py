"""All that a run watches along its chains beside the loss, in memory that does not grow with the steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from llc_core import groups
from llc_core.config import RunConfig
from llc_core.observables.base import Mean, Observable, build
from llc_core.observables.functional_variance import FunctionalVariance
from llc_core.observables.look import Group, Look, Moment, RunShape
from llc_core.observables.second_loss import SecondLoss
from llc_core.observables.spreading import Travel
from llc_core.observables.term_sizes import TermSizes
from llc_core.observables.visits import Visits
from llc_core.potentials.base import Potential
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import build as build_sampler
from llc_core.samplers.registry import numeric_fields
from llc_core.types import Energy


def samplers_of(config: RunConfig) -> tuple[Sampler, ...]:
    """The sampler of each setting of the grid; none where the configuration leaves it open."""
    if config.sampler is None:
        return ()
    sampler = build_sampler(config.sampler)
    fields = numeric_fields(sampler)
    return tuple(sampler.replace(**{k: v for k, v in each.items() if k in fields}) for each in groups.settings(config))


def _first_kept(config: RunConfig) -> int:
    """Steps after burn-in of the run as it was first begun: looks must not depend on whether it went on."""
    if config.continued_from is not None:
        return config.continued_from["steps"] - config.continued_from["burn_in"]
    return 0 if config.steps is None else config.steps - config.burn_in_steps(config.steps)


class Observers:
    """The observables of a run: term sizes and travel always, others where the configuration asks for them.

    The driver calls `look` before each step and `watch` when the step's energy is known, before the chains move.
    """

    def __init__(
        self,
        config: RunConfig,
        problem: Potential,
        second: Potential | None,
        like: Tensor,
        settings: int = 1,
        further: Sequence[Observable] = (),
    ):
        """second: the run's second potential, if it has one.  like: [C, D] of the states.  settings: S.
        further: what else is shown the chains, and read by who brought it."""
        self.sizes, self.travel = TermSizes(), Travel.over(_first_kept(config))
        self.variance = FunctionalVariance(config.functional_variance) if config.functional_variance else None
        self.second = None if second is None else SecondLoss(config.observe_every)
        self.visits = None if config.histogram is None else Visits(**config.histogram)
        self.asked = [build(description) for description in config.observables]
        own = (self.sizes, self.travel, self.variance, self.second, self.visits)
        self._all: list[Observable] = [*(each for each in own if each is not None), *self.asked, *further]
        # In the step those that want to see its energy, and before it those that want to see all chains together.
        self._within = [each for each in self._all if each.in_step]
        self._before = [each for each in self._all if not each.in_step]
        self._common = math.gcd(*(each.every for each in self._all))
        self._follows = any(each.needs_living for each in self._all)
        self._setup = RunShape(problem, second, len(like), settings, like.dtype, like.device, samplers_of(config))
        self._ones = self._setup.zeros(len(like)) + 1
        self._living = torch.ones(len(like), dtype=torch.bool, device=like.device)
        self.fresh()

    def fresh(self) -> None:
        """Forget all that was seen; which chains have died is kept."""
        for each in self._all:
            each.begin(self._setup)

    def due(self, step: int) -> bool:
        """Whether `look` or `watch` would do anything at this step, counted from the end of burn-in."""
        if self._follows:
            return True
        return step >= 0 and step % self._common == 0 and any(step % each.period == 0 for each in self._all)

    def look(self, moment: Moment, delta: Tensor) -> None:
        """delta: [C, D] of all chains before the step."""
        self._show(self._before, moment, delta, slice(None), None)

    def watch(self, moment: Moment, energy: Energy, rows: slice = slice(None)) -> None:
        """energy: of the chains `rows`, before their step."""
        if self._follows and moment.settled:
            self._living[rows] &= torch.isfinite(energy.excess_loss)
        self._show(self._within, moment, energy.delta, rows, energy)

    def _show(
        self, observables: list[Observable], moment: Moment, delta: Tensor, rows: slice, energy: Energy | None
    ) -> None:
        step = moment.step
        if step < 0:
            return
        due = [each for each in observables if step % each.period == 0]
        if not due:
            return
        weights = self._ones if moment.weights is None else moment.weights.to(self._ones)
        if rows != slice(None):
            weights = weights[rows]
        living = self._living[rows] if self._follows else None
        seen = Look(step, moment.share, rows, delta, weights, self._setup.problem, energy, living)
        for each in due:
            each.look(seen)

    def fluctuation(self, group: Group) -> Mean:
        """ν̂; nan where it was not asked for."""
        return Mean() if self.variance is None else self.variance.mean(group)

    def observed(self, group: Group) -> Mean:
        """nβ·mean of the second potential's excess loss; nan where there is none."""
        return Mean() if self.second is None else self.second.mean(group)

    def term_sizes(self, group: Group) -> dict[str, float]:
        return self.sizes.in_use(group)

    def counts(self) -> dict[str, np.ndarray]:
        """{"histogram": [S, count + 2]} where the configuration has one: what snapshots show while the run goes on."""
        return {} if self.visits is None else {"histogram": self.visits.counts()}

    def read(self, group: Group) -> dict[str, Mapping[str, np.ndarray]]:
        """What the configuration's `observables` saw of a group, by their names."""
        return {each.name: each.read(group) for each in self.asked}
