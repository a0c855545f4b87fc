"""The coefficient of networks of squared units, y = Σ_k (w_k·x)², at the weights that have learned a quadratic form of some rank."""

from __future__ import annotations

from fractions import Fraction

from llc_core.fields import whole
from llc_core.types import LearningCoefficient


def quadratic_network_coefficient(inputs: int, units: int, rank: int) -> LearningCoefficient:
    """λ and m of y = xᵀ(WᵀW)x at W [units, inputs] of this rank r, for the squared error and inputs in general position.

    The loss is 0 where WᵀW = Q. In an orthonormal basis of Q's range and of its kernel W = (W1, V). Three things are asked of it there:
    W1ᵀW1 is what it is, r(r + 1)/2 equations; W1ᵀV = 0, r(d − r) equations; and VᵀV = 0 of the part of V that is orthogonal to W1, a form
    of degree four in (units − r)(d − r) numbers that is 0 at 0 alone. With independent numbers their λ add up:
    λ = r(r + 1)/4 + r(d − r)/2 + (units − r)(d − r)/4, m = 1. At full rank more units cost nothing, below it each costs (d − r)/4.
    Derived here; no other statement of it is known to us. Raises ValueError for a rank that such weights cannot have.
    """
    d, h = whole("inputs", inputs, 1, 10**6), whole("units", units, 1, 10**6)
    r = whole("rank", rank, 0, min(d, h))
    return LearningCoefficient(Fraction(r * (r + 1) + 2 * r * (d - r) + (h - r) * (d - r), 4))
