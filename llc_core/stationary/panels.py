"""Panels of Gauss-Legendre quadrature over the whole line, and what is computed with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from llc_core.potentials.line.landscape import Landscape
from llc_core.stationary.target_shape import slope_zeros, target_scale

NODES, WEIGHTS = np.polynomial.legendre.leggauss(14)
BASE_PANELS = 160
"""Panels between the bounds of the target, before refinement."""
FINEST = 2.0**-44
"""Towards a zero of the slope, panels halve in width down to this part of the target's scale."""
DOUBLINGS = 64
"""Beyond the bounds, panels double in width, this many times."""
PIECE = 50_000
"""Elements at a time. A target with a thousand wells has 2 million points, and for each of them 14 of its own, twice."""
NEGLIGIBLE = 1e-18
"""Share of a sum that does not count."""


@dataclass(frozen=True)
class Panels:
    """edges [P + 1]; points, weights, density [P, nodes]; below, above [P + 1]: mass on either side of an edge;
    log_total: logarithm of the integral of the weight."""

    edges: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    density: np.ndarray
    below: np.ndarray
    above: np.ndarray
    log_total: float


def panel_edges(target: Landscape) -> np.ndarray:
    """Panel edges over the whole line, including those far in the tails."""
    low, high = target.bounds
    scale = target_scale(target)
    reach = np.arcsinh((np.array([low, high]) - target.mode) / scale)
    edges: list[np.ndarray] = [
        target.mode + scale * np.sinh(np.linspace(reach[0], reach[1], BASE_PANELS + 1)),
        np.array([target.mode, low, high]),
    ]
    halves = scale * 2.0 ** np.arange(0, np.log2(FINEST) - 1, -1)
    for zero in slope_zeros(target):
        edges += [zero - halves, zero + halves, np.array([zero])]
    inside = np.unique(np.clip(np.concatenate(edges), low, high))
    far = (high - low) * (2.0 ** np.arange(1, DOUBLINGS) - 1)
    return np.concatenate([low - far[::-1], inside, high + far])


def panel_points(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    half = np.diff(edges)[:, None] / 2
    return edges[:-1, None] + half * (1 + NODES), half * WEIGHTS


def in_pieces(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """f of x, any shape, for an f that makes an array of its own for each element: some elements at a time."""
    flat = np.ravel(x)
    if flat.size <= PIECE:
        return f(x)
    return np.concatenate([f(flat[i : i + PIECE]) for i in range(0, flat.size, PIECE)]).reshape(np.shape(x))


def bisect_all(f: Callable[[np.ndarray], np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Zeros of f between a and b, all at once."""
    if len(a) == 0:
        return a
    sign = np.sign(f(a))
    for _ in range(40):
        middle = (a + b) / 2
        left = np.sign(f(middle)) == sign
        a, b = np.where(left, middle, a), np.where(left, b, middle)
    return (a + b) / 2


def infinite_sum(parts: np.ndarray) -> float:
    """Σ parts, with ±inf where the outermost panels do not get smaller."""
    total = float(parts.sum())
    for outer, inner in ((parts[0], parts[1]), (parts[-1], parts[-2])):
        if abs(outer) > NEGLIGIBLE * abs(total) and abs(outer) > 0.99 * abs(inner):
            return float(np.copysign(np.inf, outer))
    return total
