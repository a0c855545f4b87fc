"""What was seen of a problem's chains, and what of it errors count."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Chains:
    """What was seen of the C chains of one problem at one setting.

    per_chain: λ̂ [C], nan for diverged chains.  living: [C].
    trace: nβ·ΔL [T, C] at the steps trace_steps [T], burn-in included.
    weights: [T, C] of the trace's states in averages; None: all the same.  effective_share: [C] by Kish, of these weights.
    total_weight: [C] of all states of each chain.  members: so many chains in a row interact and are one draw for errors.
    n_beta, localization: nβ and γ.  steps: done so far, the first `burn_in` of them as burn-in.
    seconds: of the whole run.  steps_per_second: of all its chains together.
    """

    per_chain: np.ndarray
    living: np.ndarray
    trace: np.ndarray
    trace_steps: np.ndarray
    n_beta: float
    localization: float
    steps: int
    burn_in: int
    seconds: float
    steps_per_second: float
    weights: np.ndarray | None = None
    effective_share: np.ndarray | None = None
    total_weight: np.ndarray | None = None
    members: int = 1

    @property
    def dead(self) -> int:
        return int((~self.living).sum())

    @property
    def kept_steps(self) -> int:
        return max(0, self.steps - self.burn_in)

    @property
    def kept_trace(self) -> np.ndarray:
        """Of the chains that count, after burn-in."""
        return self.trace[self.trace_steps >= self.burn_in][:, self.counted]

    @property
    def kept_weights(self) -> np.ndarray | None:
        """Of the states of `kept_trace`."""
        return None if self.weights is None else self.weights[self.trace_steps >= self.burn_in][:, self.counted]

    @property
    def counted(self) -> np.ndarray:
        """Chains that live and whose states do not all weigh nothing, [C]."""
        return self.living if self.effective_share is None else self.living & np.isfinite(self.effective_share)

    @property
    def usable(self) -> bool:
        """Whether there is an estimate at all: not where more than half of the chains diverged."""
        return self.dead <= len(self.living) / 2 and self.kept_steps > 0 and bool(np.isfinite(self.per_chain).any())


def grouped(chains: Chains) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, float]:
    """What errors count: λ̂ [G], the trace after burn-in [T, G], its weights [T, G] or None, and Kish's share of all weights.

    Chains that interact are one draw: a group's loss at a step is the weighted mean of its members', and its weight their sum.
    Source of the share: Kish 1965, "Survey Sampling", section 11.7.
    """
    kept, weights, counted = chains.kept_trace, chains.kept_weights, chains.counted
    share = math.nan
    if chains.effective_share is not None and chains.total_weight is not None and counted.any():
        total, own = chains.total_weight[counted], chains.effective_share[counted]
        # A chain's own share is W²/(n·Q); of all states it is (ΣW)²/(n·C·ΣQ).
        share = (
            float(own.mean())
            if chains.members == 1
            else float(total.sum() ** 2 / (len(total) * (total**2 / own).sum()))
        )
    if chains.members == 1 or not counted.any():
        return chains.per_chain[np.isfinite(chains.per_chain)], kept, weights, share
    group = (np.arange(len(chains.per_chain)) // chains.members)[counted]
    belongs = (group[:, None] == np.unique(group)).astype(float)
    each = np.ones_like(kept) if weights is None else weights
    sums = each @ belongs
    trace = np.divide(
        (each * kept) @ belongs,
        sums,
        out=np.repeat(kept.mean(axis=1, keepdims=True), belongs.shape[1], 1),
        where=sums > 0,
    )
    total = np.ones(len(group)) if chains.total_weight is None else chains.total_weight[counted]
    per_group = ((total * chains.per_chain[counted]) @ belongs) / (total @ belongs)
    return per_group, trace, None if weights is None else sums, share
