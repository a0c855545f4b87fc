"""The stationary distribution of the discretised chain itself, from its transition operator, without Monte Carlo.
Long, since the price of a grid and the grid must agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from llc_core.bins import Bins
from llc_core.fields import number
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers.base import Sampler
from llc_core.samplers.forms import Line
from llc_core.samplers.registry import build
from llc_core.stationary.distances import total_variation
from llc_core.stationary.grids import Axis, TooLarge, memory_axis, position_axis, remembers
from llc_core.stationary.limit import SamplerLike, TargetLike, limit_law
from llc_core.stationary.operator import Operator, stationary
from llc_core.stationary.walk import SplitError, walk_distribution

FAR_OUT = 1e-9
"""The first interval ends at this quantile of the limit distribution, moved away from the mode by the factor WIDER."""
WIDER = 1.1
ATTEMPTS = 7
"""The interval grows by half at an end with too much mass, at most this often. The rough grid is enough to find out."""
ROUGH = 0.4
AT_AN_END = 1e-6
"""Mass near an end, or probability of a step beyond it, that is negligible."""
LOST = 1e-3
"""Mass near an end, or probability of a step beyond it, from which on the chain counts as running away."""
FREEZING = 50
"""Most iterations to find a frozen metric that the chain would learn again under itself."""
CHANGE = 0.02
"""Total variation between the rough and the wanted grid from which the distribution does not count as converged."""
MOST_BYTES = 4 * 2**30
"""What a distribution may take, where nothing else is said. A usual one takes some megabytes; a target with a thousand wells, terabytes."""
DENSE_BYTES, STATE_BYTES = 4 * 8, 1200
"""For each pair of positions: the matrix of transitions, its factors and copies. For each state with memory: vectors of GMRES."""
NEAR = 0.02
"""Share of the nodes that counts as near an end."""
WITHOUT_MEMORY = 4.0
"""A chain without memory gets this many times more positions: they cost little, and at α = 0 Γ jumps where U′ = 0."""
MANY = 4.0
"""But it gets no higher resolution than this: the dense matrix would cost more than it gains."""


class DivergesError(ValueError):
    """The chain leaves every interval: it has no stationary distribution."""


@dataclass(frozen=True)
class ExactLaw:
    """Stationary distribution of a discretised chain.

    x [n]: nodes.  density [n]: of x there.  step_size: ε.
    residual: total variation that one more step would change.
    grid_change: total variation to the same distribution on the rough grid (resolution 0.4; four times that without memory), on 80
        bins, which bounds the error of the grid from above; nan on that grid itself.
    converged: whether the residual is below 1/1000 of the slowest rate, ε or 1 − α, and grid_change below 0.02.
    at_ends: probability near the ends of the interval, beyond which the chain was held back.
    memory_nodes: size of the grid of memories (1: a chain without memory).
    """

    x: np.ndarray
    density: np.ndarray
    step_size: float
    residual: float
    converged: bool
    at_ends: float
    memory_nodes: int
    axis: Axis
    grid_change: float = float("nan")

    def cumulative(self, x: Any) -> np.ndarray:
        """P(X ≤ x), any shape."""
        return np.clip(self._below(np.clip(self.axis.index(np.asarray(x, float)), 0, len(self.x) - 1)), 0.0, 1.0)

    def masses(self, bins: Bins | Mapping[str, Any] | None = None) -> np.ndarray:
        """Probability of each bin and of the two tails, [count + 2]."""
        return np.clip(np.diff(self.cumulative(Bins.of(bins).edges), prepend=0.0, append=1.0), 0.0, 1.0)

    def moments(self) -> dict[str, float]:
        """E x, E|x| and E x² ("mean", "mean_abs", "second")."""
        weight = self.density * self.axis.spacing(self.x)
        weight = weight / weight.sum()
        return {
            "mean": float(weight @ self.x),
            "mean_abs": float(weight @ np.abs(self.x)),
            "second": float(weight @ self.x**2),
        }

    @cached_property
    def _below(self) -> CubicSpline:
        index = np.arange(len(self.x))
        below = CubicSpline(index, self.density * self.axis.spacing(self.x)).antiderivative()
        return CubicSpline(index, (below(index) - below(0)) / (below(index[-1]) - below(0)))


def exact_law(
    sampler: SamplerLike,
    target: TargetLike,
    step_size: float | None = None,
    resolution: float = 1.0,
    most_bytes: float = MOST_BYTES,
) -> ExactLaw:
    """Stationary distribution of x under the chain with step ε, bias of the step size included.

    The chain is (a, x) ↦ (a′, x′), a′ = memory(a, U′(x)), x′ ~ N(x + (ε/2)·drift, εG), from `Sampler.line`. Densities
    live on nodes; the move carries them by the normal kernel, the memory by cubic interpolation, which keeps the first
    three moments, so that a hundred small steps of the memory do not smear it. A line with `signs` has a formula (`walk`)
    instead; its chains begin in the limit distribution.

    step_size: ε; None: the sampler's.  resolution: nodes per length, relative to the usual.  most_bytes: about what it may take.
    A sampler that freezes its metric is taken after a long burn-in, when V is the mean of g² under its own distribution.
    Raises ValueError without a step size, for two numbers of memory (Adam: simulate), where the chain diverges, or where the distribution
    takes more memory than that, before it is taken; also where a chain with `signs` cannot cross from one part to another.
    """
    sampler, target = build(sampler), landscape(target)
    step = _step_size(sampler, step_size)
    resolution = number("resolution", resolution, 0.1, 10)
    line = sampler.line()
    if line is None:
        raise ValueError(f"{sampler.name} has no scalar form, so there is no exact distribution; simulate it instead.")
    if line.remembered > 1 and not line.freezes:
        raise ValueError(
            f"{sampler.name} remembers two numbers besides x, too many for the exact distribution; simulate it instead."
        )
    coarse = ROUGH
    if not remembers(line):
        resolution, coarse = max(resolution, min(WITHOUT_MEMORY * resolution, MANY)), WITHOUT_MEMORY * ROUGH
    coarse = min(resolution, coarse)
    try:
        return _on_grids(sampler, line, target, step, coarse, resolution, most_bytes)
    except TooLarge:
        raise ValueError(
            f"The exact distribution of {sampler.name} on {target.label} takes more than {most_bytes / 2**20:,.0f} MB: it needs too "
            "many nodes. Use a smoother target or a smaller resolution, or simulate it instead."
        ) from None


def _on_grids(
    sampler: Sampler, line: Line, target: Landscape, step: float, coarse: float, resolution: float, most_bytes: float
) -> ExactLaw:
    """The distribution on a rough grid, which finds how far it reaches, and on the wanted one."""
    most = math.sqrt(most_bytes / DENSE_BYTES)
    law = limit_law(sampler, target)
    low, high = (target.mode + WIDER * (law.quantile(u) - target.mode) for u in (FAR_OUT, 1 - FAR_OUT))
    ends = (1.0, 1.0)

    def solve(resolution: float) -> tuple[ExactLaw, tuple[float, float]]:
        if line.signs:
            return _walked(line, target, step, low, high, resolution, law.density, most_bytes)
        axis = position_axis(target, law.metric, step, low, high, resolution, most)
        return _solve(line, target, axis, step, resolution, most_bytes)

    for _ in range(ATTEMPTS):
        rough, ends = solve(coarse)
        if max(ends) < AT_AN_END or not np.isfinite(ends).all():
            break
        width = high - low
        low, high = low - (ends[0] > AT_AN_END) * width / 2, high + (ends[1] > AT_AN_END) * width / 2
    if max(ends) > LOST or not np.isfinite(ends).all():
        raise DivergesError(
            f"{sampler.name} with step_size {step:g} runs away on {target.label} and has no stationary distribution; "
            "use a smaller step_size."
        )
    if resolution <= coarse:
        return rough
    fine, _ = solve(resolution)
    bins = Bins(law.quantile(0.001), law.quantile(0.999))
    change = total_variation(rough.masses(bins), fine.masses(bins))
    return replace(fine, grid_change=change, converged=fine.converged and change < CHANGE)


def _solve(
    line: Line, target: Landscape, axis: Axis, step: float, resolution: float, most_bytes: float
) -> tuple[ExactLaw, tuple[float, float]]:
    """The distribution on these nodes, and the larger of the mass near each end and the probability to step beyond it."""
    slope = target.slope(axis.nodes)
    memory = memory_axis(line, slope, step, axis, resolution)
    remembered = 0 if memory is None else len(memory.nodes)
    left = most_bytes - len(axis.nodes) * (len(axis.nodes) * DENSE_BYTES + remembered * STATE_BYTES)
    if left < 0:
        raise TooLarge
    frozen = float(target.density(axis.nodes) * axis.spacing(axis.nodes) @ slope**2) if line.freezes else None
    for _ in range(FREEZING):
        operator = Operator(line, target, axis, memory, step, frozen, left)
        states, residual = stationary(operator)
        mass = operator.fold @ states
        if frozen is None:
            break
        # the metric that the chain with this metric would learn
        before, frozen = frozen, float(mass @ slope**2)
        if abs(frozen - before) < 1e-8 * before:
            break
    ends = max(_at_end(mass), operator.leaving(states)[0]), max(_at_end(mass[::-1]), operator.leaving(states)[1])
    mass = np.clip(mass, 0, None)
    law = ExactLaw(
        axis.nodes,
        mass / mass.sum() / axis.spacing(axis.nodes),
        step,
        residual,
        residual < 1e-3 * operator.slowest,
        sum(ends),
        1 if memory is None else len(memory.nodes),
        axis,
    )
    return law, ends


def _walked(
    line: Line,
    target: Landscape,
    step: float,
    low: float,
    high: float,
    resolution: float,
    start: Callable[[np.ndarray], np.ndarray],
    most_bytes: float,
) -> tuple[ExactLaw, tuple[float, float]]:
    """`_solve` for a line with `signs`."""
    axis, mass, residual = walk_distribution(line, target, step, low, high, resolution, start, most_bytes)
    ends = _at_end(mass), _at_end(mass[::-1])
    density = mass / axis.spacing(axis.nodes)
    return ExactLaw(axis.nodes, density, step, residual, residual < 1e-3 * step, sum(ends), 1, axis), ends


def _at_end(mass: np.ndarray) -> float:
    """Mass near the first node."""
    return float(np.abs(mass[: max(2, int(NEAR * len(mass)))]).sum())


def bias_curve(
    sampler: SamplerLike,
    target: TargetLike,
    step_sizes: Sequence[float],
    resolution: float = 0.4,
    bins: Bins | Mapping[str, Any] | None = None,
) -> Iterator[tuple[float, float, float]]:
    """(ε, total variation to the target, total variation to the limit distribution) for one step size after the other.

    Distances are between masses of bins [count + 2]; nan for a step at which the chain diverges. At the default
    resolution they are good to a few 1e-3 and take about 0.1 s a step.
    """
    sampler, target = build(sampler), landscape(target)
    bins = Bins.of(bins)
    limit, wanted = limit_law(sampler, target).masses(bins), limit_law("SGLD", target).masses(bins)
    for step in step_sizes:
        try:
            found = exact_law(sampler, target, step, resolution).masses(bins)
        except (DivergesError, SplitError):
            yield float(step), np.nan, np.nan
            continue
        yield float(step), total_variation(found, wanted), total_variation(found, limit)


def _step_size(sampler: Sampler, step_size: float | None) -> float:
    value = getattr(sampler, "step_size", None) if step_size is None else step_size
    if value is None:
        raise ValueError("The exact distribution needs a step_size; give one, such as step_size=1e-3.")
    return number("step_size", value, above=0)
