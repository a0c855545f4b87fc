"""Numbers by which to judge draws: the error of a mean, R-hat, effective sample size, drift, spikes, and Stein's discrepancy. Long,
since an error that covers takes many steps.

Of the error of a mean along chains ± 2 hold the truth 19 times in 20, however few the chains are. All chains sample one distribution, so the
means of long batches, of all chains together, are draws of one number: their spread is the spread over chains and that within
chains at once. How long a batch must be is measured. Where the chains' means differ by more than the batches allow, the batches
were too short after all, and the chains alone are counted.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from llc_core.compute.quiet import catching_warnings

BLOM = 3 / 8
"""Blom 1958, as Vehtari et al. 2021 have it."""


def normal_scores(values: Any) -> np.ndarray:
    """Normal quantiles of the ranks of all values together, in their shape; equal values share the mean of their ranks.

    The numbers of arviz-stats to the last bit in less time: values that differ need no stable order.
    """
    from scipy.special import ndtri  # scipy takes longer to import than the engine

    values = np.asarray(values)
    flat = values.ravel()
    order = np.argsort(flat)
    placed = flat[order]
    ranks = np.arange(1.0, flat.size + 1)
    new = placed[1:] != placed[:-1]
    if not new.all():
        starts = np.flatnonzero(np.concatenate([[True], new]))
        counts = np.diff(starts, append=flat.size)
        ranks = np.repeat(starts + (counts + 1) / 2, counts)
    scores = np.empty(flat.size)
    scores[order] = ndtri((ranks - BLOM) / (flat.size - 2 * BLOM + 1))
    return scores.reshape(values.shape)


def with_quick_ranks(library: Any) -> Any:
    """The library's statistics of arrays, with these scores in place of its own, which no public name reaches.

    Holds for arviz-stats 0.8.0.
    Gains: R-hat and the effective sample size take two fifths to two thirds of the library's time.
    """
    return type("QuickRanks", (type(library),), {"_z_scale": staticmethod(normal_scores)})()


BATCH_TIMES = 16
"""Length of a batch in autocorrelation times. Of one time scale the variance of batch means would be 6% too small at half of that.
But a time that is measured on a short chain leaves out what is slow and small: where two valleys cross, 3% of nβ·ΔL changes ten
times as slowly as the rest (the arms), and batches of 8 measured times gave errors that covered .89."""
SHORTEST = 8
"""So short may they become before there are fewer than …"""
FEW = 5
"""… so many: with fewer degrees of freedom an error is known to little more than its size."""
BATCHES = 64
"""Batches wanted of all chains together: more would be shorter, and the error hardly better known."""
FEWEST = 3
"""Of fewer batches nothing is known."""
FEWEST_ROWS = 16
"""Of fewer rows no correlation time is known."""
TWO_SIDED = 0.9772498680518208
"""Φ(2): a normal number is below 2 of its errors above 0 with this probability."""
DISAGREE = 0.01
"""Below this probability the means of chains differ by more than chance: the error is then that of the chains alone."""


@dataclass(frozen=True)
class MeanError:
    """What is known of the error of a mean over chains.

    se: scaled such that ± 2·se covers as ± 2 errors of a normal number do: the raw error times t(Φ(2), df)/2; nan: not known.
    df: degrees of freedom behind it.
    offset: standard deviation of what single chains have of their own, beyond the error that their batches give them; nan
    where there are no batches within chains to compare with.  chance: the probability of means so far apart by chance.
    """

    se: float = math.nan
    df: int = 0
    offset: float = math.nan
    chance: float = math.nan


def standard_error(per_chain: np.ndarray, trace: np.ndarray, weights: np.ndarray | None = None) -> float:
    """`mean_error(…).se`."""
    return mean_error(per_chain, trace, weights).se


def mean_error(per_chain: np.ndarray, trace: np.ndarray, weights: np.ndarray | None = None) -> MeanError:
    """Of the mean of `per_chain` [C], the mean of each chain.

    trace: [T, C].  weights: [T, C] of the states in the chains' means; None: all the same.
    """
    rows, chains = trace.shape
    if rows == 0 or chains == 0 or not np.isfinite(trace).all():
        return MeanError()
    values = trace if weights is None or np.ptp(weights) == 0 else linear_part(trace, weights)
    # The chains' means may hold more than the thinned trace: a noisy baseline, steps that decay.
    values = values + (per_chain - values.mean(axis=0))
    offset, chance = _compare(values)
    length = correlation_time(values - values.mean())
    means = _batch_means(values, length)
    if means.size < FEWEST:
        return MeanError(offset=offset, chance=chance)
    if chance < DISAGREE:
        means = per_chain
    from scipy.special import stdtrit  # scipy takes longer to import than the engine

    variance, df = means.var(ddof=1) / means.size, means.size - 1
    if rows >= FEWEST_ROWS:  # a few means that happen to agree do not know better than so many independent draws
        variance = max(variance, values.var() * length / values.size)
    return MeanError(float(math.sqrt(variance) * stdtrit(df, TWO_SIDED) / 2), df, offset, chance)


def correlation_time(centred: np.ndarray) -> float:
    """Integrated autocorrelation time of [T, C], in rows: T·C of it are one independent draw.

    centred: less the mean of all chains, so that chains at different places count as one long correlation; or each less its
    own mean. The sum of the positive, falling pairs of autocorrelations (Geyer 1992, "Practical Markov chain Monte Carlo",
    section 3.3).
    """
    rows, chains = centred.shape
    if rows < FEWEST_ROWS or np.ptp(centred) == 0:
        return float(rows)
    size = 1 << (2 * rows - 1).bit_length()
    power = np.square(np.abs(np.fft.rfft(centred, size, axis=0))).sum(axis=1)
    covariance = np.fft.irfft(power, size)[: rows // 2 * 2]
    pairs = covariance.reshape(-1, 2).sum(axis=1) / covariance[0]
    ends = np.flatnonzero(pairs <= 0)
    falling = np.minimum.accumulate(pairs[: ends[0] if len(ends) else len(pairs)])
    return float(max(2 * falling.sum() - 1, 1 / math.log10(rows * chains)))


def batch_count(rows: int, chains: int, length: float) -> int:
    """Into how many batches each chain is cut: as many as are wanted, and no shorter than they may be; one where they would be.

    length: `correlation_time` of the rows.
    """
    few = min(int(rows / (SHORTEST * length)), math.ceil(FEW / chains))
    return max(1, min(max(int(rows / (BATCH_TIMES * length)), few), math.ceil(BATCHES / chains)))


def _batch_means(values: np.ndarray, length: float) -> np.ndarray:
    """[B, C] of [T, C]."""
    rows, chains = values.shape
    batches = batch_count(rows, chains, length)
    width = rows // batches
    return values[rows - batches * width :].reshape(batches, width, chains).mean(axis=1)


def _compare(values: np.ndarray) -> tuple[float, float]:
    """Whether chains differ by more than their own batches allow: the offset, and the chance (F test of one factor)."""
    means = _batch_means(values, correlation_time(values - values.mean(axis=0)))
    batches, chains = means.shape
    if chains < 2 or batches < FEWEST + 1:
        return math.nan, math.nan
    from scipy.special import fdtrc

    within = float(means.var(axis=0, ddof=1).mean())
    between = batches * float(means.mean(axis=0).var(ddof=1))
    if within == 0:
        return math.sqrt(between / batches), float(between == 0)
    chance = float(fdtrc(chains - 1, chains * (batches - 1), between / within))
    return math.sqrt(max(between - within, 0.0) / batches), chance


def linear_part(trace: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[T, C] whose plain means are Σwx / Σw and have its variance, by its linear part (Cochran 1977, eq. 6.13)."""
    total = weights.sum(axis=0)
    mean = (weights * trace).sum(axis=0) / total
    return mean + weights * (trace - mean) * (len(trace) / total)


