"""What the chains say of a network's function: draws of f at some inputs, and convergence of functions, weights and loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.diagnostics import convergence
from llc_core.diagnostics.convergence import standard_error
from llc_core.fields import number


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
        """Standard error of `mean`, scaled so that ± 2 of it covers (`diagnostics.convergence`); nan where nothing is known."""
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


@dataclass(frozen=True)
class Predictive:
    """The posterior of f at P inputs, by the living chains after burn-in; dots are what one input gives: nothing for a number,
    k for k outputs.

    inputs: the P inputs as they were asked for.  steps: [T] of the draws since the end of burn-in, evenly spaced.
    functions: draws [T, C, P, …], jointly over all inputs.  weights: draws of single weights, None where none were kept.
    loss: nβ·ΔL [T', C] of chains or of groups that interact.
    R-hat and ESS are computed when they are asked for. Where chains carry weights (contour sampling, steps that decay), mean,
    sd and quantiles use them.
    """

    inputs: Sequence[Any]
    steps: np.ndarray
    functions: Drawn
    weights: Drawn | None
    loss: np.ndarray

    @property
    def draws(self) -> np.ndarray:
        """[T, C, P, …]: each [P, …] is one function, all inputs seen with the same weights."""
        return self.functions.values

    @property
    def mean(self) -> np.ndarray:
        """[P, …] over all chains and steps."""
        return self.functions.mean

    def plot(
        self,
        level: float = 0.8,
        across: str = "time",
        beside: Mapping[str, tuple[Any, Any]] | None = None,
        data: tuple[Any, Any] | None = None,
    ) -> Any:
        """Mean and band of the function as a HoloViews overlay. The extra "plots" brings what it needs.

        level: share of the draws in the band.  across: "time", of all draws, or "chains", of the last one of each chain.
        beside: low and high end [P] of other bands by name.  data: x and y of the observations.
        Raises ValueError where inputs are not numbers, and for an unknown `across`.
        """
        from llc_core.plots import figures

        return figures.band(self, level, across, beside, data)

    @property
    def mean_se(self) -> np.ndarray:
        """[P, …] standard error of `mean`."""
        return self.functions.mean_se

    @property
    def sd(self) -> np.ndarray:
        """[P, …] of f, without the noise of the data."""
        return self.functions.sd

    def quantile(self, share: float) -> np.ndarray:
        """[P, …] of f at each input by itself, over all chains and steps."""
        return self.functions.quantile(_share("share", share))

    def band_over_time(self, level: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each [P, …]: what holds a share `level` of the draws of all chains at all steps: the posterior's band."""
        low = (1 - _share("level", level)) / 2
        return self.functions.quantile(low), self.functions.quantile(1 - low)

    def band_across_chains(self, level: float = 0.8, step: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each [P, …]: what holds a share `level` of the chains at one step, the kept one next to `step`.

        step: since the end of burn-in; None: the last. This is the band of the ensemble at an iteration: with few chains it is
        rougher than that over time, and it shows an ensemble that has converged before single chains have mixed.
        """
        row = -1 if step is None else int(np.abs(self.steps - step).argmin())
        low = (1 - _share("level", level)) / 2
        return self.functions.quantile_at(row, low), self.functions.quantile_at(row, 1 - low)

    @property
    def r_hat(self) -> np.ndarray:
        """[P, …] of f at each input."""
        return self.functions.r_hat

    @property
    def ess(self) -> np.ndarray:
        """[P, …] effective draws of f at each input."""
        return self.functions.ess

    @property
    def weights_r_hat_median(self) -> float:
        """Of the weights that were kept, in the coordinates of the parameters; nan where there are none."""
        return _of(np.nanmedian, self.weights)

    @property
    def weights_r_hat_max(self) -> float:
        return _of(np.nanmax, self.weights)

    @cached_property
    def loss_r_hat(self) -> float:
        return convergence.r_hat(self.loss)

    def __repr__(self) -> str:
        f = self.r_hat[np.isfinite(self.r_hat)]
        parts = [f"f at {len(self.inputs)} inputs: {self.draws.shape[0]} draws of {self.draws.shape[1]} chains"]
        if f.size:
            parts.append(f"R-hat of f at most {f.max():.3f}, least ESS {np.nanmin(self.ess):.0f}")
        if self.weights is not None:
            parts.append(
                f"R-hat of weights {self.weights_r_hat_median:.3f} (median), {self.weights_r_hat_max:.3f} (max)"
            )
        parts.append(f"R-hat of the loss {self.loss_r_hat:.3f}")
        return "\n".join(parts)


def _of(statistic: Any, weights: Drawn | None) -> float:
    found = np.empty(0) if weights is None else weights.r_hat[~np.isnan(weights.r_hat)]
    return float(statistic(found)) if found.size else float("nan")


def _share(name: str, value: Any) -> float:
    found = number(name, value)
    if not 0 < found < 1:
        raise ValueError(f"{name} is {found:g}; give a share above 0 and below 1.")
    return found
