"""The exact distribution of a two-layer linear network around the product 0: log Z and nβ·E[ΔL] at any nβ, by quadrature."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

POINTS = 20_000
SPAN = 45.0
"""How far below log(1/nβ) the grid of log x begins; what lies lower weighs less than e^(−SPAN/2)."""
ABOVE = (12.0, 120.0)
"""The grid of x ends at 4m + 12·√m + 120, m the larger of the first two widths: the distribution of the largest eigenvalue is far below there."""
WIDEST = 5
"""Singular values for which all orders are summed."""
LONGEST = 5_000
"""The larger of the first two widths: the distribution of log x grows narrow, and the grid must see it."""


def zero_product_distribution(widths: Sequence[int], n_beta: float, second_moment: float) -> tuple[float, float]:
    """(log Z, nβ·E[ΔL]) for ΔL = s·‖W2 W1‖², with the prior N(0, 1) of every entry.

    widths: (inputs, hidden, outputs).  second_moment: s; the inputs' second moment is s times the identity. Where it is nearly so,
    take a mean of its eigenvalues: what is left is of the second order in how they differ.
    Given W1, W2 is normal, and Z = E[∏_i (1 + 2nβ·s·x_i)^(−outputs/2)] over the eigenvalues x_i of the Wishart matrix W1 W1ᵀ. In their
    joint density the differences of the x_i make a determinant of Vandermonde: a sum over orders of products of powers, each integrated
    one x_i after the other from the smallest. Raises ValueError for widths below 1, for more than WIDEST singular values, and where
    the determinant loses all its digits.
    Source of the density: Muirhead 1982, corollary 3.2.19.
    """
    inputs, hidden, outputs = widths
    count, other = min(inputs, hidden), max(inputs, hidden)
    if min(widths) < 1 or count > WIDEST or other > LONGEST:
        raise ValueError(
            f"widths are {tuple(widths)}; give three numbers from 1, of the first two the smaller at most {WIDEST} and the "
            f"larger at most {LONGEST:,}."
        )
    strength = 2 * n_beta * second_moment
    top = np.log(4 * other + ABOVE[0] * np.sqrt(other) + ABOVE[1])
    log = np.linspace(-max(np.log(max(strength, 1.0)), 0) - SPAN, top, POINTS)
    x = np.exp(log)
    density = (other - count + 1) / 2 * log - x / 2
    density = np.exp(density - density.max())
    damped = density * (1 + strength * x) ** (-outputs / 2)
    energy = outputs / 2 * strength * x / (1 + strength * x)
    step = log[1] - log[0]
    (whole,) = _ordered(density, x, step, count)
    part, loss = _ordered(damped, x, step, count, energy)
    if not (np.isfinite([whole, part, loss]).all() and whole > 0 and part > 0):
        raise ValueError(f"widths are {tuple(widths)}: the determinant loses its digits; use smaller widths.")
    return float(np.log(part / whole)), float(loss / part)


def _ordered(
    weight: np.ndarray, x: np.ndarray, step: float, count: int, energy: np.ndarray | None = None
) -> np.ndarray:
    """[∫ ∏w(x_i)·∏(x_j − x_i), the same with Σ energy(x_i)] over x_1 < … < x_count; the first alone where no energy is given.

    All orders of the same powers are summed before the next x_i: 2^count sets take the place of count! orders, and since each sum
    is positive for ordered x_i, fewer digits are lost.
    """
    factors = [weight * x**power for power in range(count)]
    start = np.zeros((1 if energy is None else 2, len(x)))
    start[0] = 1
    found: dict[tuple[int, ...], np.ndarray] = {(): start}
    for size in range(1, count + 1):
        for powers in combinations(range(count), size):
            both = np.zeros_like(start)
            for place, last in enumerate(powers):
                term = factors[last] * found[powers[:place] + powers[place + 1 :]]
                both += term if (size - place) % 2 else -term
            if energy is not None:
                both[1] += energy * both[0]
            found[powers] = np.array([_running(each, step) for each in both])
    return found[tuple(range(count))][:, -1]


def _running(values: np.ndarray, step: float) -> np.ndarray:
    """The integral up to each point, by the trapezoid rule."""
    return np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) * (step / 2))])
