"""Valleys that are drawn: smooth curves of circular arcs through a few points, and the way from any place to the nearest of them.

Arcs join without a corner (biarcs), so that the distance is smooth beside the curve. Everything is plain NumPy, [N] places at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.fields import is_list, number, short

MOST_STROKES, MOST_POINTS = 4, 16
FARTHEST = 5.0
"""Largest coordinate of a point, and of w0. At γ = 1 quadrature needs a crossing well within the posterior's reach."""
APART = 0.01
"""Least distance of two points that follow one another."""
LONGEST = 100.0
BEND = 1.5
"""Radians that one arc turns at most; what turns further becomes several."""
CHUNK = 8192
"""Places that are worked on at once."""
TINY = 1e-9

Points = Sequence[Sequence[float]]
Place = tuple[float, float]


@dataclass(frozen=True)
class Offsets:
    """From the nearest point of a curve to each place.  along, up: [N], its two parts.  bend: [N], and side: [2, N], give its slopes."""

    along: np.ndarray
    up: np.ndarray
    side: np.ndarray
    bend: np.ndarray

    @property
    def slopes(self) -> np.ndarray:
        """∂(along, up)/∂(x, y), symmetric: [3, N] of xx, xy, yy. 1 across the curve, and `bend` along it."""
        (x, y), k = self.side, self.bend
        return np.stack([k + (1 - k) * x * x, (1 - k) * x * y, k + (1 - k) * y * y])


