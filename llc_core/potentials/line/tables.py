"""Landscapes as tables, which are fast in compiled kernels and on any device. Landscapes that users draw or write become tables.

On equal cells the slope U′ is a cubic that has the given slope and curvature at the knots; U is its integral and U″ its
derivative, so the three agree exactly and U″ is continuous. Beyond the table U′ goes on as a straight line (its last
value, and its last curvature where that is positive), which keeps exp(−U) integrable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.optimize import brentq
from torch import Tensor

from llc_core.compute.precision import lasting
from llc_core.potentials.line.jets import Jet
from llc_core.potentials.line.landscape import Landscape, Shape

WIDEST = 50.0
"""Formulas are read on [−50, 50]; drawn points lie there."""
BOUND_DEPTH = 36.0
CELLS = (1024, 2048, 4096, 8192, 16384)
WANTED_ERROR = 1e-6
LARGEST_ERROR = 1e-3


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
    table_error: total variation between the distribution of the table and that of what it stands for, on the table's range.
    """

    scalar = SCALAR
    table_error: float

    def tabulate(self, jet: Callable[[np.ndarray], Jet], low: float, high: float) -> None:
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
            with lasting():
                kept[key] = torch.as_tensor(self.parameters, device="cpu").to(like.dtype).to(like.device)
        return kept[key]


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
