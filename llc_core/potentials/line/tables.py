"""Landscapes made by users, as tables: a drawn density or a formula, fast in compiled kernels and on any device.

On equal cells the slope U′ is a cubic that has the given slope and curvature at the knots; U is its integral and U″ its
derivative, so the three agree exactly and U″ is continuous. Beyond the table U′ goes on as a straight line (its last
value, and its last curvature where that is positive), which keeps exp(−U) integrable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator
from scipy.optimize import brentq
from torch import Tensor

from llc_core.fields import choice, number
from llc_core.potentials.line.expressions import Jet, parse
from llc_core.potentials.line.landscape import Landscape, Shape

WIDEST = 50.0
"""Formulas are read on [−50, 50]; drawn points lie there."""
SCAN = 20_001
DEPTH = 60.0
"""How far above its minimum U is tabulated."""
BOUND_DEPTH = 36.0
CELLS = (1024, 2048, 4096, 8192, 16384)
WANTED_ERROR = 1e-6
LARGEST_ERROR = 1e-3
TAIL_MASS = 1e-3
POINTS = (3, 60)
MOST_CONTRAST = 1e20


def _slope(x: Any, p: Any) -> Any:
    t = (x - p[-1, 0]) * p[-1, 1]
    inside = t if t > p[-1, 3] else p[-1, 3]
    inside = inside if inside < p[-1, 2] else p[-1, 2]
    i = int(inside)
    u = t - np.floor(inside)
    return p[i, 0] + u * (p[i, 1] + u * (p[i, 2] + u * p[i, 3]))


def _curvature(x: Any, p: Any) -> Any:
    t = (x - p[-1, 0]) * p[-1, 1]
    inside = t if t > p[-1, 3] else p[-1, 3]
    inside = inside if inside < p[-1, 2] else p[-1, 2]
    i = int(inside)
    u = t - np.floor(inside)
    return p[-1, 1] * (p[i, 1] + u * (2 * p[i, 2] + u * 3 * p[i, 3]))


def _energy(x: Any, p: Any) -> Any:
    t = (x - p[-1, 0]) * p[-1, 1]
    inside = t if t > p[-1, 3] else p[-1, 3]
    inside = inside if inside < p[-1, 2] else p[-1, 2]
    i = int(inside)
    u = t - np.floor(inside)
    return p[i, 4] + u * (p[i, 0] + u * (p[i, 1] / 2 + u * (p[i, 2] / 3 + u * p[i, 3] / 4))) / p[-1, 1]


SCALAR = Shape(_energy, _slope, _curvature)


class TableLandscape(Landscape):
    """A landscape from (U, U′, U″) at the knots of a table on [low, high], which carries almost all of the mass.

    parameters: [cells + 3, 5]. Row i is a cell, U′ = Σ p[i, k]·uᵏ (k < 4) with u in [0, 1], and U at its left end;
    rows 0 and cells + 1 are the straight lines outside; the last row is (left end of row 0, 1 / width, cells + 1, 0, 0).
    table_error: total variation between the law of the table and that of what it stands for, on the table's range.
    """

    scalar = SCALAR
    table_error: float

    def _tabulate(self, jet: Callable[[np.ndarray], Jet], low: float, high: float) -> None:
        for cells in CELLS:
            self.parameters = _table(jet, low, high, cells)
            self.table_error = self._error(jet, low, high, cells)
            if self.table_error <= WANTED_ERROR:
                break
        if not self.table_error <= LARGEST_ERROR:
            raise ValueError(
                f"The density has features too fine to follow on [{low:.3g}, {high:.3g}]; make it smoother."
            )
        width = (high - low) / cells
        x = np.linspace(low, high, 4 * cells + 1)
        energy = self.energy(x)
        at = int(np.argmin(energy))
        left, right = x[max(at - 1, 0)], x[min(at + 1, len(x) - 1)]
        crosses = self.slope(left) < 0 < self.slope(right)
        self.mode = float(brentq(self.slope, left, right, xtol=1e-14) if crosses else x[at])
        lowest = float(energy.min())
        deep = x[energy < lowest + BOUND_DEPTH]
        self.bounds = (self._bound(float(deep[0]), -width, lowest), self._bound(float(deep[-1]), width, lowest))

    def _bound(self, start: float, step: float, lowest: float) -> float:
        """Where U first reaches BOUND_DEPTH outwards of `start`, in the table or in the straight lines outside of it."""
        end = start
        while self.energy(end) < lowest + BOUND_DEPTH:
            start, end, step = end, end + step, 1.5 * step
        return float(brentq(lambda at: float(self.energy(at)) - lowest - BOUND_DEPTH, start, end))

    def _error(self, jet: Callable[[np.ndarray], Jet], low: float, high: float, cells: int) -> float:
        x = np.linspace(low, high, 4 * cells + 1)
        exact, ours = (np.exp(u.min() - u) for u in (jet(x)[0], self.energy(x)))
        return float(np.abs(exact / exact.sum() - ours / ours.sum()).sum() / 2)

    def energy(self, x: Any) -> np.ndarray:
        i, u, p = self._place(np.asarray(x, dtype=np.float64))
        return p[i, 4] + u * (p[i, 0] + u * (p[i, 1] / 2 + u * (p[i, 2] / 3 + u * p[i, 3] / 4))) / p[-1, 1]

    def slope(self, x: Any) -> np.ndarray:
        i, u, p = self._place(np.asarray(x, dtype=np.float64))
        return p[i, 0] + u * (p[i, 1] + u * (p[i, 2] + u * p[i, 3]))

    def curvature(self, x: Any) -> np.ndarray:
        i, u, p = self._place(np.asarray(x, dtype=np.float64))
        return p[-1, 1] * (p[i, 1] + u * (2 * p[i, 2] + u * 3 * p[i, 3]))

    def _place(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Cell and place in it; nan stays nan."""
        p = self.parameters
        t = (x - p[-1, 0]) * p[-1, 1]
        i = np.floor(np.clip(np.nan_to_num(t), 0, p[-1, 2])).astype(int)
        return i, t - i, p

    def _torch(self, which: str, x: Tensor) -> Tensor:
        p = self._tensor(x)
        t = (x.double() if x.device.type != "mps" else x) - float(self.parameters[-1, 0])
        t = t * float(self.parameters[-1, 1])
        i = t.nan_to_num(0.0).clamp(0, float(self.parameters[-1, 2])).floor()
        u = (t - i).to(x.dtype)
        a0, a1, a2, a3, a4 = p[i.long()].unbind(-1)
        width = 1 / float(self.parameters[-1, 1])
        if which == "slope":
            return a0 + u * (a1 + u * (a2 + u * a3))
        if which == "curvature":
            return (a1 + u * (2 * a2 + u * 3 * a3)) / width
        return a4 + u * (a0 + u * (a1 / 2 + u * (a2 / 3 + u * a3 / 4))) * width

    def _tensor(self, like: Tensor) -> Tensor:
        """The table in the precision and on the device of `like`."""
        kept: dict[Any, Tensor] = self.__dict__.setdefault("_tensors", {})
        key = (like.device, like.dtype)
        if key not in kept:
            kept[key] = torch.as_tensor(self.parameters).to(like.dtype).to(like.device)
        return kept[key]


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
        x, density = _points(points)
        self.points = tuple(zip(x.tolist(), density.tolist(), strict=True))
        self._tabulate(*_drawn(x, density))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "points": [list(point) for point in self.points]}


