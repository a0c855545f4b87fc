"""λ and its multiplicity m from λ̂(nβ) along a ladder: λ̂ = λ − (m − 1)/(log nβ + c), the slope of Z ~ nβ^(−λ)·(log nβ + c)^(m − 1).

The law holds for large nβ; from where on is not known. Fits from every level on, and for every m, are averaged with the weights
exp(−½(χ² + 2k + 2·left out)) of Jay & Neil 2021 ("Bayesian model averaging for analysis of lattice field theory results", eq. 28).
Source of the law: Watanabe 2009, theorem 6.7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMALLEST = 5
"""Levels that a fit uses at least."""
HIGHEST = 3
SHIFTS = np.linspace(0, 8, 33)
"""Values of c, where nβ is counted in units of one over the loss that is typical of the prior. There log nβ + c is the log of
the prior's range of losses over that at nβ, so c is of order 1. Were c free, a large one would make every m look like m = 1."""


@dataclass(frozen=True)
class Fit:
    """llc: λ averaged over the fits of the likeliest m.  evidence: [HIGHEST] weight of m = 1, 2, …  model_sd: spread of λ over cuts."""

    llc: float
    multiplicity: int
    evidence: np.ndarray
    model_sd: float


def fit(n_beta: np.ndarray, llc: np.ndarray, se: np.ndarray, dim: int, multiplicity: int | None = None) -> Fit:
    """n_beta, llc, se: [K] of the levels above 0, nβ times the typical loss.  dim: D, since m ≤ D and λ ≤ D/2.  multiplicity: m where it is known."""
    good = np.isfinite(llc) & np.isfinite(se)
    t, y, weight = np.log(n_beta[good]), llc[good], 1 / np.maximum(se[good], 1e-12) ** 2
    if len(t) < SMALLEST:
        raise ValueError(f"Only {len(t)} levels have a finite value; {SMALLEST} are needed. Use more levels or steps.")
    rows: list[tuple[int, float, float]] = []
    for cut in range(len(t) - SMALLEST + 1):
        for m in [multiplicity] if multiplicity else range(1, min(dim, HIGHEST) + 1):
            value, misfit, free = _one(t[cut:], y[cut:], weight[cut:], m)
            if 0 <= value <= dim / 2 * 1.02:
                rows.append((m, value, -0.5 * (misfit + 2 * free + 2 * cut)))
    if not rows:
        return Fit(float("nan"), 1, np.zeros(HIGHEST), float("nan"))
    ms, values, logs = (np.array(column) for column in zip(*rows, strict=True))
    share = np.exp(logs - logs.max())
    share /= share.sum()
    evidence = np.array([share[ms == m].sum() for m in range(1, HIGHEST + 1)])
    best = int(evidence.argmax()) + 1
    own = share * (ms == best) / evidence[best - 1]
    mean = float(own @ values)
    return Fit(mean, best, evidence, float(np.sqrt(own @ (values - mean) ** 2)))


def _one(t: np.ndarray, y: np.ndarray, weight: np.ndarray, m: int) -> tuple[float, float, int]:
    """λ, χ² and the number of free values of one fit."""
    bend = np.zeros((1, len(t))) if m == 1 else (m - 1) / np.maximum(t + SHIFTS[:, None], 0.5)
    value = ((y + bend) * weight).sum(1) / weight.sum()
    misfit = ((y + bend - value[:, None]) ** 2 * weight).sum(1)
    at = int(misfit.argmin())
    return float(value[at]), float(misfit[at]), 1 if m == 1 else 2
