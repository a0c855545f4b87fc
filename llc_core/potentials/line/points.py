"""A landscape drawn as points of its density, for example dragged on a plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

from llc_core.fields import number
from llc_core.potentials.line.jets import Jet
from llc_core.potentials.line.tables import WIDEST, TableLandscape

POINTS = (3, 60)
"""Fewest and most points."""
MOST_CONTRAST = 1e20
"""Largest ratio of two densities."""


class PointsLandscape(TableLandscape):
    """The density through points (x, density), for example dragged on a plot; it need not be normalised.

    points: 3 to 60 pairs, positive densities, distinct x within [−50, 50]. The log density is interpolated by monotone
    cubics (Fritsch & Carlson 1980: no modes but those drawn) and falls off outside the points as a Gaussian whose
    standard deviation is a sixth of their span. Raises ValueError for other points.
    """

    name, label = "points", "Drawn"
    formula = r"U=-\log(\text{drawn density})"
    about = "A density drawn through points, with Gaussian tails outside of them."

    def __init__(self, points: Sequence[Sequence[float]]):
        x, density = check_points(points)
        self.points = tuple(zip(x.tolist(), density.tolist(), strict=True))
        self.tabulate(*_drawn(x, density))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "points": [list(point) for point in self.points]}


def check_points(points: Any) -> tuple[np.ndarray, np.ndarray]:
    """x and density of the points, sorted; ValueError for points that are none of a density."""
    if isinstance(points, np.ndarray):
        points = points.tolist()
    if not isinstance(points, Sequence) or isinstance(points, str | bytes):
        raise ValueError(f"points must be a list of pairs [x, density], not a {type(points).__name__}.")
    if not POINTS[0] <= len(points) <= POINTS[1]:
        raise ValueError(f"There are {len(points)} points; draw between {POINTS[0]} and {POINTS[1]}.")
    pairs = []
    for point in points:
        if not isinstance(point, Sequence) or isinstance(point, str | bytes) or len(point) != 2:
            raise ValueError(f"points holds {str(point)[:40]!r}; every point must be a pair [x, density].")
        pairs.append((number("x of a point", point[0]), number("density of a point", point[1])))
    x, density = np.array(sorted(pairs)).T
    if np.abs(x).max() > WIDEST:
        raise ValueError(f"A point lies at x = {x[np.abs(x).argmax()]:.4g}; keep all within [-50, 50].")
    if density.min() <= 0:
        raise ValueError(f"The density at x = {x[density.argmin()]:.4g} is {density.min():.4g}; it must be positive.")
    if density.max() > MOST_CONTRAST * density.min():
        raise ValueError(
            f"The densities of the points differ by more than a factor {MOST_CONTRAST:g}; draw them closer together."
        )
    gaps = np.diff(x)
    if gaps.min() <= 1e-3 * (x[-1] - x[0]):
        at = x[int(gaps.argmin())]
        raise ValueError(f"Two points lie at nearly the same x = {at:.4g}; move them apart or remove one.")
    return x, density


def _drawn(x: np.ndarray, density: np.ndarray) -> tuple[Callable[[np.ndarray], Jet], float, float]:
    """U through the points with its derivatives, and the range to tabulate.

    The curvature jumps at the points. It is nan between them here, and the table takes it from the slopes.
    """
    energy = -np.log(density / density.max())
    slopes = PchipInterpolator(x, energy).derivative()(x)
    slopes[0], slopes[-1] = min(slopes[0], 0.0), max(slopes[-1], 0.0)
    inside = CubicHermiteSpline(x, energy, slopes)
    tail = (6 / (x[-1] - x[0])) ** 2

    def jet(at: np.ndarray) -> Jet:
        near = np.clip(at, x[0], x[-1])
        beyond = at - near
        edge = np.where(beyond < 0, slopes[0], slopes[-1])
        value = inside(near) + edge * beyond + tail * beyond**2 / 2
        slope = np.where(beyond == 0, inside(near, 1), edge + tail * beyond)
        return value, slope, np.where(beyond == 0, np.nan, tail)

    margin = 0.01 * (x[-1] - x[0])  # from there on the table's own straight line is the Gaussian tail
    return jet, float(x[0] - margin), float(x[-1] + margin)
