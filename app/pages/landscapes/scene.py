"""What is there before a chain moves: a configuration with its landscape, and what is drawn of it.

That is the window, the loss, where the truth lies, and the posterior.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.plotting.contour import contour_data

from app.controls.run_controls import completed
from app.pages.landscapes.config import LOOK, Look, described, get_landscape
from app.pages.landscapes.presets import LandscapePreset
from app.sharing.reading import PageConfig, from_configuration, from_side_bar, refuse_unoffered
from app.style.figures import nice_above
from llc_core import Planar, RunConfig, density
from llc_core.potentials.plane.formulas import plane_formula
from llc_core.potentials.plane.strokes import FARTHEST, read_strokes
from llc_core.theory.rank_checks import show

GRID = 241
LOSS_LEVELS = np.linspace(-3.0, 4.0, 15)
"""Decimal logarithms of nβ·K: the posterior lives where this is about 0 or below."""
POSTERIOR_LEVELS = np.linspace(-3.0, 0.0, 19)
"""Decimal logarithms of the density relative to its highest value in the window."""

WEIGHT_LEVELS = np.linspace(0.0, 1.0, 21)
"""Of exp(−nβ·K), which is 1 where the loss is 0: in equal steps, as in print."""

GROUND = {"loss": "#3f7cac", "posterior": "#7a5aa6", "weight": "#2f8f83"}
"""Deeper colour: lower loss, higher density. All fade into the page's own background, light or dark."""

Point = tuple[float, float]
Line = Sequence[Point]
POLISHED = 4
"""Newton steps from where a contour crosses the grid to the zero itself."""


@dataclass(frozen=True)
class LandscapeConfig(PageConfig):
    """What a preset or a link says: also what is drawn with the chains. A file of a run says nothing of it."""

    look: Look


def preset_config(preset: LandscapePreset) -> LandscapeConfig:
    config = from_side_bar(described(preset.problem), completed(preset.settings), problem_of)
    return LandscapeConfig(config.problem, config.settings, config.resolved, Look(**preset.look))


def problem_of(description: Mapping[str, Any], settings: Mapping[str, Any]) -> Planar:
    """The landscape that the editor describes, whatever the settings of the run."""
    return get_landscape(description)


def link_config(values: Any) -> LandscapeConfig:
    """The configuration in a link or a file. Raises ValueError, one sentence, for anything that cannot be run here."""
    look = Look()
    if isinstance(values, Mapping) and LOOK in values:
        look, values = Look.from_dict(values[LOOK]), {key: value for key, value in values.items() if key != LOOK}
    config = RunConfig.from_dict(values)
    kind = config.problem.get("kind")
    if kind != "planar":
        named = "missing" if kind is None else f"of kind {show(kind)}"
        raise ValueError(f"problem is {named}; this page runs planar landscapes, kind 'planar'.")
    refuse_unoffered(config)
    if config.gradient not in (None, "full"):
        raise ValueError(f"gradient is {config.gradient!r}; planar landscapes have full gradients only.")
    description = described(config.problem)
    found = from_configuration(description, config, get_landscape(description))
    return LandscapeConfig(found.problem, found.settings, found.resolved, look)


def landscape_of(config: PageConfig) -> Planar:
    problem = config.resolved.problem
    assert isinstance(problem, Planar)
    return problem


@dataclass(frozen=True)
class Window:
    """The part of the plane that is shown: its lower left and upper right corners."""

    low: tuple[float, float]
    high: tuple[float, float]

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        x, y = (np.linspace(a, b, GRID) for a, b in zip(self.low, self.high, strict=True))
        return x, y


def window(problem: Planar, n_beta: float) -> Window:
    """Room for the posterior and for the place where the chains begin."""
    model = problem.model
    start = [a + b for a, b in zip(model.w0, problem.start, strict=True)]
    if model.name == "line_and_point":
        low, high = [-1.5, -1.75], [2.2, 1.75]
    elif model.name == "quadratic":
        widths = [5 * problem.noise_std / (abs(s) * np.sqrt(n_beta)) for s in model.parameters["scales"]]
        reach = [nice_above(width) for width in widths]
        low, high = [-r for r in reach], reach
    else:
        low, high = [-3.0, -3.0], [3.0, 3.0]
    corners = [point for stroke in model.parameters.get("strokes", ()) for point in stroke]
    for i, value in [pair for point in (start, model.w0, *corners) for pair in enumerate(point)]:
        if abs(value) >= 0.95 * max(abs(low[i]), abs(high[i])):
            room = nice_above(1.15 * abs(value))
            low[i], high[i] = min(low[i], -room), max(high[i], room)
    return _square(low, high)


def _square(low: list[float], high: list[float]) -> Window:
    """As wide as high, with both ranges inside: the frame is square too, so that a circle of the plane is one on the screen."""
    half = max(b - a for a, b in zip(low, high, strict=True)) / 2
    middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    return Window((middle[0] - half, middle[1] - half), (middle[0] + half, middle[1] + half))


def loss_heights(problem: Planar, shown: Window, n_beta: float) -> np.ndarray:
    """log₁₀ of nβ·K(w), [y, x], within LOSS_LEVELS."""
    with np.errstate(divide="ignore"):
        return _within(np.log10(n_beta * _population_loss(problem, shown)), LOSS_LEVELS)


