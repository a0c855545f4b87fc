"""Equal bins on an interval, and one more on either side for what lies outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.fields import Settings, hyper

MAX_BINS = 4000


@dataclass(frozen=True)
class Bins(Settings):
    """`count` bins of equal width on [low, high]. Counts and masses are arrays [count + 2]: below, the bins, above.

    Raises ValueError for a count outside 1 … 4000 or low ≥ high.
    """

    what = "set of bins"

    low: float = hyper(-4.0)
    high: float = hyper(4.0)
    count: int = hyper(80, 1, MAX_BINS)

    def agree(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"low is {self.low:g} and high {self.high:g}; low must be below high.")

    @classmethod
    def of(cls, description: Bins | Mapping[str, Any] | None) -> Bins:
        """From itself, a mapping of its fields, or None for 80 bins of width 0.1 on [−4, 4]."""
        if description is None:
            return cls()
        return cls.read_from("bins", description)

    @property
    def width(self) -> float:
        return (self.high - self.low) / self.count

    @cached_property
    def edges(self) -> np.ndarray:
        """[count + 1]."""
        return np.linspace(self.low, self.high, self.count + 1)

    @cached_property
    def centers(self) -> np.ndarray:
        """[count]."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    def counts(self, x: np.ndarray) -> np.ndarray:
        """How many of x lie in each bin, [count + 2]; nan and infinity are not counted."""
        x = x[np.isfinite(x)]
        index = np.clip(np.floor((x - self.low) / self.width), -1, self.count).astype(int) + 1
        return np.bincount(index, minlength=self.count + 2).astype(float)

    def density(self, masses: np.ndarray) -> np.ndarray:
        """Density in the bins, [count], of counts or masses [count + 2] (nan where there are none)."""
        total = masses.sum()
        return masses[1:-1] / (total * self.width) if total > 0 else np.full(self.count, np.nan)
