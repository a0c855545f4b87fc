"""What a sweep has found: the points of its figure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SweepPoints:
    """What a sweep has found so far: a frozen copy.

    steps, total_steps: of the whole job, the short automatic run included.
    field: what is swept; values [S].  log: whether they are spaced evenly in their logarithm.
    llc, se, expected [S]: λ̂ with its standard error, and what it should be.  dead [S]: share of diverged chains.
    averaging: False while the chains are in burn-in; llc is then a recent level, not an average.
    default, limit: the engine's step size and the stability limit, nan where another field is swept.
    chains, chain_steps: chains per value, and the steps of each.  verdicts [S]: whether to trust each, at the end.
    """

    steps: int
    total_steps: int
    field: str
    values: np.ndarray
    llc: np.ndarray
    se: np.ndarray
    expected: np.ndarray
    dead: np.ndarray
    averaging: bool = False
    log: bool = True
    default: float = math.nan
    limit: float = math.nan
    chains: int = 1
    chain_steps: int = 0
    verdicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def error(self) -> np.ndarray:
        """[S] relative error of λ̂; nan where it is not known."""
        return self.llc / self.expected - 1

    @property
    def error_se(self) -> np.ndarray:
        return self.se / self.expected

    @property
    def best(self) -> int | None:
        """Index of the value whose error is surely smallest: the far end of its error bar is nearest to 0.

        The smallest error alone would often be a small one by chance, at a step too small to mix.
        """
        if not self.averaging:
            return None
        far = np.abs(self.error) + 2 * np.where(np.isfinite(self.error_se), self.error_se, 0.0)
        return int(np.nanargmin(far)) if np.isfinite(far).any() else None
