"""What a chain converges to whose metric is taken at its place now and then and held in between, on the standard normal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr

from llc_core.bins import Bins
from llc_core.fields import number

FAR, PANELS, NODES, TIMES = 9.0, 40, 16, 32
SHORTEST = 1e-3
"""A time for which nodes are close enough."""


def held_masses(time: float, stability: float, bins: Bins | Mapping[str, Any] | None = None) -> np.ndarray:
    """Masses [count + 2] of x over time, as ε → 0, for dx = −½G·x dt + √G dW with G = 1/(s + |y|), y the place at the last update.

    Updates are `time` apart, in units of the chain's own time (a step has ε of it, half convention). Between them x is an
    Ornstein-Uhlenbeck process, so that y is a chain with a normal kernel, y′ ~ N(y·e^{−GT/2}, 1 − e^{−GT}): its distribution by
    quadrature, and x's from it. T → 0 gives p/G, that of a metric without Γ (Rensmeyer & Niggemann 2025, eq. 27), T → ∞ the target.
    Error of a bin's mass: 5e-5 at T = 0.001, 5e-6 at 0.01, 1e-6 from 0.1 on. ValueError below 0.001.
    """
    time, stability = number("time", time, SHORTEST), number("stability", stability, above=0)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    # panels grow with |y|, since G changes fastest near 0
    edges = FAR * np.linspace(0, 1, PANELS + 1) ** 1.5
    half = np.diff(edges)[:, None] / 2
    y, width = (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
    metric = 1 / (stability + y)
    shrunk, spread = np.exp(-metric * time / 2) * y, -np.expm1(-metric * time)
    moves = sum(np.exp(-((y - sign * shrunk[:, None]) ** 2) / (2 * spread[:, None])) for sign in (-1, 1))
    moves = moves * width / np.sqrt(2 * math.pi * spread[:, None])
    count = len(y)
    moves = moves / moves.sum(axis=1, keepdims=True)
    mass = np.linalg.solve((np.eye(count) - moves + 1).T, np.ones(count))
    mass = mass / mass.sum()
    inner, below = Bins.of(bins).edges, np.zeros(Bins.of(bins).count + 1)
    for node, weight in zip(nodes, weights, strict=True):
        for part in range(TIMES // NODES):  # the square of evenly spread numbers: x leaves y like the root of time
            share = (part + (1 + node) / 2) * NODES / TIMES
            passed = metric * time * share**2
            middle, sd = np.exp(-passed / 2) * y, np.sqrt(-np.expm1(-passed))
            for sign in (-1, 1):
                below += (
                    weight
                    / 2
                    * NODES
                    / TIMES
                    * 2
                    * share
                    * (0.5 * mass @ ndtr((inner - sign * middle[:, None]) / sd[:, None]))
                )
    found: np.ndarray = np.clip(np.diff(below, prepend=0.0, append=1.0), 0.0, 1.0)
    return found
