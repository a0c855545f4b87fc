"""From the way that a pointer has gone to the few points of a stroke."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from llc_core.potentials.plane.strokes import FARTHEST, MOST_POINTS

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
