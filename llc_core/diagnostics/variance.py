"""λ̂ from how much nβ·ΔL varies, beside that from its mean; and what γ has to do with both.

Write X = nβ·ΔL and G = (γ/2)‖w − w0‖². Scaling U = X + G by t near 1 gives d E[X]/dt = −Cov(X, X + G) (an exact identity of
exponential families). Where the loss is homogeneous about its minimum in what γ does not hold, E[X] at t is E[X]/t, so that
Cov(X, X + G) = E[X] = λ whatever the degree, and on a quadratic for any γ. What is taken off every loss, such as L_n(w0), drops
out of the covariance and not out of the mean. Without γ it is (nβ)²·Var(L_n) (SIVE, arXiv 2606.22389).

d E[X]/d log γ = −Cov(X, G) says how much of λ̂ is γ's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from llc_core.diagnostics.errors import standard_error

FEWEST_LOOKS = 8
KNOWN = 0.5
"""A value that is known to no better than this share of itself is not told."""


class FromVariance(NamedTuple):
    """llc, se: λ̂ from the variance and its standard error.  gap, gap_se: λ̂ from the mean less that, where both share their chance.
    of_gamma, of_gamma_se: Cov(X, G), by which λ̂ falls where log γ rises by 1.  All in units of λ̂; nan: not known."""

    llc: float = math.nan
    se: float = math.nan
    gap: float = math.nan
    gap_se: float = math.nan
    of_gamma: float = math.nan
    of_gamma_se: float = math.nan


class Looks(NamedTuple):
    """What was seen of some chains at the same moments, [looks, C].

    loss: X.  pull: 2G.  along: δ·∇X with gradients of all data, for which δ = w − w0; None: not known.
    """

    loss: np.ndarray
    pull: np.ndarray
    along: np.ndarray | None = None


def from_variance(trace: np.ndarray | None, looks: Looks, heat: float) -> FromVariance:
    """trace: X [T, C] after burn-in, of losses on all data; None where those of the steps hold the noise of minibatches, and the
    losses of `looks` then stand for it.

    heat: what the step's size and noise add to λ̂. On a quadratic they add twice that to the variance, which is taken off.
    """
    of_gamma = _least(_with_gamma(looks))
    losses = looks.loss if trace is None else trace
    if losses.shape[0] < FEWEST_LOOKS or losses.shape[1] < 1 or not np.isfinite(losses).all():
        return FromVariance(of_gamma=of_gamma[0], of_gamma_se=of_gamma[1])
    mean = losses.mean()
    square = (losses - mean) ** 2
    value, se = float(square.mean()), standard_error(square.mean(axis=0), square)
    between = standard_error(losses.mean(axis=0), losses)
    value += between**2 if math.isfinite(between) else 0.0  # the mean that is taken off follows the draws
    difference = losses - square
    gap, gap_se = mean - value, standard_error(difference.mean(axis=0), difference)
    if not math.isfinite(of_gamma[0]):
        return FromVariance()
    llc, se = value + of_gamma[0] - 2 * heat, math.hypot(se, of_gamma[1])
    gap, gap_se = float(gap) - of_gamma[0] + heat, math.hypot(gap_se, of_gamma[1], heat / 2)
    known = se < KNOWN * abs(llc)
    return FromVariance(llc if known else math.nan, se if known else math.nan, gap, gap_se, *of_gamma)


def _with_gamma(looks: Looks) -> list[tuple[float, float]]:
    """Cov(X, G) in the ways there are: from both, and by Stein's identity from the loss alone, which flat directions do not blur.

    E[δ·∇X] = Cov(X, δ·∇U) (Stein 1972, with the field δ·(X − E[X])), and δ·∇U = δ·∇X + 2G.
    """
    loss, pull, along = looks
    if len(loss) < FEWEST_LOOKS or loss.shape[1] < 1 or not (np.isfinite(loss).all() and np.isfinite(pull).all()):
        return []
    centred = loss - loss.mean()
    ways = [centred * (pull - pull.mean()) / 2]
    if along is not None and np.isfinite(along).all():
        ways.append(along / 2 - centred * (along - along.mean()) / 2)
    return [(float(way.mean()), standard_error(way.mean(axis=0), way)) for way in ways]


def _least(ways: list[tuple[float, float]]) -> tuple[float, float]:
    """The one that is known best."""
    known = [way for way in ways if math.isfinite(way[1])]
    return min(known, key=lambda way: way[1], default=(math.nan, math.nan))
