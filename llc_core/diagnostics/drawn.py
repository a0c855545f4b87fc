"""Draws of many numbers along chains: their mean, spread, quantiles and convergence, number by number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from llc_core.diagnostics import convergence
from llc_core.diagnostics.errors import standard_error


@dataclass(frozen=True)
class Drawn:
    """Draws [T, C, …] of C chains at T steps; numbers below have the shape of the dots.

    weights: [T, C] of the draws in averages; None: all the same.  group: [C], chains of one group interact and are one draw.
    share: what the draws are worth beside as many of equal weight (Kish); 1 where they weigh the same.
    """

    values: np.ndarray
    weights: np.ndarray | None = None
    group: np.ndarray | None = None
    share: float = 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape[2:]

    @cached_property
    def mean(self) -> np.ndarray:
        return np.asarray(np.average(self._flat, axis=0, weights=self._flat_weights)).reshape(self.shape)

    @cached_property
    def sd(self) -> np.ndarray:
        squares = np.square(self._flat - self.mean.ravel())
        return np.sqrt(np.average(squares, axis=0, weights=self._flat_weights)).reshape(self.shape)

    def quantile(self, share: float) -> np.ndarray:
        """Of all chains at all steps together."""
        return quantile(self._flat, self._flat_weights, share).reshape(self.shape)

    def quantile_at(self, row: int, share: float) -> np.ndarray:
        """Of all chains at one of the T steps."""
        weights = None if self.weights is None else self.weights[row]
        return quantile(self.values[row].reshape(self.values.shape[1], -1), weights, share).reshape(self.shape)

    @cached_property
    def mean_se(self) -> np.ndarray:
        """Standard error of `mean`, scaled so that ± 2 of it covers (`diagnostics.errors`); nan where nothing is known."""
        return self._each(lambda trace, weights: standard_error(_mean(trace, weights), trace, weights))

    @cached_property
    def r_hat(self) -> np.ndarray:
        """Rank-normalised split R-hat; nan where it cannot be computed."""
        return self._each(lambda trace, _: convergence.r_hat(trace))

    @cached_property
    def ess(self) -> np.ndarray:
        """Bulk effective sample size, times `share`; nan where it cannot be computed."""
        return self.share * self._each(lambda trace, _: convergence.ess(trace))

    @property
    def _flat(self) -> np.ndarray:
        return self.values.reshape(self.values.shape[0] * self.values.shape[1], -1)

    @property
    def _flat_weights(self) -> np.ndarray | None:
        return None if self.weights is None else self.weights.ravel()

    def _each(self, of: Callable[[np.ndarray, np.ndarray | None], float]) -> np.ndarray:
        """`of` the trace [T, G] of each number, and of its weights, for groups of chains in place of chains."""
        values, weights = self.values.reshape(*self.values.shape[:2], -1), self.weights
        if self.group is not None:
            belongs = (self.group[:, None] == np.unique(self.group)).astype(float)
            each = np.ones(values.shape[:2]) if weights is None else weights
            sums = each @ belongs
            plain = np.einsum("tcp,cg->tgp", values, belongs / belongs.sum(axis=0))
            weighed = np.einsum("tcp,cg->tgp", each[:, :, None] * values, belongs)
            values = np.divide(weighed, sums[:, :, None], out=plain, where=sums[:, :, None] > 0)
            weights = None if weights is None else sums
        found = [of(np.ascontiguousarray(values[:, :, p]), weights) for p in range(values.shape[2])]
        return np.array(found).reshape(self.shape)


def quantile(values: np.ndarray, weights: np.ndarray | None, share: float) -> np.ndarray:
    """[K] of values [N, K], where weights [N] say how often each row counts; None: once."""
    if weights is None:
        return np.asarray(np.quantile(values, share, axis=0))
    order = np.argsort(values, axis=0)
    below = np.cumsum(weights[order], axis=0)
    place = (below < share * below[-1]).sum(axis=0).clip(max=len(values) - 1)
    return np.take_along_axis(values, np.take_along_axis(order, place[None], 0), 0)[0]


def _mean(trace: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return trace.mean(axis=0) if weights is None else np.asarray(np.average(trace, axis=0, weights=weights))
