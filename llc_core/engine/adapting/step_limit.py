"""The largest stable step size, and how an automatic step follows it."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from llc_core.engine.adapting.step_size import StepSize
from llc_core.engine.curvature import Curvature
from llc_core.groups import Groups
from llc_core.samplers.base import Sampler
from llc_core.types import State

GROWTH = 1.5
"""Largest growth of an automatic step per check: at a singular point the curvature starts near 0 and rises as the
chain moves away, so the first limit must not be believed."""
FIRST_ITERATIONS, ITERATIONS = 12, 3
FIRST_RISE = 0.05
"""Where they are costly, the first looks end where an iteration adds no more than this share: the step is looked at again soon."""
CAUTION = 0.3
"""After a change of coordinates the step starts at this share of the usual one, since the chain now moves into new
directions, and grows back as the curvature there is seen."""
REFUSED, TAKEN = 0.2, 0.9
"""Acceptance below which an automatic step is halved, and above which it may grow back. Where the loss is nearly flat at
w0 the curvature there allows trajectories that end on a wall; all are rejected, and the chain would never see another place."""


class StepLimit:
    """Measures the stability limit and moves the step size below it. All chains of a group have one limit.

    limit: [C, 1], where the chains were last looked at; inf before.
    late: the smallest of those seen in the last part of the burn-in.
    heat: by what the force is multiplied at most, so that the limit is divided by it.
    """

    def __init__(self, curvature: Curvature, sampler: Sampler, groups: Groups, step_size: StepSize, heat: float = 1.0):
        self.heat = heat
        self.curvature, self.sampler, self.groups, self.step_size = curvature, sampler, groups, step_size
        self.curvature.rough = step_size.automatic
        self.limit = torch.full_like(step_size.current, math.inf)
        self.late = torch.full_like(step_size.current, math.inf)
        self._backoff = torch.ones_like(step_size.current)
        self._tried: tuple[Tensor, Tensor] | None = None

    def measure(self, state: State, thorough: bool, rise: float = 0.0) -> None:
        """thorough: where no look before makes a few iterations enough.  rise: as of `top_curvature`."""
        if self.sampler.needs_conditionals:  # there is no step to limit
            return
        hp = self.step_size.hp
        size = self.curvature.at(state, hp, FIRST_ITERATIONS if thorough else ITERATIONS, rise)
        if not self.step_size.automatic:
            self.curvature.release()
        limit = self.sampler.stable_step(size.clamp_min(1e-30), hp)
        limit = torch.where(torch.isfinite(size), limit, torch.full_like(limit, math.inf))
        self.limit = self.groups.smallest(limit) / self.heat

    def begin(self, state: State) -> None:
        """The first automatic step, from the limit at w0 and the one a typical distance away."""
        rise = FIRST_RISE if self.curvature.target.potential.costly_curvature else 0.0
        self.measure(state, thorough=True, rise=rise)
        hp = self.step_size.hp
        size = self.curvature.away(state, hp, FIRST_ITERATIONS, rise)
        first = torch.minimum(self.groups.smallest(self.sampler.stable_step(size, hp)), self.limit)
        self.step_size.current = self.sampler.safety * first

    def remember(self) -> None:
        """The limit just measured is one of the last part of the burn-in."""
        self.late = torch.minimum(self.late, self.limit)

    def follow(self, state: State, late: bool, new_coordinates: bool) -> None:
        """Move the automatic step towards its share of the limit. late: in the last part of the burn-in."""
        grown = self._growth(state) * self.step_size.current
        wished = self.sampler.safety * self._backoff * (self.late if late else self.limit)
        self.step_size.current = CAUTION * wished if new_coordinates else torch.minimum(wished, grown)

    def back_off(self, rows: Tensor) -> None:
        """The step of these chains, [C, 1], was too large: halve it, and what it may grow to."""
        self._backoff = torch.where(rows, self._backoff / 2, self._backoff)
        self.step_size.halve(rows)

    def stable_step(self) -> Tensor:
        """The smallest limit known for the part of the run that is averaged over, [C, 1]."""
        return torch.minimum(self.late, self.limit)

    def _growth(self, state: State) -> Tensor | float:
        """By what the step may grow at most, from the acceptance since the last check where the sampler has one."""
        accepted, trials = state.get("accepted"), state.get("trials")
        if accepted is None or trials is None:
            return GROWTH
        before, self._tried = self._tried, (accepted * trials, trials)
        if before is None:
            return GROWTH
        tried = trials - before[1]
        # A block that was started again has tried nothing since: it counts as neither refused nor taken.
        rate = torch.where(tried > 0, (accepted * trials - before[0]) / tried.clamp_min(1), (REFUSED + TAKEN) / 2)
        least = self.groups.smallest(rate)
        refused = least < REFUSED
        self._backoff = torch.where(refused, self._backoff / 2, self._backoff)
        self._backoff = torch.where(least > TAKEN, (GROWTH * self._backoff).clamp_max(1.0), self._backoff)
        return torch.full_like(least, GROWTH).masked_fill_(refused, 0.5)
