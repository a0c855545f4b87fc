"""What is kept of a run's steps: the losses, what the observers saw, the histogram. Only this file hands steps to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from llc_core.bins import Bins
from llc_core.engine.adapting.step_size import StepSize
from llc_core.engine.averages import LossAccumulator
from llc_core.engine.setup import Setup
from llc_core.engine.stepping.base import Step, Watch
from llc_core.observables.observers import Observers
from llc_core.observables.visits import Counter
from llc_core.types import Energy


class Record:
    """`watch` before a step, `add` after it, `flush` at the end of a block of steps."""

    def __init__(self, setup: Setup, home: Tensor, step_size: StepSize):
        """home: δ [C, D] where chains begin."""
        config, groups = setup.config, setup.groups
        self.step_size, self.burn_in, self.mode = step_size, setup.burn_in, setup.problem.mode
        self.losses = LossAccumulator(
            groups.count,
            setup.steps,
            setup.burn_in,
            setup.target.n_beta.squeeze(1).double().cpu().numpy(),
            config.baseline,
            0.0 if setup.gradient == "full" else _baseline_losses(setup),
        )
        self.observers = Observers(config, setup.problem, setup.observable, home)
        self.counter: Counter | None = None
        if config.histogram is not None:
            chains = groups.problems * groups.chains
            self.counter = Counter(Bins.of(config.histogram), groups.settings, chains, home.device)
        self._sound = torch.ones(groups.count, dtype=torch.bool, device=home.device)
        self._rows: list[Tensor] = []
        self._baselines: list[Tensor] = []

    def watch(self, step: int) -> Watch | None:
        """Who is to be shown step number `step`; None: nobody."""
        since = step - self.burn_in
        if since < 0 or not self.observers.due(since):
            return None
        return _Observing(self.observers, since, float(self.step_size.share(step)))

    def add(self, step: int, done: Step, forgiving: bool) -> None:
        """Step number `step` was done. forgiving: chains that it lost start again and are not dead."""
        self._rows.append(done.loss)
        if done.baseline is not None:
            self._baselines.append(done.baseline)
        if self.counter is not None:
            # A chain that has died counts nowhere, though it is put back to w0.
            if not forgiving:
                self._sound = self._sound & torch.isfinite(done.loss)
            if step >= self.burn_in:
                place = self.mode + done.before.squeeze(1)
                self.counter.add(place, self._sound, float(self.step_size.share(step)))

    def flush(self, forgiving: int) -> tuple[np.ndarray, np.ndarray]:
        """Take the losses over to the host; returns the rows ΔL [T, C] kept for the trace, and their steps [T].

        forgiving: chains that overflow in so many first steps are not dead.
        """
        count = len(self._sound)
        self.losses.forgiving = forgiving
        if not self._rows:
            return np.zeros((0, count)), np.zeros(0, dtype=int)
        rows = torch.stack(self._rows).double().cpu().numpy()
        baselines = None
        if self._baselines:
            baselines = torch.stack(self._baselines).double().cpu().numpy()
            baselines = np.repeat(baselines, count // baselines.shape[1], axis=1)
        self._rows, self._baselines = [], []
        weights = self.step_size.share(np.arange(self.losses.steps, self.losses.steps + len(rows)))
        return self.losses.add(rows, baselines, weights)

    def go_on(self, steps: int, burn_in: int) -> None:
        """The run will have `steps` steps in all; where its burn-in is another now, what was seen is of the burn-in."""
        self.losses.go_on(steps, burn_in)
        if burn_in != self.burn_in:
            self.burn_in = burn_in
            self.observers = self.observers.fresh()
            if self.counter is not None:
                self.counter.clear()

    def observables(self) -> Mapping[str, np.ndarray]:
        """What a snapshot shows of the observers so far, by name."""
        return {} if self.counter is None else {"histogram": self.counter.counts()}


class _Observing:
    """Shows one step to the observers. step: counted from the end of burn-in."""

    def __init__(self, observers: Observers, step: int, weight: float):
        self.observers, self.step, self.weight = observers, step, weight

    def places(self, delta: Tensor) -> None:
        self.observers.look(self.step, delta, self.weight)

    def energy(self, energy: Energy, rows: slice = slice(None)) -> None:
        self.observers.size(self.step, energy, rows)


def _baseline_losses(setup: Setup) -> np.ndarray:
    """L_n(w0) for every chain, [C]."""
    groups = setup.groups
    values = [setup.problem.member(index).baseline_loss for index in range(groups.problems)]
    return np.repeat(values, groups.chains * groups.settings)
