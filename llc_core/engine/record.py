"""What is kept of a run's steps: the losses, and what the observers saw. Only this file hands steps to them. Long, since the
averages of losses, from which λ̂ is made, are kept here too: on the host, in float64, fed one block at a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from llc_core.engine.adapting.step_size import StepSize
from llc_core.engine.law import law_bias
from llc_core.engine.setup import Setup
from llc_core.engine.spreading import spread_count
from llc_core.engine.stepping.base import Step, Watch
from llc_core.observables.look import Moment
from llc_core.observables.observers import Observers
from llc_core.types import Energy

TRACE_NUMBERS = 8_000_000
TRACE_ROWS = 20_000
"""Rows of the trace that are kept at most; a longer run keeps every k-th step. Averages always use every step."""


BEYOND, BLOCK = 40, 100
"""Near w0 nβ·ΔL of all data is a gamma variable of shape λ ≤ d/2, which exceeds d + BEYOND with a chance below e⁻³¹ at any d (Chernoff's
bound). A chain is lost that has a mean beyond it over a block of steps: on one minibatch a sound chain goes that far too."""


class LossAccumulator:
    """Running λ̂ = nβ·mean(L_t − baseline) for every chain, after burn-in.

    The mean is weighted: every state of every chain may have a weight of its own, and a chain's λ̂ is Σw·x / Σw over its own
    states. Sums run step by step, so the numbers do not depend on how the run is cut into blocks.
    """

    def __init__(
        self,
        chains: int,
        steps: int,
        burn_in: int,
        n_beta: np.ndarray,
        baseline: str,
        full_baseline: float | np.ndarray,
        forgiving: int = 0,
        reach: float = math.inf,
    ):
        """forgiving: a chain that overflows in so many first steps is not dead (the driver starts its block again).
        reach: a chain whose mean nβ·ΔL over BLOCK steps is above it is lost, also where it is not dead."""
        self.forgiving, self.reach = forgiving, reach
        self.burn_in, self.n_beta, self.baseline, self.full_baseline = burn_in, n_beta, baseline, full_baseline
        self.steps = 0
        self.alive = np.ones(chains, dtype=bool)
        self.lost_at, self._block = np.full(chains, np.nan), np.zeros(chains)
        self.thin = _thin(steps, chains)
        self._clear()
        self._first_baseline: np.ndarray | None = None
        self._rows: list[np.ndarray] = []
        self._row_steps: list[np.ndarray] = []
        self._row_weights: list[np.ndarray] = []

    def _clear(self) -> None:
        self.count = 0
        self._sum, self._baseline_sum = np.zeros(len(self.alive)), np.zeros(len(self.alive))
        # Σ of weight·share, of weights and of their squares: [1] until chains have weights of their own, then [C].
        self._total, self._weight, self._weight_square = np.zeros(1), np.zeros(1), np.zeros(1)

    def go_on(self, steps: int, burn_in: int) -> None:
        """The run will have `steps` steps in all, and a burn-in that is the one it had or covers all that was done."""
        if burn_in != self.burn_in:
            assert burn_in >= self.steps
            self.burn_in = burn_in
            self._clear()
        thin = _thin(steps, len(self.alive))
        if thin != self.thin and self._rows:
            rows, at = self.trace()
            chosen = at % thin == 0
            self._rows, self._row_steps = [rows[chosen]], [at[chosen]]
            weights = self.trace_weights()
            self._row_weights = [] if weights is None else [weights[chosen]]
        self.thin = thin

    def add(
        self,
        losses: np.ndarray,
        baselines: np.ndarray | None,
        weights: np.ndarray | None = None,
        shares: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take ΔL [T, C] of the next T steps and L_m(w0) [T, C]; returns the rows kept for the trace and their steps.

        weights: in the average, ≥ 0: [T] of the steps, or [T, C] of every chain's states, of one kind through a run; None:
        all the same.
        shares: [T] lengths of the steps, which multiply the weights; None: all the same. A longer step is more time of the
        chain and not a likelier state, so that they are no part of `effective_share` and `trace_weights`.
        """
        steps = np.arange(self.steps, self.steps + len(losses))
        finite = np.isfinite(losses)
        forgiven = (steps < self.forgiving)[:, None]
        counts = finite | forgiven
        lost = ~counts
        if math.isfinite(self.reach):
            lost |= self._beyond(steps, np.where(finite & ~forgiven, losses, 0.0))
        living = np.logical_and.accumulate(np.vstack([self.alive, counts]), axis=0)[1:]
        losses = np.where(living & finite, losses, np.nan)
        first = np.isnan(self.lost_at) & lost.any(axis=0)
        self.lost_at = np.where(first, steps[lost.argmax(axis=0)], self.lost_at)
        self.alive = living[-1]
        if baselines is not None and self._first_baseline is None:
            self._first_baseline = baselines[0]
        kept = steps >= self.burn_in
        if kept.any():
            ones = np.ones((int(kept.sum()), 1))
            weight = ones if weights is None else weights[kept].reshape(len(ones), -1)
            total = weight if shares is None else weight * shares[kept][:, None]
            self._sum = _running(self._sum, losses[kept] * total)
            if baselines is not None:
                self._baseline_sum = _running(self._baseline_sum, baselines[kept] * total)
            self._total = _running(self._total, total)
            self._weight = _running(self._weight, weight)
            self._weight_square = _running(self._weight_square, weight * weight)
            self.count += int(kept.sum())
        self.steps += len(losses)
        chosen = steps % self.thin == 0
        if weights is not None and weights.ndim == 2:
            self._row_weights.append(weights[chosen])
        self._rows.append(losses[chosen])
        self._row_steps.append(steps[chosen])
        return losses[chosen], steps[chosen]

    def _beyond(self, steps: np.ndarray, losses: np.ndarray) -> np.ndarray:
        """[T, C] where a block of steps ends whose mean is beyond `reach`. Sums go from one call to the next."""
        starts = np.flatnonzero(np.append(True, steps[1:] % BLOCK == 0))
        ends = np.append(starts[1:], len(steps)) - 1
        whole = (steps[ends] + 1) % BLOCK == 0
        with np.errstate(over="ignore", invalid="ignore"):  # a chain on its way to infinity
            sums = np.add.reduceat(losses * self.n_beta, starts)
            sums[0] += self._block
        found = np.zeros(losses.shape, dtype=bool)
        found[ends[whole]] = sums[whole] > BLOCK * self.reach
        self._block = np.zeros(len(self.alive)) if whole[-1] else sums[-1]
        return found

    def llc(self, baseline: str | None = None) -> np.ndarray:
        """λ̂ of every chain so far, [C]; nan during burn-in and for diverged chains."""
        if self.count == 0:
            return np.full(self.alive.shape, np.nan)
        with np.errstate(invalid="ignore"):  # a chain whose states all weigh nothing has no mean
            excess = self._sum / self._total
        kind = self.baseline if baseline is None else baseline
        if kind != "same_batch" and self._first_baseline is not None:
            with np.errstate(invalid="ignore"):
                mean_at_w0 = self._baseline_sum / self._total
            excess = excess + mean_at_w0 - (self.full_baseline if kind == "full" else self._first_baseline)
        return np.where(self.alive, self.n_beta * excess, np.nan)

    def effective_share(self) -> np.ndarray:
        """Independent states of these weights are worth this share of as many equal ones, [C]: (Σw)²/(count·Σw²), 1 where all
        weigh the same, nan where all weigh nothing. Source: Kish 1965, "Survey Sampling", section 11.7."""
        with np.errstate(invalid="ignore"):
            share = self._weight**2 / (self.count * self._weight_square)
        return np.broadcast_to(share, self.alive.shape).copy()

    def total_weight(self) -> np.ndarray:
        """What the states of each chain weigh together, [C], so that λ̂ of several chains can be that of all their states."""
        return np.broadcast_to(self._total, self.alive.shape).copy()

    def trace_weights(self) -> np.ndarray | None:
        """Weights [T, C] of the rows of `trace`; None while no chain has had a weight of its own."""
        return np.concatenate(self._row_weights) if self._row_weights else None

    def trace(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows ΔL [T, C] and their steps [T]."""
        if not self._rows:
            return np.zeros((0, len(self.alive))), np.zeros(0, dtype=int)
        return np.concatenate(self._rows), np.concatenate(self._row_steps)


def _thin(steps: int, chains: int) -> int:
    """Every how many steps a row is kept: a power of two, so that a longer run keeps rows of a shorter one."""
    least = max(1, math.ceil(steps / TRACE_ROWS), math.ceil(steps * chains / TRACE_NUMBERS))
    return 1 << (least - 1).bit_length()


def _running(start: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """start [C] or [1] plus the rows [T, C], one after the other."""
    return np.cumsum(np.vstack([np.broadcast_to(start, rows.shape[1:]), rows]), axis=0)[-1]


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
            # chains that begin at the prior have large losses there, and those that act on one another may be sent to some
            reach=math.inf
            if setup.problem.starts_at_prior or config.interaction is not None
            else setup.problem.dim + BEYOND,
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