def weight_heights(problem: Planar, shown: Window, n_beta: float) -> np.ndarray:
    """exp(−nβ·K(w)), [y, x], within WEIGHT_LEVELS."""
    with np.errstate(under="ignore"):
        return _within(np.exp(-n_beta * _population_loss(problem, shown)), WEIGHT_LEVELS)


def _population_loss(problem: Planar, shown: Window) -> np.ndarray:
    return problem.population_loss(np.meshgrid(*(a - w for a, w in zip(shown.axes, problem.model.w0, strict=True))))


def posterior_heights(problem: Planar, shown: Window, n_beta: float, localization: float) -> np.ndarray:
    """log₁₀ of the posterior density over its highest value in the window, [y, x], within POSTERIOR_LEVELS."""
    if problem.model.on_axes:
        found = density(problem, *shown.axes, n_beta=n_beta, localization=localization).density.T
    else:  # no more than the picture needs: how dense it is against the densest place in the window
        x, y = (a - w for a, w in zip(shown.axes, problem.model.w0, strict=True))
        mesh = np.meshgrid(x, y)
        features = problem.features([part.ravel() for part in mesh])
        log = n_beta * (problem.data.mean[0] @ features).reshape(mesh[0].shape)
        log -= localization / 2 * (mesh[0] ** 2 + mesh[1] ** 2)
        found = np.exp(log - log.max())
    with np.errstate(divide="ignore"):
        return _within(np.log10(found / max(found.max(), 1e-300)), POSTERIOR_LEVELS)


def _within(heights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    return np.clip(heights, levels[0] + 1e-6, levels[-1] - 1e-6)


def true_parameters(problem: Planar, shown: Window) -> tuple[list[Line], list[Point]]:
    """Where ρ = 0, the set of parameters that tell the truth: lines within the window, and single points.

    Of a formula it is where ρ changes its sign.
    """
    (left, bottom), (right, top) = shown.low, shown.high
    model = problem.model
    if model.name == "drawn":
        outlines = [curve.outline() for curve in read_strokes(model.parameters["strokes"]).curves]
        return [[(float(x), float(y)) for x, y in outline.T] for outline in outlines], []
    if not model.on_axes:
        return _valley(problem, shown), []
    if model.name == "line_and_point":
        return [((1.0, bottom), (1.0, top))], [(0.0, 0.0)]
    if model.name == "quadratic":
        return [], [(0.0, 0.0)]
    across, up = model.parameters["k"]
    lines: list[Line] = []
    if across:
        lines.append(((0.0, bottom), (0.0, top)))
    if up:
        lines.append(((left, 0.0), (right, 0.0)))
    return lines, []


def _valley(problem: Planar, shown: Window) -> list[Line]:
    """Lines along which ρ of a formula is 0."""
    model = problem.model
    axes = shown.axes
    mesh = np.meshgrid(axes[0] - model.w0[0], axes[1] - model.w0[1])
    rho = np.clip(np.broadcast_to(model.rho(mesh)[0], mesh[0].shape), -1e6, 1e6)
    found = contour_data(*axes, rho, [0.0], want_fill=False).line_data
    lines: list[Line] = []
    for xs, ys in zip(found.xs, found.ys, strict=True):
        ends = np.flatnonzero(np.isnan(xs))
        for part_x, part_y in zip(np.split(xs, ends), np.split(ys, ends), strict=True):
            there = np.isfinite(part_x)
            if there.sum() > 1:
                lines.append(_polished(problem, np.array([part_x[there], part_y[there]])))
    return lines


def _polished(problem: Planar, places: np.ndarray) -> Line:
    """places: [2, N] beside zeros of ρ."""
    model = problem.model
    center = np.array(model.w0)[:, None]
    for _ in range(POLISHED):
        delta = list(places - center)
        slopes = np.array([np.broadcast_to(s, places[0].shape) for s in model.jacobian(delta)[0]])
        size = (slopes**2).sum(axis=0)
        step = model.rho(delta)[0] / np.where(size > 0, size, np.inf) * slopes
        places = places - np.clip(step, -0.05, 0.05)
    return [(float(x), float(y)) for x, y in places.T]


SNAP = 0.25
"""A click nearer than this to where axes cross means the crossing."""


def nearest_truth(problem: Planar, x: float, y: float) -> tuple[float, float] | None:
    """The true parameter nearest to (x, y), which can be a new w0; None where the only one is w0 itself."""
    model = problem.model
    x, y = (float(np.clip(round(v, 2), -FARTHEST, FARTHEST)) + 0.0 for v in (x, y))
    if model.name == "line_and_point":
        return (0.0, 0.0) if x * x + y * y < (x - 1) ** 2 else (1.0, y)
    if model.name == "quadratic":
        return None
    if model.name == "drawn":
        strokes = read_strokes(model.parameters["strokes"])
        crossing = min(strokes.crossings, key=lambda point: math.dist(point, (x, y)), default=None)
        return crossing if crossing and math.dist(crossing, (x, y)) < SNAP else strokes.nearest(x, y)
    if model.name == "formula":
        return plane_formula(model.parameters["rho"]).zero_near(x, y, FARTHEST)
    counts = [power > 0 for power in model.parameters["k"]]
    if all(counts) and max(abs(x), abs(y)) < SNAP:
        return (0.0, 0.0)
    on_vertical = counts[0] and (not counts[1] or abs(x) <= abs(y))
    return (0.0, y) if on_vertical else (x, 0.0)
