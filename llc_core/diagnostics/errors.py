"""The error of a mean along chains that covers: ± 2 of it holds the truth 19 times in 20, however few the chains are.

All chains sample one law, so the means of long batches, of all chains together, are draws of one number: their spread is the
spread over chains and that within chains at once. How long a batch must be is measured. Where the chains' means differ by
more than the batches allow, the batches were too short after all, and the chains alone are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

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


def _batch_means(values: np.ndarray, length: float) -> np.ndarray:
    """[B, C] of [T, C]: as many as are wanted, and no shorter than they may be; one where they would be."""
    rows, chains = values.shape
    few = min(int(rows / (SHORTEST * length)), math.ceil(FEW / chains))
    batches = max(1, min(max(int(rows / (BATCH_TIMES * length)), few), math.ceil(BATCHES / chains)))
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
