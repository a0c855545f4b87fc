"""The driver: steps all chains of all settings at once and yields snapshots; `llc_core.estimating` runs it to the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.cores import chains_on_cores
from llc_core.compute.precision import full_precision, tf32_if_asked
from llc_core.config import RunConfig
from llc_core.diagnostics.confirmation import LARGEST_DRAWN
from llc_core.engine.adapting.control import Control
from llc_core.engine.adapting.step_size import StepSize
from llc_core.engine.estimates import Estimates
from llc_core.engine.record import Record
from llc_core.engine.resolve import Resolved, resolve
from llc_core.engine.setup import Setup, stepping_mode
from llc_core.engine.stepping.choose import choose
from llc_core.engine.stepping.dissection import StepParts, dissect
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.types import Snapshot

BLOCK_SECONDS = 0.04
MAX_BLOCK = 4096
PARK_EVERY = 100


class Run:
    """A run in progress: iterate for snapshots, or `advance` by hand; `estimates()` at any time.

    Chains are stacked in the order of `llc_core.groups.Groups`: those of the first problem first, settings fastest. Numbers
    do not depend on how the run is cut into blocks.

    config: the complete configuration.  settings: of the grid.  count: how many chains there are in all.
    polish: how w0 was moved before the run; None: it was not.  total_steps, burn_in: of the whole run.  steps_done, seconds: so far.
    """

    @full_precision()
    def __init__(
        self, config: RunConfig | Resolved, problem: Potential | None = None, observable: Potential | None = None
    ):
        """config: what to run; what is resolved already is taken as it is, and then nothing may stand beside it."""
        resolved = config if isinstance(config, Resolved) else resolve(config, problem, observable)
        if resolved is config and (problem is not None or observable is not None):
            raise ValueError("A resolved configuration brings its problem and observable; pass nothing beside it.")
        if resolved.config.polish and resolved.polish is None:
            resolved = resolved.polished()
        setup = self._setup = Setup(resolved)
        self.config, self.problem, self.sampler = resolved.config, resolved.problem, resolved.sampler
        self.polish = resolved.polish
        self.settings, self.problems, self.count = setup.settings, setup.groups.problems, setup.groups.count
        self.device = setup.like.device
        self._mode = stepping_mode(resolved)
        self.total_steps, self.burn_in = setup.steps, setup.burn_in
        self.steps_done = 0
        self.seconds = 0.0

        self._notes: list[str] = []
        self._notes_sent = 0
        self._target = setup.target
        self._step_size = StepSize.begun(resolved.sampler, setup)
        self._stepper = choose(setup, self._notes)
        self._control = Control(
            self._stepper, setup.groups, self._step_size, setup.adapting, setup.streams["probe"], self._notes
        )
        home = setup.home()
        self._record = Record(setup, home, self._step_size)
        self._state = self._stepper.start(home, self._step_size.hp)
        self._started = False
        self._last_loss: Tensor | None = None
        self._block = 8

    @property
    def finished(self) -> bool:
        return self.steps_done >= self.total_steps or not self._record.losses.alive.any()

    def __iter__(self) -> Iterator[Snapshot]:
        """Snapshots of about 40 ms each until the run is finished."""
        while not self.finished:
            before = time.perf_counter()
            snapshot = self.advance(self._block)
            spent = time.perf_counter() - before
            wished = self._block * min(2.0, max(0.5, BLOCK_SECONDS / max(spent, 1e-6)))
            self._block = min(MAX_BLOCK, max(1, int(wished)))
            yield snapshot

    @full_precision()
    def advance(self, steps: int, look: Callable[[np.ndarray], None] | None = None, every: int = 1) -> Snapshot:
        """Do up to `steps` more steps of every chain and report them.

        look: called with `displacements` after every `every` of these steps and after the last one: cheaper than snapshots.
        """
        started = time.perf_counter()
        steps = min(steps, self.total_steps - self.steps_done)
        with self._mode(), tf32_if_asked(), chains_on_cores() if self._one_thread else nullcontext():
            if not self._started:
                self._control.start(self._state)
                self._started = True
            for done in range(1, steps + 1):
                self._step()
                if look is not None and (done % every == 0 or done == steps):
                    look(self.displacements)
        kept, kept_steps = self._record.flush(self._control.rescues_until)
        self.seconds += time.perf_counter() - started
        return self._snapshot(kept, kept_steps)

    @property
    def _one_thread(self) -> bool:
        """Whether torch's operations are too short to be shared: its threads would wait for each other."""
        drawn = self.sampler.needs_conditionals and self.problem.dim <= LARGEST_DRAWN
        return bool(self.problem.spreads_chains or drawn)

    @full_precision()
    def dissect(self) -> tuple[Snapshot, StepParts | None]:
        """One more step, as `advance(1)` does it, and what it was made of: see `llc_core.engine.stepping.dissection.dissect`."""
        with self._mode():
            snapshots: list[Snapshot] = []

            def step() -> Tensor:
                snapshots.append(self.advance(1))
                moved: Tensor = self._state["delta"]
                return moved

            if self.finished:
                return self.advance(1), None
            parts = dissect(self._stepper, step)
        return snapshots[0], parts

    def _step(self) -> None:
        step, last_loss = self.steps_done, self._last_loss
        state = self._control.check(step, self._state, last_loss)
        if last_loss is not None and step % PARK_EVERY == 0:
            state = self._stepper.park_dead(state, last_loss)
        watch = self._record.watch(step, forgiving=step < self._control.rescues_until)
        done = self._stepper.step(state, self._step_size.hp_at(step), step, watch)
        self._record.add(done)
        self._state, self._last_loss = done.state, done.loss
        self.steps_done += 1

    def go_on(self, steps: int | None = None) -> None:
        """Let a finished run go on for `steps` more steps; None: for as many as it has.

        Where at least half of the steps were burn-in, all that were done become burn-in, so that the estimate is made from
        the new steps alone; else burn-in ends where it did. Nothing is adapted again. `config` says what was done: a run
        that is begun with it has the same numbers. Raises ValueError where the run is not finished or has no living chain.
        """
        if not self._record.losses.alive.any():
            raise ValueError("All chains diverged, and more steps cannot help; reduce step_size.")
        if self.steps_done < self.total_steps:
            raise ValueError(f"The run has {self.total_steps - self.steps_done} steps left; let it finish first.")
        self.config = self.config.longer(steps)
        assert self.config.steps is not None
        total, burn_in = self.config.steps, self.config.burn_in_steps(self.config.steps)
        self._record.go_on(total, burn_in)
        if burn_in != self.burn_in:
            self._stepper.count_bursts_from(burn_in)
        self.total_steps, self.burn_in = total, burn_in

    # -- what there is to see -----------------------------------------------------------------------------------------

    @full_precision()
    def estimates(self, largest_drawn: int = LARGEST_DRAWN) -> list[Estimate]:
        """One Estimate per setting, from the steps done so far; of the first problem, then of the next, where there are
        several side by side.

        largest_drawn: estimates of a finished run on a deep linear network of up to so many parameters are compared with
        exact draws before they are trusted, which takes up to ten seconds at 50,000; 0: they are not.
        """
        with torch.no_grad(), tf32_if_asked():
            parts = self._setup, self._stepper, self._control, self._record
            found = Estimates(*parts, self.config, self._state, self.steps_done).all(self.seconds, largest_drawn)
        return found if self.polish is None else [replace(each, polished=self.polish) for each in found]

    def llc_per_chain(self, baseline: str | None = None) -> np.ndarray:
        """λ̂ of every chain so far, [C], by any baseline of `RunConfig`; nan during burn-in and for diverged chains."""
        return self._record.losses.llc(baseline)

    def lost_at(self) -> np.ndarray:
        """The first step, from 0, at which the loss of each chain was not finite, or with which its mean over a block of 100 steps was
        farther above that at w0 than a posterior's is near w0: nβ·ΔL > d + 40. [C]; nan: there was none. Where the loss has a ceiling,
        as that of classes, and γ is small, a posterior may lie beyond it too."""
        return self._record.losses.lost_at.copy()

    def rows_of(self, problem: int, index: int) -> slice:
        """The chains of one problem and setting."""
        return self._setup.groups.rows(problem, index)

    @property
    def state(self) -> Mapping[str, Tensor]:
        """The sampler's state now: tensors with the chain first; state["delta"] is w − w0 in the sampler's coordinates.

        The next `advance` replaces these tensors, it does not change them.
        """
        state = self._stepper.copy(self._state)
        return {name: value.clone() if value.is_inference() else value for name, value in state.items()}

    @property
    @full_precision()
    def displacements(self) -> np.ndarray:
        """w − w0 of every chain now, [C, D], in the coordinates of the parameters: a copy."""
        return self._target.delta(self._state["delta"]).double().cpu().numpy().copy()

    def _snapshot(self, kept: np.ndarray, kept_steps: np.ndarray) -> Snapshot:
        losses = self._record.losses
        distance = self._target.delta(self._state["delta"]).norm(dim=1) / math.sqrt(self.problem.dim)
        notes = tuple(self._notes[self._notes_sent :])
        self._notes_sent += len(notes)
        return Snapshot(
            steps=self.steps_done,
            total_steps=self.total_steps,
            burn_in=self.burn_in,
            recorded=kept_steps,
            excess_loss=kept,
            llc=losses.llc(),
            alive=losses.alive.copy(),
            rms_displacement=distance.double().cpu().numpy(),
            step_size=self._step_size.current.squeeze(1).double().cpu().numpy().copy(),
            n_beta=losses.n_beta.copy(),
            steps_per_second=self.count * self.steps_done / max(self.seconds, 1e-9),
            notes=notes,
            observables={**self._record.observables(), **self._stepper.report()},
        )
