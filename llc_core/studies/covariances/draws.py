"""Losses of rows along the chains as plain arrays, and the covariances of what was drawn together, with their errors.

What is estimated: Cov(a, b) over the distribution that all chains sample, around the mean of all chains. Around each chain's own mean
what one chain has not yet seen of the distribution would be left out, and chains that disagree would look certain.

The error is a jackknife: the covariance is made again without one unit of the draws after the other. A unit is a batch of
consecutive draws of one chain, 16 correlation times long, since there are usually too few chains for an error of their own (of 4 the error is
known to 40%, and the jackknife of a covariance takes the chains to be normal). Where the chains disagree by more than their
batches allow, the batches were too short after all, and a unit is a whole chain. Errors are scaled such that ± 2 of them
cover as they do of a normal number, by Student's t with one degree of freedom less than there are units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.compute.memory import may_take
from llc_core.diagnostics.convergence import (
    DISAGREE,
    FEWEST,
    TWO_SIDED,
    batch_count,
    correlation_time,
    linear_part,
    mean_error,
)
from llc_core.results import Estimate

NAME = "RowLosses"
FOLLOWED = 64
"""Columns, evenly spaced, that tell the correlation time."""
TOO_FEW = 0.2
"""A matrix is too uncertain where its error is more than this share of it …"""
ENOUGH = 0.1
"""… and good where it is this."""
NUMBER = 8
"""Bytes."""
COPIES = 10
"""Matrices of the size of the result that are there at once while its errors are made."""
SMALL = 2**20
"""Numbers for which nobody asks how much memory is free."""


@dataclass(frozen=True)
class RowDraws:
    """losses: [T, C, R + P] of the chains that live and weigh something.  weights: [T, C], 1 in sum for each chain.

    rows: [R] their numbers in the data.  beta: nβ/(number of rows), with which the loss of one row enters the potential; nan: not known.
    steps: [T].  living: [C'] which chains of the run these are.  found: what they were taken from, for other observables of the same run.
    """

    losses: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    beta: float = math.nan
    n_beta: float = math.nan
    steps: np.ndarray | None = None
    living: np.ndarray | None = None
    found: Estimate | None = None

    @property
    def of_rows(self) -> np.ndarray:
        return self.losses[:, :, : len(self.rows)]

    @property
    def of_probes(self) -> np.ndarray:
        return self.losses[:, :, len(self.rows) :]


def row_draws(found: Any) -> RowDraws:
    """From an Estimate of a run with RowLosses, or from losses [T, C, R] of any tool; ValueError, one sentence, where there are none."""
    if isinstance(found, RowDraws):
        return found
    if not isinstance(found, Estimate):
        try:
            losses = np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            losses = np.zeros(0)
        if losses.ndim != 3 or losses.size == 0 or not np.isfinite(losses).all():
            raise ValueError(
                "found must be an Estimate of a run with RowLosses, or finite losses [draws, chains, rows]."
            )
        return RowDraws(losses, _even(losses), np.arange(losses.shape[2]))
    kept: Mapping[str, np.ndarray] = found.observables.get(NAME, {})
    if "draws" not in kept:
        raise ValueError(
            f"found kept no losses of rows; run it with observables=[{NAME!r}], and long enough for a draw."
        )
    weights = np.asarray(kept["weights"], dtype=float) if "weights" in kept else _even(kept["draws"])
    living = np.isfinite(found.per_chain) & (np.nan_to_num(weights).sum(axis=0) > 0)
    draws, weights = np.asarray(kept["draws"][:, living], dtype=float), weights[:, living]
    if not draws.size or not np.isfinite(draws).all():
        raise ValueError("The losses of rows are not finite in any chain that lives; ask the verdict why.")
    weights = weights / weights.sum(axis=0)
    rows, beta = np.asarray(kept["rows"]), float(kept["beta"])
    return RowDraws(draws, weights, rows, beta, found.n_beta, np.asarray(kept["steps"]), living, found)


def _even(draws: np.ndarray) -> np.ndarray:
    return np.full(draws.shape[:2], 1 / max(1, len(draws)))


@dataclass(frozen=True)
class Covariances:
    """values, se: [A, B].  effective_draws: of all chains together.  units: how many the jackknife left out.  by: what they are."""

    values: np.ndarray
    se: np.ndarray
    effective_draws: float
    units: int
    by: str

    @property
    def relative_error(self) -> float:
        """√Σ se² over √Σ value²: by how much the matrix as a whole is off, relative to it (Frobenius); nan where no error is known."""
        size = float(np.linalg.norm(np.nan_to_num(self.values)))
        return float(np.linalg.norm(self.se[np.isfinite(self.values)])) / size if size else math.nan

    @property
    def note(self) -> str:
        """Empty, or one sentence where the draws do not carry these numbers."""
        if self.units < FEWEST:
            return f"Too few draws for an error: there are {self.units} {self.by}; give more chains or more steps."
        if not self.relative_error > TOO_FEW:
            return ""
        wanted = self.effective_draws * (self.relative_error / ENOUGH) ** 2
        return (
            f"Too few draws: {self.effective_draws:,.0f} effective ones are off by about {self.relative_error:.0%}; "
            f"from about {wanted:,.0f} on it is {ENOUGH:.0%}."
        )


def fits(a: int, b: int, memory: int | None = None) -> bool:
    """Whether there is room for covariances of A numbers with B.  memory: bytes; None: an eighth of what is free."""
    return (memory is None and a * b <= SMALL) or NUMBER * COPIES * a * b <= may_take(memory)


def covariances(
    a: np.ndarray, b: np.ndarray, weights: np.ndarray, correlated: bool = False, memory: int | None = None
) -> Covariances:
    """Cov(a, b) of draws a [T, C, A] and b [T, C, B], [A, B]; correlations in their place where `correlated`.

    weights: [T, C], 1 in sum for each chain: every chain counts the same. The sum of squares is divided by the draws, not by one less.
    Errors have one correlation time: of a column that is much slower than most they are up to a third too small.
    memory: bytes that they may take while they are made, without the draws; None: an eighth of what is free.
    ValueError, one sentence, where they take more.
    """
    if not fits(a.shape[2], b.shape[2], memory):
        raise ValueError(
            f"Covariances of {a.shape[2]:,} numbers with {b.shape[2]:,} take more than the {may_take(memory) / 2**30:.2g} GiB that they "
            "may take; ask for fewer rows or queries at once."
        )
    weights = weights / weights.shape[1]
    a, b = (_centred(x, weights) for x in (a, b))
    units, effective, by = _units((a,) if a.shape == b.shape and np.array_equal(a, b) else (a, b), weights)
    whole = _Sums.of(a.reshape(-1, a.shape[2]), b.reshape(-1, b.shape[2]), weights.ravel(), correlated)
    values = whole.covariance(correlated)
    if len(units) < FEWEST:
        return Covariances(values, np.full_like(values, np.nan), effective, len(units), by)
    mean, squares = np.zeros_like(values), np.zeros_like(values)
    for count, (t, c) in enumerate(units, 1):  # one matrix at a time (Welford 1962)
        without = (whole - _Sums.of(a[t, c], b[t, c], weights[t, c], correlated)).covariance(correlated)
        off = without - mean
        mean += off / count
        squares += off * (without - mean)
    from scipy.special import stdtrit  # scipy takes longer to import than the engine

    df = len(units) - 1
    se = np.sqrt(squares * (df / len(units))) * float(stdtrit(df, TWO_SIDED)) / 2
    return Covariances(values, se, effective, len(units), by)


def _centred(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Less the mean of all draws; 0 to the last bit in a column that never moves, where rounding would leave something."""
    found: np.ndarray = x - np.einsum("tc,tcr->r", weights, x)
    found[:, :, np.ptp(x, axis=(0, 1)) == 0] = 0
    return found


@dataclass(frozen=True)
class _Sums:
    """Σw and Σw·a, Σw·b, Σw·abᵀ, and the squares where correlations are wanted."""

    weight: float
    a: np.ndarray
    b: np.ndarray
    ab: np.ndarray
    aa: np.ndarray | float = 0.0
    bb: np.ndarray | float = 0.0

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, w: np.ndarray, squares: bool) -> _Sums:
        wa = w[:, None] * a
        more = ((wa * a).sum(axis=0), w @ b**2) if squares else (0.0, 0.0)
        return cls(float(w.sum()), wa.sum(axis=0), w @ b, wa.T @ b, *more)

    def __sub__(self, other: _Sums) -> _Sums:
        return _Sums(*(x - y for x, y in zip(vars(self).values(), vars(other).values(), strict=True)))

    def covariance(self, correlated: bool) -> np.ndarray:
        a, b = self.a / self.weight, self.b / self.weight
        found: np.ndarray = self.ab / self.weight - np.outer(a, b)
        if correlated:
            spread_a, spread_b = self.aa / self.weight - a**2, self.bb / self.weight - b**2
            with np.errstate(divide="ignore", invalid="ignore"):  # a row whose loss never moves has none
                return found / np.sqrt(np.outer(spread_a, spread_b))
        return found


