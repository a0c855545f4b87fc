"""The stationary distribution of a chain that goes up or down by one length: an exact formula on every lattice that it can live on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers.forms import Line
from llc_core.stationary.grids import SPACING, Axis, TooLarge
from llc_core.stationary.target_shape import slope_zeros, target_scale

STRAIGHT = 1e6
"""Of the width of the interval: so wide is the asinh that its nodes lie at equal distances, to 1e-13 of it."""
NODE_BYTES = 200
"""Of each node: probabilities, their logarithms and copies."""


class SplitError(ValueError):
    """Parts of the line that the chain cannot leave: where it ends depends on where it began."""


class WalkDistribution(NamedTuple):
    """masses [n] at the nodes of `axis`; residual: total variation that one more step would change."""

    axis: Axis
    masses: np.ndarray
    residual: float


def walk_distribution(
    line: Line,
    target: Landscape,
    step: float,
    low: float,
    high: float,
    resolution: float,
    start: Callable[[np.ndarray], np.ndarray],
    most_bytes: float,
) -> WalkDistribution:
    """The distribution on `low` … `high` of a chain whose first place has the density `start`; a `Line` with `signs`.

    The chain stays on the lattice on which it began, at distances h = √(εG). There only neighbours exchange mass, so that in
    balance π(x)·P(up at x) = π(x + h)·P(down at x + h): products of ratios, no matrix. Each of `m` lattices side by side
    weighs what `start` gives it, which no step changes.
    """
    zero = np.zeros(1)
    h = math.sqrt(step * float(np.max(line.move(zero, zero, zero, zero, line.parameters)[1])))
    zeros = slope_zeros(target)
    wells = zeros[target.curvature(zeros) > 0]
    finest = min([target_scale(target, at) for at in wells] or [target_scale(target)])
    beside = max(1, math.ceil(h * resolution / (SPACING * finest)))
    long = max(3, math.ceil((high - low) / h) + 1)
    if long * beside * NODE_BYTES > most_bytes:
        raise TooLarge
    wide = STRAIGHT * (high - low)
    nodes = low + h / beside * np.arange(long * beside)
    axis = Axis(np.array([wide * beside / h]), np.array([low]), np.array([wide]), 0.0, nodes)
    x = nodes.reshape(long, beside)
    drift = line.move(zero, zero, target.slope(x), target.curvature(x), line.parameters)[0]
    lean = np.clip(step / 2 * drift / h, -1, 1)
    up, down = (1 + lean) / 2, (1 - lean) / 2
    share = np.asarray(start(x)).sum(0)
    masses = np.stack([balanced(up[:, j], down[:, j]) for j in range(beside)], axis=1) * (share / share.sum())
    moved = np.zeros_like(masses)
    moved[1:] += (masses * up)[:-1]
    moved[:-1] += (masses * down)[1:]
    moved[-1] += (masses * up)[-1]
    moved[0] += (masses * down)[0]
    return WalkDistribution(axis, masses.ravel(), float(np.abs(moved - masses).sum()) / 2)


def balanced(up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Stationary masses [K] on one lattice; 0 at places that the chain leaves for good."""
    first, last = _closed(up, down)
    with np.errstate(divide="ignore"):
        ratios = np.log(up[first:last]) - np.log(down[first + 1 : last + 1])
    log = np.concatenate([[0.0], np.cumsum(ratios)])
    found = np.exp(log - log.max())
    masses = np.zeros(len(up))
    masses[first : last + 1] = found / found.sum()
    return masses


def _closed(up: np.ndarray, down: np.ndarray) -> tuple[int, int]:
    """First and last place of the one set that no step leaves. Between places i and i + 1 there is a door in either direction.

    A door is shut where its probability is 0. A closed set lies between a shut door down and the next shut door up.
    """
    shut_up = [(2 * int(i), "last") for i in np.flatnonzero(up[:-1] == 0)]
    shut_down = [(2 * int(i) + 1, "first") for i in np.flatnonzero(down[1:] == 0)]
    doors: list[tuple[int, str]] = [(-1, "first"), *sorted(shut_up + shut_down), (2 * len(up) - 2, "last")]
    sets = [
        ((one + 1) // 2, other // 2)
        for (one, kind), (other, next_kind) in zip(doors, doors[1:], strict=False)
        if (kind, next_kind) == ("first", "last")
    ]
    if len(sets) > 1:
        raise SplitError(
            "At this step size the chain cannot cross between parts of the landscape. Where it ends depends on where it began; "
            "use a smaller step_size."
        )
    return sets[0]
