"""What a run on the line has found so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.bins import Bins


@dataclass(frozen=True)
class LineSnapshot:
    """What a `LineRun` has found so far: a copy, never changed later.

    steps: done so far.  burn_in: step at which counting starts.
    counts: [bins + 2] visits below, in and above the bins, weighted by the step sizes where these decrease.
    moments: [4] means of x, x², x³, x⁴ with the same weights; nan before anything was counted.
    chains: all of them.  diverged: those that are no longer finite, which count nowhere from then on.
    seconds: wall time of the steps.  element_steps_per_second: chains × steps in one second of it.
    """

    steps: int
    total_steps: int
    burn_in: int
    counts: np.ndarray
    moments: np.ndarray
    chains: int
    diverged: int
    seconds: float
    element_steps_per_second: float
    bins: Bins

    @property
    def finished(self) -> bool:
        return self.steps >= self.total_steps or self.diverged == self.chains

    def masses(self) -> np.ndarray:
        """Shares of the visits, [bins + 2]; nan before anything was counted."""
        total = self.counts.sum()
        return self.counts / total if total > 0 else np.full_like(self.counts, np.nan)

    def density(self) -> np.ndarray:
        """Density in the bins, [bins]."""
        return self.bins.density(self.counts)

    def plot(self, densities: Mapping[str, Any] | None = None) -> Any:
        """Where the chains are, as a HoloViews overlay. The extra "plots" brings what it needs.

        densities: what lies beside it, by name: [bins] each, or a pair of x and y [N]; the target's first, then such as what is
        predicted for the sampler.
        """
        from llc_core.plots import figures

        return figures.densities(self, densities or {})
