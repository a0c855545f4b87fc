"""Numbers by which to judge a run: R-hat, effective sample size, standard error, drift, and spikes."""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Any

import numpy as np

from llc_core.compute.quiet import catching_warnings

R_HAT_LIMIT = 1.05
ESS_LIMIT = 100
DRIFT_SHARE = 0.02
"""A drift below this share of the estimate is not worth a warning."""

SPIKE_DRAWS = 0.001
"""The share of the draws that counts as the highest."""
SPIKE_SHARE = 0.2
"""The highest draws may carry this share of the mean. nβ·ΔL has a Gamma law of shape λ: at λ = 1/6 its highest thousandth
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
    return array_stats


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


def standard_error(per_chain: np.ndarray, trace: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Standard error of the mean over independent chains.

    per_chain: [C], the mean of each chain.  trace: [T, C].  weights: [T, C] of the states in the chains' means; None: all
    the same. Four chains or more: from the spread of their means. Fewer: from the means of √T batches within each chain,
    which needs no second chain.
    """
    chains = len(per_chain)
    if chains >= 4:
        return float(np.std(per_chain, ddof=1) / math.sqrt(chains))
    if chains == 0 or len(trace) < 16:
        return math.nan
    batches = int(math.sqrt(len(trace)))
    width = len(trace) // batches
    parts = trace[: batches * width].reshape(batches, width, chains)
    if weights is None or np.ptp(weights) == 0:
        variances = np.var(parts.mean(axis=1), axis=0, ddof=1) / batches
    else:
        variances = _weighted_batch_variance(parts, weights[: batches * width].reshape(batches, width, chains))
    return float(math.sqrt(variances.sum()) / chains)


def _weighted_batch_variance(parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Variance [C] of Σwx / Σw from batches [B, width, C]: of a ratio of two means, by its linear part (Cochran 1977,
    eq. 6.13)."""
    batches = len(parts)
    weight, total = weights.sum(axis=1), (weights * parts).sum(axis=1)
    mean = total.sum(axis=0) / weight.sum(axis=0)
    off = total - mean * weight
    return batches / (batches - 1) * np.square(off).sum(axis=0) / np.square(weight.sum(axis=0))


def plateau_drift(trace: np.ndarray) -> tuple[float, float]:
    """Second half minus first half of the kept trace [T, C], mean over chains, and its standard error.

    The error is the larger of the spread over chains and that of batch means within chains. A slow rise that all chains
    share then stands out of it, and the excursion of one chain does not.
    """
    rows, chains = trace.shape
    if rows < 32 or chains == 0:
        return math.nan, math.nan
    half = rows // 2
    first, second = trace[:half], trace[rows - half :]
    drift = float((second.mean(axis=0) - first.mean(axis=0)).mean())
    within = math.hypot(_batch_error(first), _batch_error(second))
    if chains >= 4:
        differences = second.mean(axis=0) - first.mean(axis=0)
        between = float(np.std(differences, ddof=1) / math.sqrt(chains))
        return drift, max(between, within)
    return drift, within


def spike_share(trace: np.ndarray) -> float:
    """The share of the mean of ΔL [T, C] that the highest thousandth of the draws carries; nan where there are too few."""
    count = int(SPIKE_DRAWS * trace.size)
    total = float(trace.sum()) if count else 0.0
    if not total > 0:
        return math.nan
    return float(np.partition(trace.ravel(), trace.size - count)[-count:].sum() / total)


def _batch_error(part: np.ndarray) -> float:
    rows, chains = part.shape
    batches = max(4, int(math.sqrt(rows) / 2))
    width = rows // batches
    means = part[: batches * width].reshape(batches, width, chains).mean(axis=1)
    return float(math.sqrt((np.var(means, axis=0, ddof=1) / batches).sum()) / chains)
