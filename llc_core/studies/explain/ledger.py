"""The ledger of a split: numbers that were measured, and the values between λ̂ and λ as combinations of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

ESTIMATE, REFERENCE = "estimate", "reference"
"""Names of two measurements: λ̂ as it ran, and λ̂ of the exact reference."""


@dataclass(frozen=True)
class Level:
    """A value between λ̂ and λ.

    weights: name of a measurement → its coefficient in the value.  how: how the value was found, for people.
    """

    weights: dict[str, float]
    how: str


@dataclass(frozen=True)
class Differences:
    """Differences of neighbouring values.

    causes: [P] for each difference the causes that lie in it.  how: [P], of the lower value.
    values: [P].  covariance: [P, P]; neighbours share a measurement.
    """

    causes: list[list[str]]
    how: list[str]
    values: np.ndarray
    covariance: np.ndarray


@dataclass
class Ledger:
    """measured: name → (value, standard error), independent of each other.

    levels: cause → the value with this cause and all before it taken away.
    """

    measured: dict[str, tuple[float, float]] = field(default_factory=dict)
    levels: dict[str, Level] = field(default_factory=dict)

    def record_exact(self, cause: str, value: float, how: str) -> None:
        """A value without an error, which is a level by itself."""
        self.measured[cause] = (value, 0.0)
        self.levels[cause] = Level({cause: 1.0}, how)

    def record_chains(self, name: str, per_chain: np.ndarray) -> None:
        """Mean over the living chains of [C]; nothing is recorded where more than half diverged."""
        living = per_chain[np.isfinite(per_chain)]
        if len(living) >= max(2, len(per_chain) / 2):
            self.measured[name] = (float(living.mean()), float(living.std(ddof=1) / math.sqrt(len(living))))

    def differences(self, causes: Sequence[str]) -> Differences:
        """Differences from λ̂ on, in the order of the causes. Causes without a level of their own join the next one."""
        known = sorted(self.measured)
        before = np.array([float(name == ESTIMATE) for name in known])
        waiting: list[str] = []
        joined: list[list[str]] = []
        rows: list[np.ndarray] = []
        how: list[str] = []
        for cause in causes:
            waiting.append(cause)
            level = self.levels.get(cause)
            if level is not None:
                after = np.array([level.weights.get(name, 0.0) for name in known])
                rows.append(before - after)
                joined.append(waiting)
                how.append(level.how)
                before, waiting = after, []
        table = np.array(rows).reshape(len(rows), len(known))
        values = table @ np.array([self.measured[name][0] for name in known])
        covariance = table @ np.diag([self.measured[name][1] ** 2 for name in known]) @ table.T
        return Differences(joined, how, values, covariance)