class ExpressionLandscape(TableLandscape):
    """A formula in x for the density (it need not be normalised) or for the energy U = −log density.

    expression: see `llc_core.potentials.line.expressions`.  of: "density" or "energy".
    It is read on [−50, 50], where it must be smooth and fall off. Raises ValueError with a sentence otherwise.
    """

    name, label = "expression", "Formula"

    def __init__(self, expression: str, of: str = "density"):
        self.of = choice("of", of, ("density", "energy"))
        parsed = parse(expression)
        self.expression = expression
        self.formula = f"U={parsed.latex}" if of == "energy" else rf"U=-\log\left({parsed.latex}\right)"
        self.about = f"The law whose {of} is a formula, read on [−50, 50]."

        def jet(x: np.ndarray) -> Jet:
            f, f1, f2 = parsed.jet(x)
            if self.of == "energy":
                return f, f1, f2
            with np.errstate(all="ignore"):
                return -np.log(f), -f1 / f, (f1 / f) ** 2 - f2 / f

        if self.of == "density":
            x = np.linspace(-WIDEST, WIDEST, SCAN)
            f = parsed.jet(x)[0]
            if (f < 0).any():
                raise ValueError(f"The density is negative at x = {x[f < 0][0]:.4g}; it must be positive.")
            if not (f > 0).any() and not np.isnan(f).any():
                raise ValueError("The density is 0 on all of [-50, 50]; it must be positive somewhere there.")
        self._tabulate(jet, *_range(jet, self.of))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "expression": self.expression, "of": self.of}


