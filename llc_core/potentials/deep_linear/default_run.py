"""How a deep linear network is run where nothing is asked for: by exact draws of whole layers."""

from __future__ import annotations

import math

LARGEST = 1_000_000
SWEEPS = ((200, 1600), (5_000, 300), (50_000, 160), (math.inf, 100))


def gibbs_is_cheap(dim: int) -> bool:
    """Whether `Gibbs` is the cheapest way to λ̂: the decompositions of a sweep grow faster than the cost of Langevin steps."""
    return dim <= LARGEST


def usual_sweeps(dim: int) -> int:
    """Sweeps, burn-in included, of a network with `dim` parameters.

    Draws are nearly independent, and λ̂ has a relative error of 1/√(λ·draws): small networks need more of them.
    """
    return next(sweeps for largest, sweeps in SWEEPS if dim <= largest)
