"""Exact finite-n answers for deep linear networks all of whose widths are 1: a product of M numbers, by quadrature.

ΔL(w) = s·e² − 2t·e with e = w_M⋯w_1 − P0, second moment s of the inputs and cross moment t of the noise. Given the product q of
all other factors the last one is normal, so it is integrated out by hand. The other factors are integrated one after the
other over log|w|, where a product is a sum and stays on the grid. The integrands are analytic there and fall off at both ends,
so that the trapezoid rule converges faster than any power of its step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float64]

LOWEST = 28.0
"""Factors below e^−28 times the prior's width count as 0: their share of the prior is 1e-12."""
WIDEST = 10.0
"""Factors are taken up to so many standard deviations of the prior beyond w0."""
COARSEST, PER_WIDTH = 0.05, 4.0
"""Largest step in log|w|, and the steps that a standard deviation of the prior has at least: for a normal distribution the rule's error is
2·exp(−2π²·PER_WIDTH²)."""
MOST = 4000
"""Largest number of points of a factor: more would take seconds."""


def width_one_llc(
    weights: Sequence[float], s: float, t: float, n_beta: float, localization: float, refine: int = 1
) -> float | None:
    """nβ·E[ΔL] under exp(−nβ·ΔL(w) − (γ/2)‖w − w0‖²), w0 = `weights` [M]; None where the grid would be too fine.

    s > 0, t: (1/n)Σx² and (1/n)Σx·noise.  n_beta, localization: greater than 0.  refine: divides the step, to see the error.
    """
    w0 = [float(w) for w in weights]
    deviation, largest = 1 / math.sqrt(localization), max(map(abs, w0))
    step = min(COARSEST, deviation / (PER_WIDTH * (largest + deviation))) / refine
    low = math.floor((math.log(deviation) - LOWEST) / step)
    high = math.ceil(math.log(largest + WIDEST * deviation) / step)
    if high - low > MOST:
        return None
    given_rest = _GivenRest(w0[-1], math.prod(w0), s, t, n_beta, localization)
    if len(w0) == 1:
        return float(given_rest(np.ones(1))[1][0])

    places = np.arange(low, high + 1)
    size = np.exp(step * places)
    laws = [[_mass(sign * size, w, localization) * step * size for sign in (-1.0, 1.0)] for w in w0[:-1]]
    # Sums over (weight, weight·energy) [2, signs, places] of the product so far, and their value [2] where that is 0.
    top = max(high, (len(w0) - 1) * high)
    reach = np.exp(step * np.arange(low, top + 1))
    log, energy = given_rest(np.concatenate([-reach, reach, np.zeros(1)]))
    weight = np.exp(log - log.max())
    both = np.stack([weight, weight * energy])
    at_zero, table = both[:, -1], both[:, :-1].reshape(2, 2, -1)
    for factor in range(len(w0) - 2, 0, -1):
        top = max(high, factor * high)
        table = _one_factor_less(table, at_zero, laws[factor], low, top)
    (minus, plus), count = laws[0], len(places)
    total = (
        table[:, 0, :count] @ minus + table[:, 1, :count] @ plus + at_zero * max(0.0, 1 - float((minus + plus).sum()))
    )
    return float(total[1] / total[0])


def _one_factor_less(table: Array, at_zero: Array, law: list[Array], low: int, top: int) -> Array:
    """The sums as functions of a product p with one factor less, at p = ±e^{step·place} for places low … top."""
    count, (minus, plus) = len(law[0]), law
    lacking = max(0.0, 1 - float((minus + plus).sum()))
    found = np.empty((2, 2, top - low + 1))
    for kind in range(2):
        # The factor's places begin at `low` too, so a product's begin at 2·low; what is below `low` counts as 0.
        before = max(0, -low)
        rows = [np.concatenate([np.full(before, at_zero[kind]), row])[: top - low + count] for row in table[kind]]
        skip = before + low
        rows = [
            np.pad(row[skip:] if skip >= 0 else row, (0, max(0, top - low + count - len(row))), mode="edge")
            for row in rows
        ]
        under = [sliding_window_view(row, count)[: top - low + 1] for row in rows]
        found[kind, 0] = under[0] @ plus + under[1] @ minus
        found[kind, 1] = under[1] @ plus + under[0] @ minus
    return found + lacking * at_zero[:, None, None]


def _mass(w: Array, mean: float, precision: float) -> Array:
    density: Array = np.exp(-precision / 2 * (w - mean) ** 2) * math.sqrt(precision / (2 * math.pi))
    return density


class _GivenRest:
    """Log of the integral over the last factor v, up to a constant, and the mean of nβ·ΔL under its distribution, at products q of the rest."""

    def __init__(self, mean: float, p0: float, s: float, t: float, n_beta: float, localization: float):
        self.mean, self.p0, self.s, self.t, self.n_beta, self.localization = mean, p0, s, t, n_beta, localization

    def __call__(self, q: Array) -> tuple[Array, Array]:
        """With D = q·mean − P0 and v = mean + δ: U = nβ(s(D + qδ)² − 2t(D + qδ)) + (γ/2)δ², a parabola in δ."""
        n_beta, s, t = self.n_beta, self.s, self.t
        ahead = q * self.mean - self.p0
        precision = 2 * n_beta * s * q * q + self.localization
        slope = 2 * n_beta * q * (t - s * ahead)
        delta = slope / precision
        log = slope * delta / 2 - np.log(precision) / 2 - n_beta * (s * ahead * ahead - 2 * t * ahead)
        error = ahead + q * delta
        energy = n_beta * (s * (error * error + q * q / precision) - 2 * t * error)
        return log, energy
