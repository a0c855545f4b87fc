"""How often each bin was visited, for problems with one parameter."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
import torch

from llc_core.bins import Bins
from llc_core.fields import hyper_of
from llc_core.observables.base import Observable, register
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.base import Potential


@register
@dataclass
class Visits(Observable):
    """Weighted counts of where the chains of each setting are, at every step, in `count` equal bins on [low, high].

    A chain counts until it dies, and never after, though its state is put back to w0. Positions that are not finite count
    nowhere.
    """

    needs_living = True

    every: int = 1
    low: float = hyper_of(Bins, "low", -4.0)
    high: float = hyper_of(Bins, "high", 4.0)
    count: int = hyper_of(Bins, "count", 80)

    def agree(self) -> None:
        self.bins = Bins(self.low, self.high, self.count)

    def check(self, problem: Potential, second: Potential | None) -> None:
        if problem.dim != 1:
            raise ValueError(
                f"{self.name} needs a problem with one parameter; this one has {problem.dim:,}: leave it out."
            )
        if problem.problems > 1:
            raise ValueError(f"{self.name} counts the visits of one problem; run the networks of a family one by one.")

    def begin(self, setup: RunShape) -> None:
        self.mode, self.settings = setup.problem.mode, setup.settings
        self._counts = setup.zeros(setup.settings * (self.count + 2))
        # Chains are ordered chain-major: row c·S + s is chain c of setting s.
        self._start = torch.arange(setup.chains, device=setup.device) % setup.settings * (self.count + 2)
        self._lock = threading.Lock()

    def look(self, seen: Look) -> None:
        x = self.mode + seen.delta.squeeze(1)
        counts = (torch.isfinite(x) & seen.living).to(self._counts.dtype) * seen.weights
        place = ((x - self.bins.low) / self.bins.width).nan_to_num(0.0).floor_().clamp_(-1, self.bins.count)
        with self._lock:  # all chains of a setting share its bins
            self._counts.index_add_(0, self._start[seen.rows] + place.long() + 1, counts)

    def counts(self) -> np.ndarray:
        """[S, count + 2]: below, the bins, above."""
        return self._counts.view(self.settings, -1).double().cpu().numpy().copy()

    def read(self, group: Group) -> dict[str, np.ndarray]:
        """counts [count + 2] of the group's setting, and edges [count + 1] of the bins."""
        return {"counts": self.counts()[(group.rows.start or 0) % self.settings], "edges": self.bins.edges}
