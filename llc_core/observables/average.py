"""Base of the observables that are means along the chains: they only say what is measured."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.observables.base import Observable
from llc_core.observables.look import Group, Look, RunShape


@dataclass
class Average(Observable):
    """The weighted mean along every chain of what `measure` returns, and its mean and standard error over chains."""

    def measure(self, seen: Look) -> Tensor:
        """[C', …] one number or array for each chain that is shown."""
        raise NotImplementedError

    def begin(self, setup: RunShape) -> None:
        self._setup = setup
        self._sums: Tensor | None = None
        self._weight = setup.zeros(setup.chains)
        self._lock = threading.Lock()

    def look(self, seen: Look) -> None:
        values = self.measure(seen).to(self._setup.wide)
        with self._lock:  # chains that are shown one by one come from several threads
            if self._sums is None:
                self._sums = self._setup.zeros(self._setup.chains, *values.shape[1:])
        weights = seen.weights.view(-1, *[1] * (values.dim() - 1))
        # A state that weighs nothing adds nothing, even where what is measured is not finite.
        self._sums[seen.rows] += torch.where(weights > 0, weights * values, 0.0)
        self._weight[seen.rows] += seen.weights

    def read(self, group: Group) -> dict[str, np.ndarray]:
        """mean […] and se […] over the living chains (se: nan for a single one), per_chain [C', …], nan for chains that are
        dead or weigh nothing; empty before the first look."""
        if self._sums is None:
            return {}
        weight = self._weight[group.rows].cpu().numpy()
        good = group.living & (weight > 0)
        per_chain = np.full(self._sums[group.rows].shape, np.nan)
        sums = self._sums[group.rows].double().cpu().numpy()
        per_chain[good] = sums[good] / weight[good].reshape(-1, *[1] * (sums.ndim - 1))
        count = int(good.sum())
        nothing = np.full(per_chain.shape[1:], np.nan)
        return {
            "mean": per_chain[good].mean(axis=0) if count else nothing,
            "se": per_chain[good].std(axis=0, ddof=1) / math.sqrt(count) if count > 1 else nothing,
            "per_chain": per_chain,
        }
