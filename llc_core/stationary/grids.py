"""Nodes for positions and for memories: uniform in a coordinate of their own, dense where the distribution is rough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers.forms import Line
from llc_core.stationary.target_shape import slope_zeros, target_scale

SPACING = 0.05
"""Distance of positions, in scales of a well of the target."""
GROW = 4.0
"""From this many scales on, the distance between nodes grows with the distance from the mode."""
WELL = 2.0
"""A well narrower than the widest has denser nodes, up to this many of its own scales on either side."""
LAYER = 4.0
"""Nodes per width of the layer at a zero of the slope."""
MEMORY_SPACING = 0.12
"""Distance of memories, in units in which log G changes by about 1."""


class TooLarge(Exception):
    """A grid, or what is computed on it, has no room. Raised before it is made."""


@dataclass(frozen=True)
class Axis:
    """index(x) = shift + Σ counts·asinh((x − centers)/widths): node number j lies where it is j."""

    counts: np.ndarray
    centers: np.ndarray
    widths: np.ndarray
    shift: float
    nodes: np.ndarray

    def index(self, x: np.ndarray) -> np.ndarray:
        scaled = (np.asarray(x)[..., None] - self.centers) / self.widths
        return self.shift + np.arcsinh(scaled) @ self.counts

    def spacing(self, x: np.ndarray) -> np.ndarray:
        """dx/d(index)."""
        x = np.asarray(x)[..., None] - self.centers
        return 1 / ((1 / np.sqrt(self.widths**2 + x**2)) @ self.counts)


def position_axis(
    target: Landscape,
    metric: Callable[[np.ndarray], np.ndarray],
    step: float,
    low: float,
    high: float,
    resolution: float,
    most: float,
) -> Axis:
    """Nodes from `low` to `high`, denser around the zeros of the slope where the metric changes quickly there.

    most: nodes for which there is room; `TooLarge` where it takes more.
    """
    zeros = slope_zeros(target)
    if len(zeros) > most:  # each lies between two nodes of its own
        raise TooLarge
    wells = zeros[target.curvature(zeros) > 0]
    scales = [target_scale(target, at) for at in wells] or [target_scale(target)]
    scale = max(scales)
    usual = SPACING * scale / resolution
    counts, centers, widths = [GROW * scale / usual], [target.mode], [GROW * scale]

    def refine(at: float, width: float, fine: float) -> None:
        if fine < 0.8 * usual:
            counts.append(width * (1 / fine - 1 / usual))
            centers.append(at)
            widths.append(width)

    for at, own in zip(wells, scales, strict=False):
        refine(at, WELL * own, SPACING * own / resolution)
    for zero in zeros:
        width = _layer(zero, scale, metric, step)
        refine(zero, 2 * width, width / LAYER / resolution)
    axis = _between_nodes(Axis(np.array(counts), np.array(centers), np.array(widths), 0.0, np.empty(0)), zeros)
    middle = zeros[0] if len(zeros) else target.mode
    start, middle, end = axis.index(np.array([low, middle, high]))
    start -= 0.5 - (middle - start) % 1
    if end - start > most:
        raise TooLarge
    wanted = start + np.arange(int(np.ceil(end - start)) + 1)
    x = np.interp(wanted, axis.index(rough := np.linspace(low, high, 4001)), rough)
    for _ in range(30):
        x = np.clip(x + (wanted - axis.index(x)) * axis.spacing(x), low - 1, high + 1)
    return Axis(axis.counts, axis.centers, axis.widths, float(-start), x)


def _between_nodes(axis: Axis, zeros: np.ndarray) -> Axis:
    """The axis, shifted a little so that every zero of the slope lies midway between two nodes, since Γ may jump there."""
    if len(zeros) < 2:
        return axis
    gaps = np.diff(zeros)
    centers, widths = zeros[:-1] + gaps / 2, gaps / 4
    places = axis.index(zeros)
    wanted = np.rint(np.diff(places)) - np.diff(places)
    effect = np.diff(np.arcsinh((zeros[:, None] - centers) / widths), axis=0)
    counts = np.linalg.solve(effect, wanted)
    return Axis(
        np.append(axis.counts, counts),
        np.append(axis.centers, centers),
        np.append(axis.widths, widths),
        0.0,
        axis.nodes,
    )


def _layer(zero: float, scale: float, metric: Callable[[np.ndarray], np.ndarray], step: float) -> float:
    """Width of what the distribution can show at a zero of the slope: where G has halved, but no less than one step there."""
    away = np.geomspace(1e-8, 1.0, 400) * scale
    found = np.minimum(metric(zero + away), metric(zero - away))
    top = float(np.max(metric(np.array([zero - away[0], zero + away[0]]))))
    halved = away[int(np.argmax(found < top / 2))] if np.any(found < top / 2) else scale
    stepped = away[int(np.argmax(step * found < away**2))] if np.any(step * found < away**2) else scale
    return float(max(halved, stepped))


@dataclass(frozen=True)
class MemoryAxis:
    """Nodes a of the memory, at equal distances in a coordinate: index(a) = table."""

    nodes: np.ndarray
    table: CubicSpline
    root: bool

    def index(self, a: np.ndarray) -> np.ndarray:
        y = np.sqrt(np.clip(a, 0, None)) if self.root else a
        return self.table(np.clip(y, self.table.x[0], self.table.x[-1]))


def remembers(line: Line) -> bool:
    """Whether a step depends on earlier gradients."""
    if line.remembered == 0 or line.freezes:
        return False
    return abs(line.memory(1.0, 0.0, 0.0, line.parameters)[0] - line.memory(0.0, 0.0, 0.0, line.parameters)[0]) > 1e-12


def memory_axis(line: Line, slopes: np.ndarray, step: float, axis: Axis, resolution: float) -> MemoryAxis | None:
    """Nodes of the memory between its values at rest at all positions; None where nothing is remembered.

    Their distance follows log G, because the effect of a memory on the chain changes no faster than that.
    """
    if not remembers(line):
        return None
    zero = np.zeros_like(slopes)
    fresh = np.asarray(line.memory(zero, 0.0, slopes, line.parameters)[0], float)
    kept = float(np.mean(line.memory(zero + 1, 0.0, slopes, line.parameters)[0] - fresh))
    rest = fresh / (1 - kept)
    root = bool(rest.min() >= 0)
    top = float(rest.max())
    if root:
        top = np.sqrt(top)
        fine = top * np.expm1(np.linspace(0, np.log1p(1e7), 6001)) / 1e7
        values = fine**2
    else:
        fine = values = np.linspace(float(rest.min()), top, 6001)
    flat = np.zeros_like(fine)
    with np.errstate(all="ignore"):
        metric = np.broadcast_to(line.move(values, flat, flat, flat, line.parameters)[1], fine.shape)
    # a metric without bound is followed until one step crosses the whole interval
    usable = step * metric < (axis.nodes[-1] - axis.nodes[0]) ** 2
    fine, log = fine[usable], np.log(metric[usable])
    first = np.gradient(log, fine)
    second = np.gradient(first, fine)
    rate = np.sqrt(first**2 + np.abs(second) + (4 / (fine[-1] - fine[0])) ** 2)
    rate = rate * resolution / MEMORY_SPACING
    index = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(fine))])
    number = max(4, int(np.ceil(index[-1])) + 1)
    index *= (number - 1) / index[-1]
    y = np.interp(np.arange(number), index, fine)
    return MemoryAxis(y**2 if root else y, CubicSpline(fine, index), root)
