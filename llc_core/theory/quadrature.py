"""Exact finite-n answers for planar landscapes: posterior means and densities by quadrature.

The zero set {ρ = 0} runs along axes, and the posterior is a ridge there, as thin as 10⁻⁵ far out. In t with
w = c + s·sinh(t) every ridge has width O(1) whatever its thickness, so that Gauss-Legendre panels of unit width in t
converge at an exponential rate. Where the axis is an edge of panels, a prior |w|^h may have its kink there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from llc_core.fields import number, whole

NODES = 10
FINEST = 1e-6
"""s: below this distance from an axis the grid is even."""
TAIL = 40.0
"""A Gaussian prior is cut where its density is e^(−TAIL) of the mode's."""
CHUNK = 4_000_000
RHO_POINTS = 20_000
RHO_SCALE = 1e-5
"""Grid of ρ, even below RHO_SCALE of 0 and then growing like sinh."""
PANEL = 1.5
HALVINGS = 4
TRIAL = 4
"""Data sets on which the resolution is chosen."""


class Regression(Protocol):
    """What quadrature asks of a planar landscape (`llc_core.potentials.plane.regression.Planar`)."""

    @property
    def n(self) -> int: ...
    @property
    def model(self) -> Any: ...
    @property
    def data(self) -> Any: ...
    @property
    def start(self) -> Sequence[float]: ...
    def features(self, delta: list[np.ndarray]) -> np.ndarray: ...


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
    walls: bool = False,
) -> Posterior:
    """Posterior means under exp(−nβ·L_n(w) − (γ/2)‖w − w0‖²)·∏|w_i|^{h_i} on [−box, box]^D or the whole plane.

    n_beta: None: n / log n.  localization: γ ≥ 0; 0 needs a box.  tolerance: panels are halved, up to HALVINGS times,
    until no value of the first data sets changes by more.  walls: only the side on which chains begin of every axis on
    which a prior |w_i|^{h_i} vanishes, for chains that never cross.
    """
    n_beta, localization = _temperature(problem, n_beta), number("localization", localization)
    if localization < 0 or (localization == 0 and box is None):
        raise ValueError(
            f"localization is {localization:g}; without a box it must be positive, or no posterior exists."
        )
    panel, error = PANEL, np.inf
    coarse = _means(problem, n_beta, localization, box, panel, walls, TRIAL)
    for _ in range(HALVINGS):
        panel /= 2
        fine = _means(problem, n_beta, localization, box, panel, walls, TRIAL)
        error = max(float(np.abs(a - b).max()) for a, b in zip(coarse, fine, strict=True))
        if error < tolerance:
            break
        coarse = fine
    return Posterior(*_means(problem, n_beta, localization, box, panel, walls), error=error)


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
    n_beta = _temperature(problem, n_beta)
    data_set = whole("data_set", data_set, 0, len(problem.data.mean) - 1)
    dim = problem.model.dim
    shown = [np.asarray(x, dtype=float), np.asarray(y, dtype=float)][:dim]
    axes = [_axis(problem, i, localization, box, PANEL / 4) for i in range(dim)]

    def integrand(points: list[np.ndarray]) -> np.ndarray:
        mesh = np.meshgrid(*points, indexing="ij")
        log = _log_density(
            problem, [m.ravel() for m in mesh], n_beta, localization, box, problem.data.mean[data_set : data_set + 1]
        )
        return log.reshape(mesh[0].shape)

    inside = [values - w for values, w in zip(shown, problem.model.w0, strict=True)]
    nodes, weights = [a for a, _ in axes], [b for _, b in axes]
    log = integrand(nodes)
    top = log.max()
    total = np.exp(log - top)
    for w in reversed(weights):
        total = total @ w
    values = np.exp(integrand(inside) - top) / total
    if dim == 1:
        return Density(shown[0], np.zeros(1), values[:, None], values, np.ones(1))
    along_x = np.exp(integrand([inside[0], nodes[1]]) - top) @ weights[1] / total
    along_y = weights[0] @ np.exp(integrand([nodes[0], inside[1]]) - top) / total
    return Density(shown[0], shown[1], values, along_x, along_y)


def _temperature(problem: Regression, n_beta: float | None) -> float:
    value = problem.n / np.log(problem.n) if n_beta is None else number("n_beta", n_beta)
    if value <= 0:
        raise ValueError(f"n_beta is {value:g}; it must be greater than 0.")
    return float(value)