R_HAT_LIMIT = 1.05
ESS_LIMIT = 100
DRIFT_SHARE = 0.02
"""A drift below this share of the estimate is not worth a warning."""

SPIKE_DRAWS = 0.001
"""The share of the draws that counts as the highest."""
SPIKE_SHARE = 0.2
"""The highest draws may carry this share of the mean. nβ·ΔL has a Gamma distribution of shape λ: at λ = 1/6 its highest thousandth
carries 3%, and less for any larger λ."""


@cache
def _statistics() -> Any:
    try:
        from arviz_stats.base import array_stats
    except ImportError:
        warnings.warn(
            "arviz-stats is not installed: R-hat and ESS are nan, and the verdict cannot use them.", stacklevel=3
        )
        return None
    return with_quick_ranks(array_stats)


def _call(name: str, trace: np.ndarray) -> float:
    library = _statistics()
    if library is None or trace.shape[0] < 8 or trace.shape[1] < 1 or not np.isfinite(trace).all():
        return math.nan
    if np.ptp(trace) == 0:
        return math.nan
    with np.errstate(all="ignore"), catching_warnings():
        return float(getattr(library, name)(np.ascontiguousarray(trace.T), chain_axis=0, draw_axis=1))


def r_hat(trace: np.ndarray) -> float:
    """Rank-normalised split R-hat of a trace [T, C] (Vehtari et al. 2021); nan where it cannot be computed.

    It is inf if no chain moves and the chains are at different places: the variance within chains is then rounding only.
    """
    if trace.ndim != 2 or trace.shape[1] < 2:
        return math.nan
    found = _call("rhat", trace)
    return math.inf if math.isfinite(found) and not np.ptp(trace, axis=0).any() else found


