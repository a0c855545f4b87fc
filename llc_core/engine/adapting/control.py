"""When during burn-in something is measured or adapted. After burn-in everything is frozen."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.engine.adapting.acceptance import Acceptance
from llc_core.engine.adapting.coordinate_changes import CoordinateChanges
from llc_core.engine.adapting.restarts import Restarts
from llc_core.engine.adapting.schedule import COORDINATE_CHANGES, WATCH_EVERY, is_due
from llc_core.engine.adapting.step_limit import StepLimit
from llc_core.engine.adapting.step_size import StepSize
from llc_core.engine.stepping.base import Stepper
from llc_core.groups import Groups
from llc_core.samplers.base import ADAPTING_SHARE
from llc_core.types import State


class Control:
    """Lets the step size follow the curvature, changes the coordinates, and starts chains again that blew up.

    burn_in: in so many first steps.  random: for the directions in which the curvature is looked at.
    notes: sentences for the user are added to it.
    """

    def __init__(
        self,
        stepper: Stepper,
        groups: Groups,
        step_size: StepSize,
        burn_in: int,
        random: torch.Generator,
        notes: list[str],
    ):
        self.step_size, self.burn_in, self.notes = step_size, burn_in, notes
        self._dim = stepper.target.potential.dim
        self._coordinates = CoordinateChanges(stepper.target, groups, burn_in, stepper.sampler.adapts_coordinates)
        if self._coordinates.left:
            step_size.wait_for_coordinates()
        self._limit = StepLimit(stepper.curvature(random), stepper.sampler, groups, step_size, stepper.largest_heat)
        self._acceptance = Acceptance.of(stepper.sampler, groups, step_size, burn_in)
        self._restarts = Restarts(stepper, groups)
        self._metric_freezes_at = int(ADAPTING_SHARE * burn_in)
        self._origin = 0
        self.rescues_until = burn_in if step_size.automatic else 0
        """Chains that blow up in steps before this one start again; they are not dead."""

    def start(self, state: State) -> None:
        """Measure at w0 and set the first automatic step. A step that was given is measured when somebody asks (`refresh`)."""
        if self.step_size.automatic:
            self._limit.begin(state)
            self._restarts.begin(state)

    def check(self, step: int, state: State, loss: Tensor | None) -> State:
        """Before step number `step`: measure and adapt when it is time to. Returns the state to go on from.

        loss: ΔL [C] before the last step; None before the first.
        """
        if loss is not None and step <= self.burn_in:
            self._restarts.see_first(loss)
            if self._acceptance is not None:
                self._acceptance.follow(step, state)
            if step % WATCH_EVERY == 0 or step == self.burn_in:
                state = self._look(step, state, loss)
        if step == self._metric_freezes_at:
            self.step_size.end_metric_adaptation()
        return state

    def _look(self, step: int, state: State, loss: Tensor) -> State:
        automatic, last = self.step_size.automatic, step == self.burn_in
        if automatic:
            state = self._start_again(step, state, loss)
        if not is_due(step - self._origin) and not last:
            return state
        before, state = state, self._coordinates.look(step, state)
        changed = state is not before
        if changed:
            self._origin = step
            self._limit.curvature.forget()
        if automatic or last:
            self._limit.measure(state, thorough=changed or not automatic)
        late = step >= COORDINATE_CHANGES[-1] * self.burn_in
        if late:
            self._limit.remember()
        if automatic:
            if self._acceptance is None:
                self._limit.follow(state, late, changed)
            self._restarts.save(state)
            if not self._coordinates.left and self.step_size.coordinates_are_adapted():
                self.rescues_until = step
        if last:
            self._limit.curvature.release()
            self._restarts.end()
        return state

    def _start_again(self, step: int, state: State, loss: Tensor) -> State:
        again = self._restarts.blown_up(loss, self._dim)
        if again is None:
            return state
        self._limit.back_off(again)
        self.notes.append(f"Step {step}: the chain overflowed; step size halved and the block started again.")
        return self._restarts.go_back(state, again)

    def refresh(self, state: State) -> None:
        """Measure the limit where the chains are now, for a step size that was given and does not follow it."""
        if not self.step_size.automatic:  # what is seen must not depend on how often it was looked at
            with self._limit.curvature.unchanged():
                self._limit.measure(state, thorough=True)

    def stable_step(self) -> Tensor:
        """The smallest limit known for the part of the run that is averaged over, [C, 1]."""
        return self._limit.stable_step()