def _units(centred: tuple[np.ndarray, ...], weights: np.ndarray) -> tuple[list[tuple[slice, int]], float, str]:
    """What the jackknife leaves out, as (draws, chain); how many effective draws there are; and what the units are called."""
    rows, chains = weights.shape
    length, chance = 1.0, 1.0
    for each in centred:
        followed = each[:, :, :: max(1, each.shape[2] // FOLLOWED)]
        # As chains side by side: each column counts by its variance, as it does in the whole matrix.
        length = max(length, correlation_time(followed.reshape(rows, -1)))
        # Two numbers of a state tell whether chains disagree: the mean, and how far all columns are off.
        for summary in (followed.mean(axis=2), (followed**2).mean(axis=2)):
            chance = min(chance, 2 * len(centred) * _chance(summary, weights))
    share = weights.sum() ** 2 / (weights.size * (weights**2).sum())
    effective = rows * chains * share / length
    if chance < DISAGREE:
        return [(slice(None), c) for c in range(chains)], effective, "chains"
    ends = np.linspace(0, rows, batch_count(rows, chains, length) + 1).astype(int)
    units = [(slice(int(i), int(j)), c) for c in range(chains) for i, j in zip(ends, ends[1:], strict=False)]
    return units, effective, "blocks of time" if len(ends) > 2 else "chains"


def _chance(trace: np.ndarray, weights: np.ndarray) -> float:
    """The probability of chains so far apart; 1 where nothing is known."""
    if np.ptp(weights) > 0:
        trace = linear_part(trace, weights)
    found = mean_error(trace.mean(axis=0), trace).chance
    return found if math.isfinite(found) else 1.0
