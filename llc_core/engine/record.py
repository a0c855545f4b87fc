"""What is kept of a run's steps: the losses, and what the observers saw. Only this file hands steps to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from llc_core.engine.adapting.step_size import StepSize
from llc_core.engine.averages import LossAccumulator
from llc_core.engine.law import law_bias
from llc_core.engine.setup import Setup
from llc_core.engine.spreading import spread_count
from llc_core.engine.stepping.base import Step, Watch
from llc_core.observables.look import Moment
from llc_core.observables.observers import Observers
from llc_core.types import Energy


class Record:
    """`watch` before a step, `add` after it, `flush` at the end of a block of steps."""

    def __init__(self, setup: Setup, home: Tensor, step_size: StepSize):
        """home: δ [C, D] where chains begin."""
        config, groups = setup.config, setup.groups
        self.count, self.step_size, self.burn_in = groups.count, step_size, setup.burn_in
        self.losses = LossAccumulator(
            groups.count,
            setup.steps,
            setup.burn_in,
            setup.target.n_beta.squeeze(1).double().cpu().numpy(),
            config.baseline,
            0.0 if setup.gradient == "full" else _baseline_losses(setup),
        )
        self.law = law_bias(setup)
        self.spread = spread_count(setup) if self.law is None else None
        self.above: tuple[int, np.ndarray | None] | None = None  # after so many steps: see `engine.above_minimum`
        own = [each for each in (self.law, self.spread) if each is not None]
        self.observers = Observers(config, setup.problem, setup.observable, home, groups.settings, own)
        self._rows: list[Tensor] = []
        self._baselines: list[Tensor] = []
        self._weights: list[Tensor] = []

    def watch(self, step: int, forgiving: bool) -> Watch | None:
        """Who is to be shown step number `step`; None: nobody. forgiving: chains that it loses start again and live on."""
        since = step - self.burn_in
        if not self.observers.due(since):
            return None
        return _Observing(self.observers, Moment(since, float(self.step_size.share(step)), settled=not forgiving))

    def add(self, done: Step) -> None:
        """A step was done."""
        self._rows.append(done.loss)
        if done.baseline is not None:
            self._baselines.append(done.baseline)
        if done.weights is not None:
            self._weights.append(done.weights)

    def flush(self, forgiving: int) -> tuple[np.ndarray, np.ndarray]:
        """Take the losses over to the host; returns the rows ΔL [T, C] kept for the trace, and their steps [T].

        forgiving: chains that overflow in so many first steps are not dead.
        """
        self.losses.forgiving = forgiving
        if not self._rows:
            return np.zeros((0, self.count)), np.zeros(0, dtype=int)
        rows, baselines, weights = (_on_host(each) for each in (self._rows, self._baselines, self._weights))
        assert rows is not None
        if baselines is not None:
            baselines = np.repeat(baselines, self.count // baselines.shape[1], axis=1)
        self._rows, self._baselines, self._weights = [], [], []
        shares = self.step_size.share(np.arange(self.losses.steps, self.losses.steps + len(rows)))
        return self.losses.add(rows, baselines, weights, shares)

    def go_on(self, steps: int, burn_in: int) -> None:
        """The run will have `steps` steps in all; where its burn-in is another now, what was seen is of the burn-in."""
        self.losses.go_on(steps, burn_in)
        if burn_in != self.burn_in:
            self.burn_in = burn_in
            self.observers.fresh()

    def observables(self) -> Mapping[str, np.ndarray]:
        """What a snapshot shows of the observers so far, by name."""
        return self.observers.counts()


class _Observing:
    """Shows one step to the observers."""

    def __init__(self, observers: Observers, moment: Moment):
        self.observers, self.moment = observers, moment

    def places(self, delta: Tensor, weights: Tensor | None) -> None:
        self.moment = self.moment._replace(weights=weights)
        self.observers.look(self.moment, delta)

    def energy(self, energy: Energy, rows: slice = slice(None)) -> None:
        self.observers.watch(self.moment, energy, rows)


def _on_host(rows: list[Tensor]) -> np.ndarray | None:
    """[T, …] in float64; None where there are none."""
    return torch.stack(rows).double().cpu().numpy() if rows else None


def _baseline_losses(setup: Setup) -> np.ndarray:
    """L_n(w0) for every chain, [C]."""
    groups = setup.groups
    values = [setup.problem.member(index).baseline_loss for index in range(groups.problems)]
    return np.repeat(values, groups.chains * groups.settings)
