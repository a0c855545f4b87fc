"""Numbers by which to judge a run: R-hat, effective sample size, drift, and spikes."""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Any

import numpy as np

from llc_core.compute.quiet import catching_warnings
from llc_core.diagnostics.errors import standard_error
from llc_core.diagnostics.ranks import with_quick_ranks

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