def ess(trace: np.ndarray) -> float:
    """Bulk effective sample size of a trace [T, C], all chains together; nan where it cannot be computed."""
    return _call("ess", trace)


def plateau_drift(trace: np.ndarray) -> tuple[float, float]:
    """Second half minus first half of the kept trace [T, C], mean over chains, and its error (`errors.mean_error`).

    The halves are subtracted row by row, so that what a chain has of its own cancels. A slow rise that all chains share then
    stands out of the error, and the excursion of one chain does not. The error is nan where the chains are too slow to tell.
    """
    rows, chains = trace.shape
    if rows < 32 or chains == 0:
        return math.nan, math.nan
    half = rows // 2
    difference = trace[rows - half :] - trace[:half]
    return float(difference.mean()), standard_error(difference.mean(axis=0), difference)


def spike_share(trace: np.ndarray) -> float:
    """The share of the mean of ΔL [T, C] that the highest thousandth of the draws carries; nan where there are too few."""
    count = int(SPIKE_DRAWS * trace.size)
    total = float(trace.sum()) if count else 0.0
    if not total > 0:
        return math.nan
    return float(np.partition(trace.ravel(), trace.size - count)[-count:].sum() / total)


BOOTSTRAPS = 500
MOST_DRAWS = 5_000


@dataclass(frozen=True)
class SteinDiscrepancy:
    """v, u: V- and U-statistic of the squared discrepancy.  root: √v, the discrepancy.

    null: [B] values of √v that draws from the distribution itself would give (wild bootstrap, Chwialkowski et al. 2016); p: share of them
    that are at least as large. It is blind to modes far away that no draw has found.
    """

    v: float
    u: float
    null: np.ndarray = field(repr=False)
    p: float

    @property
    def root(self) -> float:
        return math.sqrt(max(self.v, 0.0))


def kernel_stein_discrepancy(
    draws: np.ndarray, score: np.ndarray, covariance: np.ndarray | None = None, seed: int = 0
) -> SteinDiscrepancy:
    """Between draws [N, d] and the distribution with ∇log p = score [N, d] at them.

    The kernel is the inverse multiquadric (1 + ‖x − y‖²)^−½, in coordinates in which `covariance` [d, d] is the identity (None: as
    given). Raises ValueError for shapes that do not fit and for more than 5,000 draws.
    Source: Liu, Lee & Jordan 2016; Chwialkowski, Strathmann & Gretton 2016; Gorham & Mackey 2017 for the kernel.
    """
    x, s = np.asarray(draws, dtype=float), np.asarray(score, dtype=float)
    if x.ndim != 2 or x.shape != s.shape or not 2 <= len(x) <= MOST_DRAWS:
        raise ValueError(
            f"draws has the shape {x.shape} and score {s.shape}; give both [N, d] with 2 ≤ N ≤ {MOST_DRAWS:,}."
        )
    if covariance is not None:
        root = np.linalg.cholesky(covariance)
        x, s = np.linalg.solve(root, x.T).T, s @ root
    matrix = _stein_kernel(x, s)
    count = len(x)
    v = float(matrix.mean())
    u = float((matrix.sum() - np.trace(matrix)) / (count * (count - 1)))
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(BOOTSTRAPS, count))
    null = np.sqrt(np.maximum(np.einsum("bi,ij,bj->b", signs, matrix, signs, optimize=True), 0)) / count
    return SteinDiscrepancy(v, u, null, float((null >= math.sqrt(max(v, 0.0))).mean()))


def _stein_kernel(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The Stein kernel [N, N] of k = (1 + r²)^−½."""
    squares = np.square(x).sum(axis=1)
    r2 = np.maximum(squares[:, None] + squares[None] - 2 * x @ x.T, 0.0)
    base = 1 + r2
    k, slope = base**-0.5, base**-1.5
    # ∇_x k = −slope·(x − y), ∇_y k = slope·(x − y).
    own = (s * x).sum(axis=1)
    toward = own[:, None] - s @ x.T  # s_x·(x − y)
    back = (x @ s.T) - own[None]  # s_y·(x − y)
    trace = x.shape[1] * slope - 3 * r2 * base**-2.5
    return s @ s.T * k + slope * (toward - back) + trace
