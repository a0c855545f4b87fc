"""Where the quadrature of a planar landscape evaluates: intervals of each parameter, nodes, and the prior's mass there.

The zero set {ρ = 0} runs along axes, and the posterior is a ridge there, as thin as 10⁻⁵ far out. In t with
w = c + s·sinh(t) every ridge has width O(1) whatever its thickness, so that Gauss-Legendre panels of unit width in t
converge at an exponential rate. Where the axis is an edge of panels, a prior |w|^h may have its kink there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from llc_core.fields import number

NODES = 10
FINEST = 1e-6
"""s: below this distance from an axis the grid is even."""
TAIL = 40.0
"""A Gaussian prior is cut where its density is e^(−TAIL) of the mode's."""
RHO_POINTS = 20_000
RHO_SCALE = 1e-5
"""Grid of ρ, even below RHO_SCALE of 0 and then growing like sinh."""

Interval = tuple[float, float]


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


def whole_intervals(problem: Regression, localization: float, box: float | None) -> list[Interval]:
    """Displacements from w0 that carry the posterior, one interval for each parameter. ValueError where there are none."""
    intervals = []
    for w0, power in zip(problem.model.w0, problem.model.powers, strict=True):
        low, high = _in_box(_reach(localization, power, 0.0), box, w0)
        intervals.append(_not_empty(low, high, problem, box))
    return intervals


def side_intervals(problem: Regression, localization: float, box: float | None) -> list[Interval]:
    """The same on one side only of every wall: the side on which chains begin.

    A wall is the axis w_i = 0 where the prior |w_i|^h_i vanishes, so that chains of small steps never cross it.
    """
    intervals = []
    for start, w0, power in zip(problem.start, problem.model.w0, problem.model.powers, strict=True):
        # If w0 lies behind the wall, the density is highest at the wall and falls from there: the tail begins later.
        behind = power > 0 and (start + w0) * w0 < 0
        low, high = _in_box(_reach(localization, power, w0 * w0 if behind else 0.0), box, w0)
        if power:
            low, high = (max(low, -w0), high) if start + w0 >= 0 else (low, min(high, -w0))
        intervals.append(_not_empty(low, high, problem, box))
    return intervals


def _reach(localization: float, power: float, further: float) -> Interval:
    """Where the localisation's Gaussian ends. further: added to the square of its reach."""
    if localization <= 0:
        return -np.inf, np.inf
    reach = np.sqrt((2 * TAIL + 4 * power) / localization + further)
    return -reach, reach


def _in_box(interval: Interval, box: float | None, w0: float) -> Interval:
    if box is None:
        return interval
    number("box", box, above=0)
    return max(interval[0], -box - w0), min(interval[1], box - w0)


def _not_empty(low: float, high: float, problem: Regression, box: float | None) -> Interval:
    if low >= high:
        raise ValueError(
            f"box is {box:g}, and none of the posterior around w0 = ({', '.join(f'{w:g}' for w in problem.model.w0)}) "
            "lies in it; use a larger box or a smaller localization."
        )
    return low, high


def nodes(problem: Regression, index: int, interval: Interval, panel: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (displacements) and weights along one parameter. panel: width of the panels in t."""
    center, (low, high) = problem.model.ridge[index], interval
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


def log_prior(problem: Regression, delta: list[np.ndarray], localization: float, box: float | None) -> np.ndarray:
    """Log of −(γ/2)δ² and of ∏|w_i|^h_i at displacements [G]; −∞ outside the box."""
    log = np.zeros_like(delta[0])
    for d, w0, power in zip(delta, problem.model.w0, problem.model.powers, strict=True):
        log -= localization / 2 * d * d
        if power:
            with np.errstate(divide="ignore"):
                log += power * np.log(np.abs(d + w0))
        if box is not None:
            log[np.abs(d + w0) > box] = -np.inf
    return log


def weighted_features(
    problem: Regression, localization: float, box: float | None, intervals: Sequence[Interval], panel: float
) -> tuple[np.ndarray, np.ndarray]:
    """φ [2q, G] and the prior's mass [G] at each of G points.

    The posterior knows w only through ρ. For one output the prior's mass is therefore gathered on a fine grid of ρ, which
    saves one dimension for every data set. A point's mass is shared linearly between its two neighbours on that grid: the
    error is of second order.
    """
    axes = [nodes(problem, index, interval, panel) for index, interval in enumerate(intervals)]
    mesh = np.meshgrid(*[a for a, _ in axes], indexing="ij")
    delta = [m.ravel() for m in mesh]
    mass = axes[0][1]
    for _, w in axes[1:]:
        mass = np.multiply.outer(mass, w).ravel()
    mass = mass * np.exp(log_prior(problem, delta, localization, box))
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
