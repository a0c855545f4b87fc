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


SLOW = 0.6
"""What lasts keeps this share from one draw to the next …"""
LEFT = 0.3
MOST_KEPT = 60
BENT = 0.2
"""… and falls as one exponential does, up to this share: what falls quickly at first may hold moves that look like batches."""
PIECES = 16
"""Parts of the traces whose spread gives the errors."""


def parts(centred: np.ndarray) -> Parts:
    """Of [T, C] less the mean. What lasts is taken to fall as φᵏ with the lag k: φ from the sums over lags 1 … K and 2 … K + 1, and its
    size at lag 0 by least squares, K being where a third is left. Jackknife over pieces of the chains gives the errors (Künsch 1989).
    """
    rows, chains = centred.shape
    each = max(1, min(PIECES // chains, rows // 32))
    if each * chains < 4:
        return Parts()
    width = rows // each
    pieces = centred[: each * width].reshape(each, width, chains).transpose(1, 0, 2).reshape(width, each * chains)
    lag = np.stack([(pieces[: width - k] * pieces[k:]).mean(axis=0) for k in range(min(MOST_KEPT, width // 4) + 2)])
    mean, count = lag.mean(axis=1), lag.shape[1]
    low = np.flatnonzero(mean[1:-1] < mean[1] * LEFT)
    last = max(int(low[0]) if len(low) else len(mean) - 2, 4)
    if mean[1] <= 0:
        return Parts()
    whole, bend, share = _lasting(mean, last)
    total = lag.sum(axis=1)
    left = np.array([_lasting((total - lag[:, i]) / (count - 1), last)[:2] for i in range(count)])
    if not np.isfinite([whole, *left.ravel()]).all():
        return Parts()
    errors = np.sqrt((count - 1) / count * np.square(left - left.mean(axis=0)).sum(axis=0))
    apart = share > SLOW and abs(bend) < BENT + 2 * errors[1]
    return Parts(float(mean[0] - whole), float(errors[0]), whole, float(errors[0]), bool(apart))


def _lasting(lag: np.ndarray, last: int) -> tuple[float, float, float]:
    """At lag 0; by which share lag 1 is above that rule; and φ. nan where the lags do not fall."""
    ahead, behind = float(lag[1 : last + 1].sum()), float(lag[2 : last + 2].sum())
    share = behind / ahead if ahead > 0 else math.nan
    if not 0 < share < 1:
        return math.nan, math.nan, math.nan
    powers = share ** np.arange(1, last + 1)
    size = float((lag[1 : last + 1] * powers).sum() / np.square(powers).sum())
    return size, float(lag[1] / (size * share) - 1), share
