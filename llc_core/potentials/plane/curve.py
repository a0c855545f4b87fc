"""A smooth curve of circular arcs, and the way from any place to the nearest of its points: plain NumPy, [N] places at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llc_core.potentials.plane.biarcs import arcs_through, meeting

CHUNK = 8192
"""Places that are worked on at once."""
TINY = 1e-9
NEAR = 1e-9
"""A point so near to a curve is one of its points."""

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
        arcs = arcs_through(np.array(self.points), name)
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
        mine, others = ([curve._circle(i) for i in range(len(curve.half))] for curve in (self, other))
        points = [point for one in mine for another in others for point in meeting(one, another)]
        maybe = self._close_to(points) & other._close_to(points)
        near = [point for point, close in zip(points, maybe, strict=True) if close]
        return [point for point in near if self.rays(*point) and other.rays(*point)]

    def _close_to(self, points: Sequence[Place]) -> np.ndarray:
        """Which points, [N], may be of this curve: `rays` knows, and asks one by one. The room of 2·NEAR is far above rounding."""
        x, y = np.array(points).reshape(-1, 2).T
        k, ahead, left, size = self._parts(x - self.middle[0][:, None], y - self.middle[1][:, None])
        with np.errstate(all="ignore"):
            root = np.sqrt(np.maximum(1 - 2 * k * left + k * k * size, 0))
            across = (k * size - 2 * left) / (1 + root)
            straight = np.abs(k) * self.half[:, None] < 1e-8
            step = np.where(straight, ahead / (1 - k * left), np.arctan2(k * ahead, 1 - k * left) / k)
            close = (np.abs(across) <= 2 * NEAR) & (np.abs(step) <= self.half[:, None] + 2 * NEAR)
        found: np.ndarray = close.any(axis=0)
        return found

    def _circle(self, i: int) -> tuple[float, float, float, float]:
        """(a, b, c, d) of a·(x² + y²) + b·x + c·y + d = 0, the circle or line of an arc."""
        k, (px, py), (nx, ny) = float(self.curvature[i]), self.middle[:, i], self.normal[:, i]
        return (
            k,
            float(-2 * (k * px + nx)),
            float(-2 * (k * py + ny)),
            float(k * (px * px + py * py) + 2 * (px * nx + py * ny)),
        )
