"""The noise of loss traces: its autocovariance, the part that is new at every draw, and the error of any weighted mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FEWEST_INDEPENDENT = 8
"""With fewer independent draws of all chains together nothing is tested."""
WHITE_ERRORS = 4
"""Errors from which on a part of the noise counts as seen."""
MOST_LAGS = 2000


def covariances(centred: np.ndarray) -> np.ndarray:
    """[K + 1] autocovariance at lags 0 … K of [T, C], of all chains together, each lag divided by the number of its pairs."""
    rows, chains = centred.shape
    lags = min(rows // 2, MOST_LAGS)
    size = 1 << (2 * rows - 1).bit_length()
    power = np.square(np.abs(np.fft.rfft(centred, size, axis=0))).sum(axis=1)
    found: np.ndarray = np.fft.irfft(power, size)[: lags + 1] / ((rows - np.arange(lags + 1)) * chains)
    return found


def until_noise(covariance: np.ndarray) -> np.ndarray:
    """The same up to where the pairs of lags stop to be positive and falling (Geyer 1992), behind which they are chance; 0 there."""
    even = covariance[: len(covariance) // 2 * 2]
    pairs = even.reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    many = int(ends[0]) if len(ends) else len(pairs)
    kept = np.zeros_like(covariance)
    falling = np.minimum.accumulate(pairs[:many])
    share = falling / pairs[:many]
    kept[: 2 * many] = even[: 2 * many] * np.repeat(share, 2)
    kept[0] = covariance[0]
    return kept


@dataclass(frozen=True)
class Noise:
    """What traces [T, C] scatter by, in units of λ̂.

    covariance: [K + 1], 0 behind what is more than chance.  time: integrated autocorrelation time, in draws.
    independent: how many independent draws all chains together are worth.
    """

    covariance: np.ndarray
    time: float
    independent: float

    @classmethod
    def of(cls, centred: np.ndarray) -> Noise:
        """centred: [T, C] less what is no noise, such as the mean of all chains."""
        rows, chains = centred.shape
        covariance = until_noise(covariances(centred))
        variance = float(covariance[0])
        time = float(2 * covariance.sum() / variance - 1) if variance > 0 else 1.0
        time = min(max(time, 1.0), float(rows))
        return cls(covariance, time, rows * chains / time)

    def error(self, weights: np.ndarray, chains: int) -> float:
        """Standard error of Σ_t weights_t · (mean over the chains of x_t)."""
        size = 1 << (2 * len(weights) - 1).bit_length()
        own = np.fft.irfft(np.square(np.abs(np.fft.rfft(weights, size))), size)[: len(self.covariance)]
        total = own[0] * self.covariance[0] + 2 * float((own[1:] * self.covariance[1 : len(own)]).sum())
        return math.sqrt(max(total, own[0] * self.covariance[0] * 1e-3) / chains)


def probability(errors: float, degrees: float) -> float:
    """Two-sided, of a value so many errors away from 0 (Student's t)."""
    from scipy.special import stdtr  # scipy takes longer to import than the engine

    return float(2 * stdtr(max(degrees, 1.0), -abs(errors)))


@dataclass(frozen=True)
class Parts:
    """Variances of what is new at every draw, as batches are, and of what lasts, as the chains' own moves; with errors; nan: not known.

    apart: whether what lasts does so for many draws, so that quick moves of the chains are not taken for batches.
    """

    new: float = math.nan
    new_se: float = math.nan
    lasting: float = math.nan
    lasting_se: float = math.nan
    apart: bool = False

    @property
    def noisy(self) -> bool:
        """Whether there is a part that is new at every draw."""
        return self.new > max(WHITE_ERRORS * self.new_se, 0.02 * (self.new + self.lasting))


SLOW = 0.7
"""What lasts keeps this share from one draw to the next …"""
BENT = 0.1
"""… and falls as one exponential does, up to this share: what falls quickly at first may hold moves that look like batches."""
PIECES = 16
"""Parts of the traces whose spread gives the errors."""


def parts(centred: np.ndarray) -> Parts:
    """Of [T, C] less the mean. What lasts is continued from lags 1 … 3 to lag 0, as an exponential is: c₁²/c₂.
    Jackknife over pieces of the chains gives the errors (Künsch 1989). Of chains that move in several times it is a lower bound."""
    rows, chains = centred.shape
    each = max(1, PIECES // chains)
    if rows // each < 32:
        each = max(1, rows // 32)
    if each * chains < 4:
        return Parts()
    width = rows // each
    pieces = centred[: each * width].reshape(each, width, chains).transpose(1, 0, 2).reshape(width, each * chains)
    lag = np.stack([(pieces[: width - k] * pieces[k:]).mean(axis=0) for k in range(4)])
    whole, count = _lasting(lag.mean(axis=1)), lag.shape[1]
    if not math.isfinite(whole):
        return Parts()
    total = lag.sum(axis=1)
    left = np.array([[m[0] - _lasting(m), _lasting(m)] for m in ((total - lag[:, i]) / (count - 1) for i in range(count))])
    if not np.isfinite(left).all():
        return Parts()
    errors = np.sqrt((count - 1) / count * np.square(left - left.mean(axis=0)).sum(axis=0))
    bends = [_bend((total - lag[:, i]) / (count - 1)) for i in range(count)]
    error = math.sqrt((count - 1) / count * float(np.square(bends - np.mean(bends)).sum()))
    slow = lag[2].mean() > SLOW * lag[1].mean() and abs(_bend(lag.mean(axis=1))) < BENT + 2 * error
    return Parts(float(lag[0].mean() - whole), float(errors[0]), whole, float(errors[1]), slow)


def _bend(lag: np.ndarray) -> float:
    """By how much lags 1, 2, 3 are off one exponential."""
    return float(lag[1] * lag[3] / lag[2] ** 2 - 1)


def _lasting(lag: np.ndarray) -> float:
    """At lag 0, from lags 1, 2, 3; nan where they do not fall as what lasts does."""
    _, first, second, _ = lag
    if first <= 0 or second <= 0.1 * first:
        return math.nan
    return float(first * min(first / second, 2.0))