def _table(jet: Callable[[np.ndarray], Jet], low: float, high: float, cells: int) -> np.ndarray:
    x = np.linspace(low, high, cells + 1)
    width = (high - low) / cells
    energy, slope, curvature = jet(x)
    if not np.isfinite(slope).all():
        raise ValueError(
            f"The slope of the energy is not finite at x = {x[~np.isfinite(slope)][0]:.4g}; make it smooth there."
        )
    curvature = np.where(np.isfinite(curvature), curvature, np.gradient(slope, width))
    c0, c1 = width * curvature[:-1], width * curvature[1:]
    rise = slope[1:] - slope[:-1]
    p = np.zeros((cells + 3, 5))
    p[1:-2, 0], p[1:-2, 1] = slope[:-1], c0
    p[1:-2, 2], p[1:-2, 3] = 3 * rise - 2 * c0 - c1, c0 + c1 - 2 * rise
    steps = width * (p[1:-2, 0] + p[1:-2, 1] / 2 + p[1:-2, 2] / 3 + p[1:-2, 3] / 4)
    base = energy[0] - energy.min()
    p[1:-2, 4] = base + np.concatenate([[0.0], np.cumsum(steps[:-1])])
    first, last = max(c0[0], 0.0), max(c1[-1], 0.0)
    p[0] = slope[0] - first, first, 0, 0, base - width * (slope[0] - first / 2)
    p[-2] = slope[-1], last, 0, 0, base + steps.sum()
    p[-1] = low - width, 1 / width, cells + 1, 0, 0
    return p


def _points(points: Any) -> tuple[np.ndarray, np.ndarray]:
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
    """The jet of U through the points, and the range to tabulate. Its curvature jumps at the points: left to the table."""
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


def _range(jet: Callable[[np.ndarray], Jet], of: str) -> tuple[float, float]:
    """Where U is within DEPTH of its minimum; ValueError where exp(−U) is not a density that we can follow."""
    low, high = -WIDEST, WIDEST
    for _ in range(4):
        x = np.linspace(low, high, SCAN)
        energy, slope, _ = jet(x)
        bad = np.isnan(energy) | (energy == -np.inf)
        if bad.any():
            raise ValueError(
                f"The {of} is not a finite number at x = {x[bad][0]:.4g}; it must be one on all of [-50, 50]."
            )
        within = np.flatnonzero(energy < energy.min() + DEPTH)
        if not len(within):
            raise ValueError(f"The {of} is not a finite number anywhere on [-50, 50].")
        first, last = int(within[0]), int(within[-1])
        middle = energy[first : last + 1]
        if not np.isfinite(middle).all():
            at = x[first : last + 1][~np.isfinite(middle)][0]
            what = "0, or too small to hold," if of == "density" else "not a finite number"
            raise ValueError(f"The {of} is {what} at x = {at:.4g}; between its modes the density must be positive.")
        if last - first >= 200:
            break
        low, high = max(low, x[max(first - 1, 0)]), min(high, x[min(last + 1, SCAN - 1)])
    mass = np.exp(energy.min() - energy).sum() * (x[1] - x[0])
    for index, outward in ((first, -1.0), (last, 1.0)):
        s = outward * slope[index]
        if not s > 0 or np.exp(energy.min() - energy[index]) / s > TAIL_MASS * mass:
            at = f"towards x = {x[index]:.4g}"
            raise ValueError(
                f"The density does not fall off fast enough {at} to be integrable; "
                "multiply it by something like exp(-x^2/100)."
                if of == "density"
                else f"The energy does not rise fast enough {at}; add something like x^2/100."
            )
    return float(x[first]), float(x[last])
