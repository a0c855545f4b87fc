"""Exact finite-n answers for planar landscapes: posterior means and densities by quadrature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llc_core.fields import number, whole
from llc_core.theory.quadrature_grid import (
    Interval,
    Regression,
    log_prior,
    nodes,
    side_intervals,
    weighted_features,
    whole_intervals,
)

CHUNK = 4_000_000
"""Numbers that are worked on at once."""
PANEL = 1.5
"""Width of the widest panels, in t."""
HALVINGS = 4
TRIAL = 4
"""Data sets on which the resolution is chosen."""


@dataclass(frozen=True)
class Posterior:
    """Exact values of each data set at one nβ and γ.

    llc: [R], nβ·(E L_n(w) − L_n(w0)).  llc_sd: [R], the posterior sd of nβ·ΔL_n.
    singular_fluctuation: [R], ν = (β/2)·Σ_i Var(log p_i).
    error: the largest change of any of them, on the first data sets, when the panels were halved for the last time.
    """

    llc: np.ndarray
    llc_sd: np.ndarray
    singular_fluctuation: np.ndarray
    error: float


@dataclass(frozen=True)
class Density:
    """The posterior of one data set on a grid: density [len(x), len(y)], and the marginals on the same axes.

    x, y: coordinates of w (y is [0.] for a landscape of one parameter). All integrate to 1 over the plane, not only over
    the grid.
    """

    x: np.ndarray
    y: np.ndarray
    density: np.ndarray
    marginal_x: np.ndarray
    marginal_y: np.ndarray


def posterior(
    problem: Regression,
    n_beta: float | None = None,
    localization: float = 1.0,
    box: float | None = None,
    tolerance: float = 1e-4,
) -> Posterior:
    """Posterior means under exp(−nβ·L_n(w) − (γ/2)‖w − w0‖²)·∏|w_i|^{h_i} on [−box, box]^D or the whole plane.

    n_beta: None: n / log n.  localization: γ ≥ 0; 0 needs a box.  tolerance: panels are halved, up to HALVINGS times,
    until no value of the first data sets changes by more.
    """
    n_beta, localization = _checked(problem, n_beta, localization, box)
    intervals = whole_intervals(problem, localization, box)
    return _posterior(problem, n_beta, localization, box, tolerance, intervals)


def one_sided_posterior(
    problem: Regression,
    n_beta: float | None = None,
    localization: float = 1.0,
    box: float | None = None,
    tolerance: float = 1e-4,
) -> Posterior:
    """As `posterior`, for chains that never cross a wall, an axis w_i = 0 on which the prior |w_i|^{h_i} vanishes.

    Of every wall only the side on which chains begin counts. Without a wall it is `posterior`.
    """
    n_beta, localization = _checked(problem, n_beta, localization, box)
    intervals = side_intervals(problem, localization, box)
    return _posterior(problem, n_beta, localization, box, tolerance, intervals)


def _checked(problem: Regression, n_beta: float | None, localization: float, box: float | None) -> tuple[float, float]:
    n_beta, localization = _n_beta(problem, n_beta), number("localization", localization)
    if not problem.model.on_axes:
        raise ValueError(
            "This quadrature looks for zeros along axes, and those of a formula lie anywhere: use expected_llc_at of the landscape."
        )
    if localization < 0 or (localization == 0 and box is None):
        raise ValueError(
            f"localization is {localization:g}; without a box it must be positive, or no posterior exists."
        )
    return n_beta, localization


def _posterior(
    problem: Regression,
    n_beta: float,
    localization: float,
    box: float | None,
    tolerance: float,
    intervals: Sequence[Interval],
) -> Posterior:
    def points(panel: float) -> tuple[np.ndarray, np.ndarray]:
        return weighted_features(problem, localization, box, intervals, panel)

    def means(
        grid: tuple[np.ndarray, np.ndarray], sets: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _means(problem, n_beta, *grid, sets)

    panel, error = PANEL, np.inf
    coarse = means(points(panel), TRIAL)
    for _ in range(HALVINGS):
        panel /= 2
        finest = points(panel)
        fine = means(finest, TRIAL)
        error = max(float(np.abs(a - b).max()) for a, b in zip(coarse, fine, strict=True))
        if error < tolerance:
            break
        coarse = fine
    return Posterior(*means(finest), error=error)


def density(
    problem: Regression,
    x: Sequence[float] | np.ndarray,
    y: Sequence[float] | np.ndarray = (0.0,),
    n_beta: float | None = None,
    localization: float = 1.0,
    box: float | None = None,
    data_set: int = 0,
) -> Density:
    """The posterior density at the points (x, y) of w, and its exact marginals, for pictures."""
    n_beta, _ = _checked(problem, n_beta, localization, box)
    data_set = whole("data_set", data_set, 0, len(problem.data.mean) - 1)
    dim = problem.model.dim
    shown = [np.asarray(x, dtype=float), np.asarray(y, dtype=float)][:dim]
    intervals = whole_intervals(problem, localization, box)
    axes = [nodes(problem, i, intervals[i], PANEL / 4) for i in range(dim)]

    def integrand(along: list[np.ndarray]) -> np.ndarray:
        mesh = np.meshgrid(*along, indexing="ij")
        log = _log_density(
            problem, [m.ravel() for m in mesh], n_beta, localization, box, problem.data.mean[data_set : data_set + 1]
        )
        return log.reshape(mesh[0].shape)

    inside = [values - w for values, w in zip(shown, problem.model.w0, strict=True)]
    points, weights = [a for a, _ in axes], [b for _, b in axes]
    log = integrand(points)
    top = log.max()
    total = np.exp(log - top)
    for w in reversed(weights):
        total = total @ w
    values = np.exp(integrand(inside) - top) / total
    if dim == 1:
        return Density(shown[0], np.zeros(1), values[:, None], values, np.ones(1))
    along_x = np.exp(integrand([inside[0], points[1]]) - top) @ weights[1] / total
    along_y = weights[0] @ np.exp(integrand([points[0], inside[1]]) - top) / total
    return Density(shown[0], shown[1], values, along_x, along_y)


def _n_beta(problem: Regression, n_beta: float | None) -> float:
    return number("n_beta", problem.n / np.log(problem.n) if n_beta is None else n_beta, above=0)


def _log_density(
    problem: Regression,
    delta: list[np.ndarray],
    n_beta: float,
    localization: float,
    box: float | None,
    means: np.ndarray,
) -> np.ndarray:
    """Log of the unnormalised posterior at displacements [G], for each row of means [R, 2q]: [R, G]."""
    return n_beta * (means @ problem.features(delta)) + log_prior(problem, delta, localization, box)


def _means(
    problem: Regression, n_beta: float, features: np.ndarray, mass: np.ndarray, sets: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """λ̂, its posterior sd and ν, [R] each, of the first `sets` data sets from φ [2q, G] and the prior's mass [G]."""
    count = len(features)
    products = np.stack([features[i] * features[j] for i in range(count) for j in range(i, count)])
    table = (np.concatenate([np.ones((1, len(mass))), features, products]) * mass).T.copy()
    upper = np.triu_indices(count)
    means = problem.data.mean[:sets]
    llc, sd, nu = (np.empty(len(means)) for _ in range(3))
    beta = n_beta / problem.n
    step = max(1, CHUNK // len(mass))
    for start in range(0, len(means), step):
        rows = slice(start, start + step)
        log = n_beta * (means[rows] @ features)
        log -= log.max(axis=1, keepdims=True)
        sums = np.exp(log, out=log) @ table
        sums = sums[:, 1:] / sums[:, :1]
        first = sums[:, :count]
        second = np.empty((len(first), count, count))
        second[:, upper[0], upper[1]] = second[:, upper[1], upper[0]] = sums[:, count:]
        covariance = second - first[:, :, None] * first[:, None, :]
        llc[rows] = -n_beta * (means[rows] * first).sum(axis=1)
        sd[rows] = n_beta * np.sqrt(np.einsum("ri,rij,rj->r", means[rows], covariance, means[rows]))
        nu[rows] = beta / 2 * (problem.data.square_sum[:sets][rows] * covariance).sum(axis=(1, 2))
    return llc, sd, nu
