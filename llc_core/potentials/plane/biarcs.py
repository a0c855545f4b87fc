"""Circular arcs that run smoothly through points: between two of them lie two arcs that meet without a corner (a biarc)."""

from __future__ import annotations

import math

import numpy as np

from llc_core.fields import FieldError

LONGEST = 100.0
BEND = 1.5
"""Radians that one arc turns at most; what turns further becomes several."""

Arc = tuple[np.ndarray, np.ndarray, float, float]
"""(point [2], direction there [2], curvature, length); the curvature is positive where it turns left."""


def arcs_through(points: np.ndarray, name: str) -> list[Arc]:
    """(middle, direction, curvature, half length) of arcs through points [P, 2]."""
    found: list[Arc] = []
    tangents = _tangents(points)
    for i in range(len(points) - 1):
        first, last, t0, t1 = points[i], points[i + 1], tangents[i], tangents[i + 1]
        joint = _joint(first, last, t0, t1)
        opening = _arc(first, t0, joint)
        arcs = [opening, _arc(joint, _turned(t0, opening[2] * opening[3]), last)]
        if not all(length <= LONGEST for *_, length in arcs):
            raise FieldError(name, f"turns back too sharply at its point {i + 1}; draw what follows as another stroke.")
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


def _arc(start: np.ndarray, tangent: np.ndarray, end: np.ndarray) -> Arc:
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


def _parted(start: np.ndarray, tangent: np.ndarray, curvature: float, length: float) -> list[Arc]:
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


def meeting(one: tuple[float, ...], other: tuple[float, ...]) -> list[tuple[float, float]]:
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
