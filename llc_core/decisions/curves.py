"""Regret curves of several plays of one agent, with bands over the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llc_core.decisions.games import Played
from llc_core.fields import choice


@dataclass(frozen=True)
class RegretCurve:
    """mean, low, high: [R], over the seeds; the band is mean ± 2 standard errors.  se: [R].  plays: how many there were."""

    mean: np.ndarray
    se: np.ndarray
    plays: int

    @property
    def low(self) -> np.ndarray:
        return self.mean - 2 * self.se

    @property
    def high(self) -> np.ndarray:
        return self.mean + 2 * self.se


def regret_curve(plays: Sequence[Played], which: str = "regret") -> RegretCurve:
    """which: "regret", "expected_regret", "chosen" (without the forced random phase) or "forced".

    Raises ValueError where the plays cannot be averaged: none, or of different lengths, agents or environments.
    """
    choice("which", which, ("regret", "expected_regret", "chosen", "forced"))
    if not plays:
        raise ValueError("plays is empty; give what play(…) returned for several seeds.")
    kinds = {(p.agent, p.policy, p.environment, p.pulls, len(p.regret)) for p in plays}
    if len(kinds) > 1:
        raise ValueError(
            f"plays are of {len(kinds)} kinds; average those of one agent, policy, environment and length."
        )
    rows = np.array([getattr(p, which) for p in plays])
    spread = rows.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.full(rows.shape[1], np.nan)
    return RegretCurve(rows.mean(axis=0), spread, len(rows))


def difference(plays: Sequence[Played], others: Sequence[Played], which: str = "regret") -> RegretCurve:
    """Of two agents seed by seed, first less second: the luck that they share cancels. Both need the same seeds in order."""
    if [p.seed for p in plays] != [p.seed for p in others]:
        raise ValueError("plays and others have different seeds; give both in the same order.")
    regret_curve(plays, which), regret_curve(others, which)
    rows = np.array([getattr(a, which) - getattr(b, which) for a, b in zip(plays, others, strict=True)])
    spread = rows.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.full(rows.shape[1], np.nan)
    return RegretCurve(rows.mean(axis=0), spread, len(rows))
