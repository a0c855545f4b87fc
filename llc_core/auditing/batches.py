"""Faults of batches: chains that share them, and epochs that are replayed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from llc_core.auditing.chains import CHANCE
from llc_core.auditing.noise import covariances, probability
from llc_core.auditing.words import Finding, Flaw

LEAST_CORRELATION = 0.05
MOST_ORDER = 8


def innovations(x: np.ndarray) -> np.ndarray:
    """What is new at each draw of [T, C]: less what the last draws foretell, by one rule for all chains (Yule & Walker)."""
    from scipy.linalg import solve_toeplitz  # scipy takes longer to import than the engine

    late = x[len(x) // 8 :]
    centred = late - late.mean(axis=0)
    order = min(MOST_ORDER, len(centred) // 20)
    covariance = _covariances(centred, order)
    rule = solve_toeplitz(covariance[:-1], covariance[1:]) if order and covariance[0] > 0 else np.zeros(0)
    new = centred[order:].copy()
    for lag, weight in enumerate(rule, 1):
        new -= weight * centred[order - lag : len(centred) - lag]
    return new


def _covariances(centred: np.ndarray, order: int) -> np.ndarray:
    """[order + 1], divided by the number of draws, so that a rule made of them is stable."""
    rows = len(centred)
    return np.array([(centred[: rows - k] * centred[k:]).sum() for k in range(order + 1)]) / centred.size


def correlation(new: np.ndarray) -> tuple[float, float]:
    """Mean correlation of pairs of chains of [T, C], and how many errors that is."""
    rows, chains = new.shape
    unit = (new - new.mean(axis=0)) / new.std(axis=0)
    r = (float(np.square(unit.mean(axis=1)).mean()) * chains - 1) / (chains - 1)
    return r, r * math.sqrt(rows * chains * (chains - 1) / 2)


def shared_batches(new: np.ndarray, different: int) -> Finding | None:
    """different: how many of the draws have batches of their own; the others repeat these."""
    if new.shape[1] < 2 or not (new.std(axis=0) > 0).all():
        return None
    r, errors = correlation(new)
    errors *= math.sqrt(min(different / len(new), 1.0))
    if r < LEAST_CORRELATION or probability(max(errors, 0.0), math.inf if len(new) > 400 else len(new) / 4) > CHANCE:
        return None
    return Flaw.SHARED_BATCHES.found(r=r)


LEAST_RETURN = 0.05
SHORTEST_EPOCH = 3
KEEPS = 0.8


def replayed_epochs(x: np.ndarray, share: float) -> int | None:
    """The draws after which the noise of [T, C] comes back; None: it does not.

    share: correlation of the chains' noise, 0 where they have batches of their own.

    A replay puts one lag above those beside it. That is what the correlation of differences between draws shows: +r at the lag, −r/2
    on each side, 0 further on. Of a few batches of all chains it is less clean, but comes back at twice the lag, and at three times.
    """
    steps = np.diff(x[len(x) // 8 :], axis=0)
    rows, chains = steps.shape
    steps = steps - steps.mean(axis=0)
    found = covariances(steps)
    if not found[0] > 0 or len(found) < SHORTEST_EPOCH + 3:
        return None
    r = found / found[0]
    lags = np.arange(SHORTEST_EPOCH, len(r) - 2)
    spread = math.sqrt(1 + 2 * float(np.square(r[1:SHORTEST_EPOCH]).sum()))
    errors = r[lags] * np.sqrt((rows - lags) * chains / (1 + (chains - 1) * max(share, 0.0))) / spread
    keeps = np.array([_comes_back(r, int(lag)) for lag in lags])
    beside, beyond = (r[lags - 1] + r[lags + 1]) / 2, np.maximum(np.abs(r[lags - 2]), np.abs(r[lags + 2]))
    spike = (((beside < -0.2 * r[lags]) & (beyond < r[lags] / 2)) | keeps) & (r[lags] > LEAST_RETURN)
    for index in np.flatnonzero(spike):
        if probability(errors[index], (rows - lags[index]) * chains / 4) * len(lags) < CHANCE:
            return int(lags[index])
    return None


def _comes_back(r: np.ndarray, lag: int) -> bool:
    """Whether the correlation at three times the lag is what it is at the lag, and above all before: a wave of the chains fades."""
    if 3 * lag >= len(r) or r[lag] <= r[1:lag].max():
        return False
    return bool(min(r[2 * lag], r[3 * lag]) > KEEPS * r[lag])


def of_batches(x: np.ndarray) -> Iterator[Finding]:
    """Faults of batches, of chains that are not odd."""
    new = innovations(x)
    share = correlation(new)[0] if new.shape[1] > 1 and (new.std(axis=0) > 0).all() else 0.0
    lag = replayed_epochs(x, share)
    shared = shared_batches(new, len(new) if lag is None else lag)
    if shared is not None:
        yield shared
    if lag is not None:
        yield Flaw.REPLAYED_EPOCHS.found(lag=lag)
