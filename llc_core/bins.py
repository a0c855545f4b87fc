"""Equal bins on an interval, and one more on either side for what lies outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.fields import number, short, whole

MAX_BINS = 4000


@dataclass(frozen=True)
class Bins:
    """`count` bins of equal width on [low, high]. Counts and masses are arrays [count + 2]: below, the bins, above.

    Raises ValueError for a count outside 1 … 4000 or low ≥ high.
    """

    low: float = -4.0
    high: float = 4.0
    count: int = 80

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "low", number("low", self.low))
        put(self, "high", number("high", self.high))
        put(self, "count", whole("count", self.count, 1, MAX_BINS))
        if not self.low < self.high:
            raise ValueError(f"low is {self.low:g} and high {self.high:g}; low must be below high.")

    @classmethod
    def of(cls, description: Bins | Mapping[str, Any] | None) -> Bins:
        """From itself, a mapping of its fields, or None for 80 bins of width 0.1 on [−4, 4]."""
        if description is None:
            return cls()
        if isinstance(description, Bins):
            return description
        if not isinstance(description, Mapping):
            raise ValueError(f"bins must be a mapping of low, high and count, not a {type(description).__name__}.")
        unknown = sorted(str(k) for k in description if k not in ("low", "high", "count"))
        if unknown:
            raise ValueError(f"Unknown key {short(unknown[0])} in bins; known keys: low, high, count.")
        return cls(**description)

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
