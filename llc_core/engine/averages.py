"""λ̂ from losses: online accumulators on the host, in float64, fed one block at a time."""

from __future__ import annotations

import math

import numpy as np

TRACE_NUMBERS = 8_000_000
TRACE_ROWS = 20_000
"""Rows of the trace that are kept at most; a longer run keeps every k-th step. Averages always use every step."""


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
    ):
        """forgiving: a chain that overflows in so many first steps is not dead (the driver starts its block again)."""
        self.forgiving = forgiving
        self.burn_in, self.n_beta, self.baseline, self.full_baseline = burn_in, n_beta, baseline, full_baseline
        self.steps = 0
        self.alive = np.ones(chains, dtype=bool)
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
        counts = finite | (steps < self.forgiving)[:, None]
        living = np.logical_and.accumulate(np.vstack([self.alive, counts]), axis=0)[1:]
        losses = np.where(living & finite, losses, np.nan)
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
