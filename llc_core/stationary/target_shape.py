"""The shape of a target on the line: where its slope is 0, and how wide its wells are."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from llc_core.potentials.line.landscape import Landscape


def slope_zeros(target: Landscape) -> np.ndarray:
    """Where U′ changes its sign between the target's bounds; of a stretch where it is 0, both ends."""
    low, high = target.bounds
    scale = target_scale(target)
    reach = np.arcsinh((np.array([low, high]) - target.mode) / scale)
    x = np.unique(np.append(target.mode + scale * np.sinh(np.linspace(reach[0], reach[1], 4001)), target.mode))
    slope = np.nan_to_num(np.asarray(target.slope(x), dtype=float))
    turn = np.flatnonzero(slope[:-1] * slope[1:] < 0)
    found = [
        brentq(lambda t: float(target.slope(np.array([t]))[0]), a, b, xtol=1e-15)
        for a, b in zip(x[turn], x[turn + 1], strict=True)
    ]
    flat = slope == 0
    flat[1:-1] &= ~(flat[:-2] & flat[2:])
    return np.unique(np.concatenate([x[flat], found]))


def target_scale(target: Landscape, at: float | None = None) -> float:
    """How far from `at` (None: the mode) U has risen by ½, on the nearer side; at most a tenth of the bounds.

    On a normal this is its standard deviation.
    """
    low, high = target.bounds
    at = target.mode if at is None else at
    steps = np.geomspace(1e-9, 0.1, 400) * (high - low)
    with np.errstate(all="ignore"):
        rise = np.maximum(target.energy(at + steps), target.energy(at - steps)) - float(target.energy(at))
    risen = np.flatnonzero(rise > 0.5)
    return float(steps[risen[0]]) if len(risen) else (high - low) / 10