class Curve:
    """One stroke. points: its corners as they were read; a last one like the first closes it.

    Of every arc: middle and direction there [2, A], curvature [A] (positive: it turns left), half its length [A].
    """

    def __init__(self, points: Points, name: str = "stroke"):
        self.points = [(float(x), float(y)) for x, y in points]
        arcs = _arcs(np.array(self.points), name)
        self.middle, self.direction = np.array([a[0] for a in arcs]).T, np.array([a[1] for a in arcs]).T
        self.curvature, self.half = (np.array([a[i] for a in arcs]) for i in (2, 3))
        x, y = self.direction
        self.normal = np.stack([-y, x])
        bent = np.abs(self.curvature) * self.half
        with np.errstate(all="ignore"):
            self._reach = np.where(bent > 1e-8, np.tan(bent) / np.abs(self.curvature), self.half)
        self._joints = np.stack([self._at(-self.half), self._at(self.half)], axis=2).reshape(2, -1)

    @property
    def length(self) -> float:
        return float(2 * self.half.sum())

    def _at(self, step: np.ndarray) -> np.ndarray:
        """Points [2, A] of the arcs, `step` [A] along each from its middle."""
        turned = self.curvature * step
        ahead = step * np.sinc(turned / np.pi)
        left = step * np.sinc(turned / 2 / np.pi) * np.sin(turned / 2)
        found: np.ndarray = self.middle + ahead * self.direction + left * self.normal
        return found

    def outline(self, spacing: float = 0.04) -> np.ndarray:
        """Points [2, N] along the curve, for drawing."""
        parts = []
        for i, half in enumerate(self.half):
            steps = np.linspace(-half, half, 2 + int(2 * half / spacing))
            parts.append(np.stack([self._at(np.full(len(self.half), s))[:, i] for s in steps], axis=1))
        return np.concatenate(parts, axis=1)

    def offsets(self, x: np.ndarray, y: np.ndarray) -> Offsets:
        """x, y: [N]."""
        parts = [self._offsets(x[i : i + CHUNK], y[i : i + CHUNK]) for i in range(0, max(len(x), 1), CHUNK)]
        if len(parts) == 1:
            return parts[0]
        names = ("along", "up", "side", "bend")
        return Offsets(*(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names))

    def distances(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """To every arc, inf where none of its points is the nearest of its circle, and to every end of an arc: [A + E, N], squared."""
        vx, vy = x - self.middle[0][:, None], y - self.middle[1][:, None]
        k, ahead, left, size = self._parts(vx, vy)
        root = np.sqrt(np.maximum(1 - 2 * k * left + k * k * size, 0))
        across = (k * size - 2 * left) / (1 + root)
        inside = np.abs(ahead) <= self._reach[:, None] * (1 + TINY) * (1 - k * left)
        ends = (x - self._joints[0][:, None]) ** 2 + (y - self._joints[1][:, None]) ** 2
        return np.concatenate([np.where(inside, across * across, np.inf), ends])

    def _parts(self, vx: np.ndarray, vy: np.ndarray) -> tuple[np.ndarray, ...]:
        ahead = vx * self.direction[0][:, None] + vy * self.direction[1][:, None]
        left = vx * self.normal[0][:, None] + vy * self.normal[1][:, None]
        return self.curvature[:, None], ahead, left, vx * vx + vy * vy

    def _offsets(self, x: np.ndarray, y: np.ndarray) -> Offsets:
        best = self.distances(x, y).argmin(axis=0)
        arcs = len(self.half)
        arc = np.minimum(best, arcs - 1)
        (nx, ny), k = self.normal[:, arc], self.curvature[arc]
        vx, vy = x - self.middle[0][arc], y - self.middle[1][arc]
        left, size = vx * nx + vy * ny, vx * vx + vy * vy
        root = np.sqrt(np.maximum(1 - 2 * k * left + k * k * size, 0))
        across = (k * size - 2 * left) / (1 + root)
        safe = np.maximum(root, TINY)
        center = root < TINY  # every point of the circle is as near: one of them is taken
        ex, ey = np.where(center, -nx, (k * vx - nx) / safe), np.where(center, -ny, (k * vy - ny) / safe)
        end = best >= arcs
        joint = self._joints[:, np.maximum(best - arcs, 0)]
        along, up = np.where(end, x - joint[0], across * ex), np.where(end, y - joint[1], across * ey)
        bend = np.where(end, 1.0, across * k / safe)
        return Offsets(along, up, np.stack([ex, ey]), bend)

    def rays(self, x: float, y: float) -> list[Place]:
        """Unit vectors in which the curve leaves one of its points: two, one at an end, four where it crosses itself."""
        found: list[Place] = []
        for i, half in enumerate(self.half):
            v = np.array([x, y]) - self.middle[:, i]
            k, left = self.curvature[i], float(v @ self.normal[:, i])
            ahead = float(v @ self.direction[:, i])
            root = math.sqrt(max(1 - 2 * k * left + k * k * float(v @ v), 0))
            across = (k * float(v @ v) - 2 * left) / (1 + root)
            step = ahead / (1 - k * left) if abs(k) * half < 1e-8 else math.atan2(k * ahead, 1 - k * left) / k
            if abs(across) > NEAR or abs(step) > half + NEAR:
                continue
            turned = k * step
            here = math.cos(turned) * self.direction[:, i] + math.sin(turned) * self.normal[:, i]
            if step < half - NEAR:
                found.append((float(here[0]), float(here[1])))
            if step > NEAR - half:
                found.append((-float(here[0]), -float(here[1])))
        return found

    def crossings(self, other: Curve) -> list[Place]:
        """Points that both curves have, those where they only touch among them."""
        return [
            point
            for i in range(len(self.half))
            for j in range(len(other.half))
            for point in _meeting(self._circle(i), other._circle(j))
            if self.rays(*point) and other.rays(*point)
        ]

    def _circle(self, i: int) -> tuple[float, float, float, float]:
        """(a, b, c, d) of a·(x² + y²) + b·x + c·y + d = 0, the circle or line of an arc."""
        k, (px, py), (nx, ny) = float(self.curvature[i]), self.middle[:, i], self.normal[:, i]
        return (
            k,
            float(-2 * (k * px + nx)),
            float(-2 * (k * py + ny)),
            float(k * (px * px + py * py) + 2 * (px * nx + py * ny)),
        )


NEAR = 1e-9
"""A point so near to a curve is one of its points."""


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
        raise ValueError(f"strokes is {short(values)}; give a list of 1 to {MOST_STROKES} strokes.")
    curves = []
    for i, points in enumerate(values):
        name = f"strokes[{i}]"
        if not is_list(points) or not 2 <= len(points) <= MOST_POINTS:
            raise ValueError(f"{name} is {short(points)}; give 2 to {MOST_POINTS} points [w1, w2].")
        if not all(is_list(point) and len(point) == 2 for point in points):
            raise ValueError(f"{name} is {short(points)}; every point is a list of two numbers [w1, w2].")
        read = [[number(f"{name}[{j}]", value) for value in point] for j, point in enumerate(points)]
        for j, point in enumerate(read):
            if max(map(abs, point)) > FARTHEST:
                raise ValueError(f"{name}[{j}] is {point}; both must lie between −{FARTHEST:g} and {FARTHEST:g}.")
            if j and math.dist(point, read[j - 1]) < APART:
                raise ValueError(f"{name}[{j}] is {point}, as the point before it; leave one of them out.")
        curves.append(Curve(read, name))
    return Strokes(curves)


def _arcs(points: np.ndarray, name: str) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
    """(middle, direction, curvature, half length) of arcs through points [P, 2]."""
    found = []
    tangents = _tangents(points)
    for i in range(len(points) - 1):
        first, last, t0, t1 = points[i], points[i + 1], tangents[i], tangents[i + 1]
        joint = _joint(first, last, t0, t1)
        opening = _arc(first, t0, joint)
        arcs = [opening, _arc(joint, _turned(t0, opening[2] * opening[3]), last)]
        if not all(length <= LONGEST for *_, length in arcs):
            raise ValueError(
                f"{name} turns back too sharply at its point {i + 1}; draw what follows as another stroke."
            )
        for start, tangent, curvature, length in arcs:
            if length > 1e-12:
                found += _parted(start, tangent, curvature, length)
    return found


def _tangents(points: np.ndarray) -> np.ndarray:
    """At each point that of the circle through it and its neighbours, [P, 2]; at an end its mirror image."""
    ahead = np.diff(points, axis=0)
    pull = ahead / (ahead**2).sum(axis=1, keepdims=True)
    inner = pull[:-1] + pull[1:]
    closed = len(points) > 3 and bool((points[0] == points[-1]).all())
    if closed:
        ends = np.stack([pull[-1] + pull[0]] * 2)
    elif len(points) == 2:
        ends = np.stack([ahead[0], ahead[0]])
    else:
        ends = np.stack([_mirrored(_unit(inner[0]), ahead[0]), _mirrored(_unit(inner[-1]), ahead[-1])])
    return np.array([_unit(t) for t in (ends[0], *inner, ends[1])])


def _unit(vector: np.ndarray) -> np.ndarray:
    size = float(np.hypot(*vector))
    return vector / size if size > 1e-12 else np.array([1.0, 0.0])


def _mirrored(tangent: np.ndarray, chord: np.ndarray) -> np.ndarray:
    way = _unit(chord)
    found: np.ndarray = 2 * float(tangent @ way) * way - tangent
    return found


def _joint(first: np.ndarray, last: np.ndarray, t0: np.ndarray, t1: np.ndarray) -> np.ndarray:
    """Where the two arcs of a biarc meet whose control polygons have equal sides."""
    v, both = last - first, t0 + t1
    size, ahead, open_ = float(v @ v), float(v @ both), 2 * (1 - float(t0 @ t1))
    if open_ > 1e-9:
        side = (math.sqrt(ahead * ahead + open_ * size) - ahead) / open_
    else:
        side = size / (2 * ahead) if ahead > 1e-12 else math.inf
    found: np.ndarray = (first + last + side * (t0 - t1)) / 2 if math.isfinite(side) else (first + last) / 2
    return found


def _arc(start: np.ndarray, tangent: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(start, tangent, curvature, length) of the arc that leaves a point in a direction and reaches another."""
    chord = end - start
    size = float(np.hypot(*chord))
    if size < 1e-12:
        return start, tangent, 0.0, 0.0
    ahead, left = float(chord @ tangent) / size, float(tangent[0] * chord[1] - tangent[1] * chord[0]) / size
    turn = math.atan2(left, ahead)
    length = size / np.sinc(turn / np.pi) if abs(turn) < math.pi - 1e-9 else math.inf
    return start, tangent, 2 * left / size, float(length)


def _turned(tangent: np.ndarray, angle: float) -> np.ndarray:
    if not math.isfinite(angle):
        return tangent
    x, y = tangent
    return np.array([x * math.cos(angle) - y * math.sin(angle), y * math.cos(angle) + x * math.sin(angle)])


def _parted(
    start: np.ndarray, tangent: np.ndarray, curvature: float, length: float
) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
    count = 1 + int(abs(curvature) * length / BEND)
    half = length / count / 2
    normal = np.array([-tangent[1], tangent[0]])
    found = []
    for i in range(count):
        step = (2 * i + 1) * half
        turned = curvature * step
        ahead = step * np.sinc(turned / np.pi)
        left = step * np.sinc(turned / 2 / np.pi) * math.sin(turned / 2)
        found.append((start + ahead * tangent + left * normal, _turned(tangent, turned), curvature, half))
    return found


def _meeting(one: tuple[float, ...], other: tuple[float, ...]) -> list[Place]:
    """Points that two circles or lines have."""
    (a, b, c, d), (e, f, g, h) = one, other
    if abs(a) < 1e-12:
        line, circle = (b, c, d), other
    elif abs(e) < 1e-12:
        line, circle = (f, g, h), one
    else:
        line, circle = (b * e - f * a, c * e - g * a, d * e - h * a), one
    p, q, r = line
    size = p * p + q * q
    if size < 1e-18:
        return []
    x, y = -r * p / size, -r * q / size
    dx, dy = -q / math.sqrt(size), p / math.sqrt(size)
    a, b, c, d = circle
    square, twice, rest = a, 2 * a * (x * dx + y * dy) + b * dx + c * dy, a * (x * x + y * y) + b * x + c * y + d
    if abs(square) < 1e-12:
        steps = [-rest / twice] if abs(twice) > 1e-12 else []
    else:
        inside = twice * twice - 4 * square * rest
        if inside < -1e-12:
            return []
        root = math.sqrt(max(inside, 0.0))
        stable = -(twice + math.copysign(root, twice)) / 2
        steps = [stable / square, rest / stable] if abs(stable) > 1e-15 else [0.0]
    return [(x + step * dx + 0.0, y + step * dy + 0.0) for step in steps]


SPACING = 0.6
"""Length of a stroke between two of its points, unless it needs more than there may be."""
SHORTEST = 0.2
CLOSES = 0.12
"""A stroke that ends as near to its beginning as this part of its length, and as SPACING, is closed."""


def stroke_of(x: Any, y: Any) -> list[list[float]]:
    """A few points, for `read_strokes`, of the way that a pointer has gone, x and y [N]. ValueError where it is too short."""
    path = np.clip(np.array([x, y], dtype=float), -FARTHEST, FARTHEST)
    path = path[:, np.isfinite(path).all(axis=0)]
    length = _length(path)
    if length < SHORTEST:
        raise ValueError("This stroke is too short for a valley; draw a longer one.")
    smooth = _evenly(path, 65)
    for _ in range(2):  # a hand trembles
        smooth[:, 2:-2] = sum(smooth[:, 2 + k : 63 + k] for k in (-2, -1, 0, 1, 2)) / 5
    closed = math.dist(path[:, 0], path[:, -1]) < min(SPACING, CLOSES * length)
    found = np.round(_evenly(smooth, int(np.clip(2 + length / SPACING, 4 if closed else 3, MOST_POINTS))), 3) + 0.0
    if closed:
        found[:, -1] = found[:, 0]
    points: list[list[float]] = found.T.tolist()
    return points


def _length(path: np.ndarray) -> float:
    return float(np.hypot(*np.diff(path, axis=1)).sum())


def _evenly(path: np.ndarray, count: int) -> np.ndarray:
    """[2, count] points at equal distances along a polyline [2, N]."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=1)))])
    at = np.linspace(0, along[-1], count)
    return np.array([np.interp(at, along, part) for part in path])
