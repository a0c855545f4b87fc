"""Valleys that are drawn: several smooth curves, the product of the ways to them, and where they cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.fields import FieldError, is_list, number, short
from llc_core.potentials.plane.curve import Curve, Offsets, Place

MOST_STROKES, MOST_POINTS = 4, 16
FARTHEST = 5.0
"""Largest coordinate of a point, and of w0. At γ = 1 quadrature needs a crossing well within the posterior's reach."""
APART = 0.01
"""Least distance of two points that follow one another."""


class Strokes:
    """All curves of a drawing. ρ is the product of the ways to each of them, as complex numbers: |ρ| is the product of distances."""

    def __init__(self, curves: Sequence[Curve]):
        self.curves = list(curves)
        self._last: tuple[np.ndarray, np.ndarray, list[Offsets]] | None = None

    def product(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Both parts of ρ, [2, ...] of the shape of x and y."""
        found: Any = 1.0
        for way in self._ways(x, y):
            found = found * (way.along + 1j * way.up)
        return np.array([found.real, found.imag]).reshape(2, *np.shape(x))

    def slopes(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """∂ρ_i/∂w_j, [2, 2, ...] of the shape of x and y."""
        value: Any = 1.0
        by_x: Any = 0.0
        by_y: Any = 0.0
        for way in self._ways(x, y):
            z, (xx, xy, yy) = way.along + 1j * way.up, way.slopes
            by_x = by_x * z + value * (xx + 1j * xy)
            by_y = by_y * z + value * (xy + 1j * yy)
            value = value * z
        found = np.array([[by_x.real, by_y.real], [by_x.imag, by_y.imag]])
        return found.reshape(2, 2, *np.shape(x))

    def steepness(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """A bound of the slope of |ρ|, of the shape of x and y: no distance changes by more than the place does."""
        value: Any = 1.0
        slope: Any = 0.0
        for way in self._ways(x, y):
            distance = np.hypot(way.along, way.up)
            slope, value = slope * distance + value, value * distance
        return np.broadcast_to(slope, np.size(x)).reshape(np.shape(x))

    def _ways(self, x: np.ndarray, y: np.ndarray) -> list[Offsets]:
        """To each curve. Value and slopes are asked for at the same places one after the other: those are worked out once."""
        flat, last = (np.ravel(x), np.ravel(y)), self._last
        if last is not None and np.array_equal(last[0], flat[0]) and np.array_equal(last[1], flat[1]):
            return last[2]
        found = [curve.offsets(*flat) for curve in self.curves]
        self._last = flat[0].copy(), flat[1].copy(), found
        return found

    def nearest(self, x: float, y: float) -> Place:
        """The point of a curve that is nearest to a place."""
        here = np.array([x]), np.array([y])
        ways = [curve.offsets(*here) for curve in self.curves]
        way = min(ways, key=lambda w: float(np.hypot(w.along[0], w.up[0])))
        return x - float(way.along[0]), y - float(way.up[0])

    @cached_property
    def crossings(self) -> list[Place]:
        """Points that several curves have."""
        found: list[Place] = []
        for i, one in enumerate(self.curves):
            for other in self.curves[i + 1 :]:
                for point in one.crossings(other):
                    if all(math.dist(point, known) > 1e-6 for known in found):
                        found.append(point)
        return found

    @property
    def middle(self) -> Place:
        """The point half way along the first curve, to within an arc."""
        curve = self.curves[0]
        i = int(np.searchsorted(np.cumsum(2 * curve.half), curve.length / 2))
        return float(curve.middle[0][i]), float(curve.middle[1][i])

    def bundles(self, x: float, y: float) -> list[list[Place]]:
        """Of every curve that has this point, the directions in which it leaves it."""
        return [rays for curve in self.curves if (rays := curve.rays(x, y))]


def read_strokes(values: Any) -> Strokes:
    """Curves through the points of a list of strokes [[[x, y], …], …]; ValueError, one sentence, for what is none."""
    if not is_list(values) or not 1 <= len(values) <= MOST_STROKES:
        raise FieldError("strokes", f"is {short(values)}; give a list of 1 to {MOST_STROKES} strokes.")
    curves = []
    for i, points in enumerate(values):
        name = f"strokes[{i}]"
        if not is_list(points) or not 2 <= len(points) <= MOST_POINTS:
            raise FieldError(name, f"is {short(points)}; give 2 to {MOST_POINTS} points [w1, w2].")
        if not all(is_list(point) and len(point) == 2 for point in points):
            raise FieldError(name, f"is {short(points)}; every point is a list of two numbers [w1, w2].")
        read = [[number(f"{name}[{j}]", value) for value in point] for j, point in enumerate(points)]
        for j, point in enumerate(read):
            if max(map(abs, point)) > FARTHEST:
                raise FieldError(f"{name}[{j}]", f"is {point}; both must lie between −{FARTHEST:g} and {FARTHEST:g}.")
            if j and math.dist(point, read[j - 1]) < APART:
                raise FieldError(f"{name}[{j}]", f"is {point}, as the point before it; leave one of them out.")
        curves.append(Curve(read, name))
    return Strokes(curves)
