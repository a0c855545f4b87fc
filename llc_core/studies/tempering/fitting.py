"""λ and its multiplicity m from λ̂(nβ) along a ladder.

Z(nβ) is a sum of terms nβ^(−λ_k) times a polynomial of log nβ, of degree m − 1 for the smallest, λ (Watanabe 2009, theorem 6.7). So

    λ̂(nβ) = λ − (m − 1)/(log nβ + c) − a·nβ^(−δ)

with δ the distance to the next λ_k. Without its last term the bend of a power law passes for a logarithm. From which level on the distribution
holds is not known either. Fits of every m, from many levels on, with c and δ on grids, are weighted by how likely they make the
levels they use (λ and a are integrated out), less PRICE for each level left out (after Jay & Neil 2021, "Bayesian model averaging
for analysis of lattice field theory results"). λ is the mean of those with the named m, and its error their whole spread.

Levels that do not reach far enough prefer a wrong m: their weights are no probabilities then. So where none has TOLD, m is not named; λ is
the mean over every m, and its error counts every m that was tried alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMALLEST = 5
"""Levels that a fit uses at least."""
HIGHEST = 3
CUTS = 40
"""Beginnings that are tried at most."""
PRICE = 0.9
"""Of a level left out. A level that fits by chance alone gains ½: at ½ all cuts would be alike, at 1 fits begin too early."""
SHIFT, USUAL_SHIFT = 8.0, 4.0
"""c lies within SHIFT of 0 and is normal with the spread USUAL_SHIFT, where nβ is counted in units of one over the loss that is typical of
the prior (on two-layer networks of widths up to 3 it is −4.2 to 2.2). A larger one would make every m look like m = 1, and were all as
likely, m = 3 with the largest would pass for m = 2."""
SHIFTS = 33
DECAYS = (0.0, 0.25, 0.5, 1.0)
"""δ: distances between neighbouring λ_k are multiples of ¼ or ½ on what was looked at. 0: there is no such term."""
TOLD = 0.95
"""Evidence above which m is named. On 2-2-2 down to nβ = 10⁶, with errors of .001, a wrong m has more in 1 of 20 simulated fits."""


@dataclass(frozen=True)
class Fit:
    """llc, se: λ and its standard error over all fits, with the named m where there is one.  evidence: {m: weight} of those tried.

    multiplicity: None where none has TOLD, and where the winner is the last one tried and a larger one could be.
    """

    llc: float
    se: float
    multiplicity: int | None
    evidence: dict[int, float]


def fit(
    n_beta: np.ndarray, llc: np.ndarray, se: np.ndarray, dim: int, multiplicity: int | None = None, near: float = 0.0
) -> Fit:
    """n_beta, llc, se: [K] of the levels above 0, nβ times the typical loss.  dim: D, since m ≤ D and λ ≤ D/2.  multiplicity: m where
    it is known.  near: correlation of the errors of neighbouring levels; it falls off as a power of their distance."""
    good = np.isfinite(llc) & np.isfinite(se)
    t, y, sd = np.log(n_beta[good]), llc[good], np.maximum(se[good], 1e-6)
    if len(t) < SMALLEST:
        raise ValueError(f"Only {len(t)} levels have a finite value; {SMALLEST} are needed. Use more levels or steps.")
    cuts = np.unique(np.linspace(0, len(t) - SMALLEST, CUTS).astype(int))
    ms = [multiplicity] if multiplicity else list(range(1, min(dim, HIGHEST) + 1))
    rows = np.concatenate(
        [_fits(t[cut:], y[cut:], sd[cut:], m, decay, near, cut) for cut in cuts for m in ms for decay in DECAYS]
    )
    rows = rows[(rows[:, 1] >= 0) & (rows[:, 1] <= dim / 2 * 1.02)]
    if not len(rows):
        return Fit(float("nan"), float("nan"), None, dict.fromkeys(ms, 0.0))
    m, value, variance, log = rows.T
    share = np.exp(log - log.max())
    share /= share.sum()
    evidence = {k: float(share[m == k].sum()) for k in ms}
    best = max(evidence, key=lambda k: evidence[k])
    named = multiplicity is not None or (evidence[best] > TOLD and (best < HIGHEST or dim <= HIGHEST))
    if named:
        share = np.where(m == best, share, 0.0) / evidence[best]
    mean = float(share @ value)
    spread = float(share @ (variance + (value - mean) ** 2))
    if not named:
        tried = [float(share[m == k] @ value[m == k] / share[m == k].sum()) for k in ms if evidence[k]]
        spread += float(np.mean([(each - mean) ** 2 for each in tried]))
    return Fit(mean, float(np.sqrt(spread)), best if named else None, evidence)


def _fits(t: np.ndarray, y: np.ndarray, sd: np.ndarray, m: int, decay: float, near: float, cut: int) -> np.ndarray:
    """Rows (m, λ, its variance, log weight), one for each c. λ is as likely anywhere; a, at the first level, is of order 1."""
    shift = np.linspace(max(1.0, t[0] - SHIFT), max(2.0, t[0] + SHIFT), SHIFTS) if m > 1 else np.ones(1)
    bend = (m - 1) / (t - t[0] + shift[:, None])
    next_term = np.exp(-decay * (t - t[0])) if decay else np.zeros_like(t)
    known = _whitened(np.stack([np.ones_like(t), next_term]) / sd, near)
    seen = _whitened((y + bend) / sd, near)
    precision = known @ known.T + np.diag([0.0, 1.0])
    covariance = np.linalg.inv(precision)
    pull = seen @ known.T
    found = pull @ covariance
    misfit = (seen * seen).sum(1) - (pull * found).sum(1)
    log = -0.5 * misfit + 0.5 * np.log(np.linalg.det(covariance)) + _usual(shift - t[0]) - PRICE * cut
    row = np.ones_like(log)
    return np.stack([m * row, found[:, 0], covariance[0, 0] * row, log], axis=1)


def _usual(c: np.ndarray) -> np.ndarray:
    """Logs of how likely each c is beforehand; they add up to 1."""
    log = -0.5 * (c / USUAL_SHIFT) ** 2
    return log - np.log(np.exp(log).sum())


def _whitened(rows: np.ndarray, near: float) -> np.ndarray:
    """rows [N, K] in units of their errors, made independent where neighbours' errors have the correlation `near`."""
    return np.concatenate([rows[:, :1], (rows[:, 1:] - near * rows[:, :-1]) / np.sqrt(1 - near * near)], axis=1)