def _axis(
    problem: Regression, index: int, localization: float, box: float | None, panel: float, walls: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (displacements) and weights along one parameter."""
    center, w0 = problem.model.ridge[index], problem.model.w0[index]
    power = problem.model.powers[index]
    low, high = -np.inf, np.inf
    if localization > 0:
        # Behind a wall that lies between it and w0 the density is highest at the wall, and falls from there.
        behind = walls and power > 0 and (problem.start[index] + w0) * w0 < 0
        reach = np.sqrt((2 * TAIL + 4 * power) / localization + (w0 * w0 if behind else 0.0))
        low, high = -reach, reach
    if box is not None:
        if number("box", box) <= 0:
            raise ValueError(f"box is {box:g}; it must be greater than 0.")
        low, high = max(low, -box - w0), min(high, box - w0)
    if walls and power:
        low, high = (max(low, -w0), high) if problem.start[index] + w0 >= 0 else (low, min(high, -w0))
    if low >= high:
        raise ValueError(
            f"box is {box:g}, and none of the posterior around w0 = ({', '.join(f'{w:g}' for w in problem.model.w0)}) "
            "lies in it; use a larger box or a smaller localization."
        )
    scale, panel = FINEST, panel / max(1.0, problem.model.degrees[index] / 2)
    first, last = np.arcsinh((low - center) / scale), np.arcsinh((high - center) / scale)
    cuts = [first, 0.0, last] if first < 0 < last else [first, last]
    edges: list[float] = [first]
    for a, b in zip(cuts, cuts[1:], strict=False):
        edges += list(np.linspace(a, b, max(2, int(np.ceil((b - a) / panel)) + 1))[1:])
    ordered = np.array(edges)
    points, gauss = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(ordered) / 2
    t = ((ordered[1:] + ordered[:-1]) / 2)[:, None] + half[:, None] * points
    weight = half[:, None] * gauss * scale * np.cosh(t)
    return (center + scale * np.sinh(t)).ravel(), weight.ravel()


def _log_density(
    problem: Regression,
    delta: list[np.ndarray],
    n_beta: float,
    localization: float,
    box: float | None,
    means: np.ndarray,
) -> np.ndarray:
    """Log of the unnormalised posterior at displacements [G], for each row of means [R, 2q]: [R, G]."""
    return n_beta * (means @ problem.features(delta)) + _log_prior(problem, delta, localization, box)


def _log_prior(problem: Regression, delta: list[np.ndarray], localization: float, box: float | None) -> np.ndarray:
    log = np.zeros_like(delta[0])
    for d, w0, power in zip(delta, problem.model.w0, problem.model.powers, strict=True):
        log -= localization / 2 * d * d
        if power:
            with np.errstate(divide="ignore"):
                log += power * np.log(np.abs(d + w0))
        if box is not None:
            log[np.abs(d + w0) > box] = -np.inf
    return log


def _weighted_features(
    problem: Regression, localization: float, box: float | None, panel: float, walls: bool
) -> tuple[np.ndarray, np.ndarray]:
    """φ [2q, G] and the prior's mass [G] at each of G points.

    The posterior knows w only through ρ, so for one output the prior's mass is gathered on a fine grid of ρ: what many
    data sets then share is one dimension less. Linear sharing between neighbours keeps the error of second order.
    """
    axes = [_axis(problem, i, localization, box, panel, walls) for i in range(problem.model.dim)]
    mesh = np.meshgrid(*[a for a, _ in axes], indexing="ij")
    delta = [m.ravel() for m in mesh]
    mass = axes[0][1]
    for _, w in axes[1:]:
        mass = np.multiply.outer(mass, w).ravel()
    mass = mass * np.exp(_log_prior(problem, delta, localization, box))
    features = problem.features(delta)
    if len(features) > 2:
        return features, mass
    t = np.arcsinh(features[0] / RHO_SCALE)
    low, high = t.min(), t.max()
    place = (t - low) * ((RHO_POINTS - 1) / (high - low))
    below = np.minimum(place.astype(np.int64), RHO_POINTS - 2)
    above = place - below
    gathered = np.bincount(below, mass * (1 - above), RHO_POINTS) + np.bincount(below + 1, mass * above, RHO_POINTS)
    rho = RHO_SCALE * np.sinh(np.linspace(low, high, RHO_POINTS))
    return np.stack([rho, rho * rho]), gathered


def _means(
    problem: Regression,
    n_beta: float,
    localization: float,
    box: float | None,
    panel: float,
    walls: bool,
    sets: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    features, mass = _weighted_features(problem, localization, box, panel, walls)
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
