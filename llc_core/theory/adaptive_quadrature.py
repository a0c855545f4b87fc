"""The exact finite-n λ̂ of a regression on the plane whose zeros lie anywhere: cells are halved where the posterior is.

The posterior is a ridge along {ρ = ρ*}, where ρ* is the least loss of the data at hand, as thin as 1/√nβ. A cell is halved at
least until the ridge, if one runs through it, is as wide as the cell; then until its integral does not change any more.
"""

from __future__ import annotations

import math

import numpy as np

from llc_core.theory.quadrature_grid import TAIL, Regression

POINTS = 6
"""Gauss points of a cell in each direction."""
FIRST = 24
"""Cells in each direction at the beginning."""
LEVELS = 14
MOST_CELLS = 500_000
"""Of all levels together, about four seconds. A ridge that needs more is given up."""
CHUNK = 4_000
"""Cells that are worked on at once."""
TOLERANCE = 1e-5
"""Of the whole integral, for the sum of what all cells change at their last halving; cells share it by their number."""
FAINT = 18.0
"""Unseen ridges are looked for where the localisation leaves more than e^(−FAINT) of its density at w0."""
SAFE = 2.0
"""How much further than its slopes say a cell may reach for a zero."""


def adaptive_mean(problem: Regression, mean: np.ndarray, n_beta: float, localization: float) -> float | None:
    """nβ·(E L_n(w) − L_n(w0)) under exp(−nβ·L_n(w) − (γ/2)‖w − w0‖²) on the plane; None where the integral does not settle.

    problem: of two parameters and q outputs.  mean: [2q], the data's means of the coefficients of ρ and ρ² (`PlanarData.mean`).
    localization: γ > 0.
    """
    reach = math.sqrt(2 * TAIL / localization)
    edge = np.linspace(-reach, reach, FIRST + 1)
    half = reach / FIRST
    x, y = (part.ravel() for part in np.meshgrid(edge[:-1] + half, edge[:-1] + half))
    law = _Law(problem, mean, n_beta, localization)
    values = law.integrals(x, y, half)
    done, count = np.zeros(2), len(x)
    for _ in range(LEVELS):
        count += 4 * len(x)
        if count > MOST_CELLS:
            return None
        half /= 2
        inner_x = (x[:, None] + half * np.array([-1, 1, -1, 1])).ravel()
        inner_y = (y[:, None] + half * np.array([-1, -1, 1, 1])).ravel()
        inner = law.integrals(inner_x, inner_y, half)
        sums = inner.reshape(len(x), 4, 3)
        total = np.abs(done + sums[:, :, :2].sum(axis=(0, 1)))
        change = np.abs(sums[:, :, :2].sum(axis=1) - values[:, :2])
        open_ = (change > TOLERANCE * total / max(len(x), 1000)).any(axis=1) | (sums[:, :, 2] > 0).any(axis=1)
        done += sums[~open_, :, :2].sum(axis=(0, 1))
        if not open_.any():
            return float(done[1] / done[0]) if done[0] > 0 and np.isfinite(done).all() else None
        keep = np.repeat(open_, 4)
        x, y, values = inner_x[keep], inner_y[keep], inner[keep]
    return None


class _Law:
    """The unnormalised posterior of one data set, relative to its density at ρ = ρ*, δ = 0."""

    def __init__(self, problem: Regression, mean: np.ndarray, n_beta: float, localization: float):
        self._problem = problem
        self._linear, self._square = np.asarray(mean, float).reshape(2, -1, 1, 1)
        self._n_beta, self._localization = n_beta, localization
        self._best = -self._linear / (2 * self._square)
        """ρ* [q]: the loss is −linear·ρ − square·ρ² summed over the outputs, and square is negative."""
        self._least = n_beta * float((self._linear**2 / (4 * self._square)).sum())
        self._sharp = math.sqrt(2 * n_beta * float(np.abs(self._square).max()))
        nodes, weights = np.polynomial.legendre.leggauss(POINTS)
        self._x, self._y = (part.ravel() for part in np.meshgrid(nodes, nodes))
        self._weights = np.outer(weights, weights).ravel()

    def integrals(self, x: np.ndarray, y: np.ndarray, half: float) -> np.ndarray:
        """∫ p, ∫ p·nβ·ΔL over cells of half width `half` around (x, y), and whether a ridge may run through unseen: [N, 3]."""
        starts = range(0, len(x), CHUNK)
        return np.concatenate([self._some(x[i : i + CHUNK], y[i : i + CHUNK], half) for i in starts])

    def _some(self, x: np.ndarray, y: np.ndarray, half: float) -> np.ndarray:
        along = x[:, None] + half * self._x
        up = y[:, None] + half * self._y
        with np.errstate(all="ignore"):
            model = self._problem.model
            rho = np.stack([np.broadcast_to(r, along.shape) for r in model.rho([along, up])])
            steep = self._steepness([along, up]).max(axis=1)
            loss = -self._n_beta * (self._linear * rho + self._square * rho * rho).sum(axis=0)
            log = -(loss - self._least) - self._localization / 2 * (along * along + up * up)
            density = np.exp(log) * self._weights * half**2
            means = np.where(density > 0, density * loss, 0.0)
            off = rho - self._best
            near = np.abs(off[0] if len(off) == 1 else np.hypot(*off)).min(axis=1)
            wide = half * steep * self._sharp
            inside = (
                -self._localization / 2 * ((np.abs(x) - half).clip(0) ** 2 + (np.abs(y) - half).clip(0) ** 2) > -FAINT
            )
            thin = (near <= SAFE * half * steep) & (wide > 3.0) & inside
        return np.stack([density.sum(axis=1), means.sum(axis=1), thin.astype(float)], axis=1)

    def _steepness(self, delta: list[np.ndarray]) -> np.ndarray:
        """How much ‖ρ‖ changes at most with the place."""
        model = self._problem.model
        if model.steepness is not None:
            bound: np.ndarray = model.steepness(delta)
            return bound
        slopes = [np.broadcast_to(s, delta[0].shape) for row in model.jacobian(delta) for s in row]
        found: np.ndarray = np.sqrt(sum(s * s for s in slopes))
        return found
