"""Tiles of the presets. Their pictures: how far each side came, and in their place, while answers are hidden, how each side moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from app.components.tiles import item
from app.pages.many_modes.config import SIDES, ModesConfig
from app.pages.many_modes.presets import ModesPreset
from app.pages.measured import outcomes
from app.style import theme
from app.style.tile_plot import RIGHT, TilePlot, svg
from llc_core.interactions import Contour, Cyclical, ReplicaExchange, SteinVariational

HALF = 50
OUTCOMES: Mapping[str, Mapping[str, Any]] = outcomes(__file__)
FARTHEST, NEAREST = 10.0, 1e-3
"""KL at the upper edge of a picture, and at its foot."""


def _wave(color: str, height: float, dashed: bool = False) -> str:
    """A row of modes: the energy along one axis, its barriers as high as `height` of the picture."""
    points = []
    for k in range(41):
        u = k / 40
        y = 40 - height * 15 * (1 - math.cos(2 * math.pi * 3 * u))
        points.append(f"{HALF * u:.1f} {y:.1f}")
    dash = ' stroke-dasharray="3 2"' if dashed else ""
    return f'<path d="M{"L".join(points)}" fill="none" stroke="{color}" stroke-width="1.8"{dash}/>'


def glyph(config: ModesConfig, side: str) -> str:
    """Shapes in a field of 50 × 52."""
    made, color = config.made(side), theme.SIDES[side]
    if isinstance(made, Contour):
        return _wave(color, 1.0, dashed=True) + f'<path d="M0 34H{HALF}" stroke="{color}" stroke-width="2.4"/>'
    if isinstance(made, ReplicaExchange):
        rungs = made.temperatures
        waves = "".join(_wave(color, 1 / t) for t in rungs[:3])
        seldom = made.interval > 1
        arrow = f'<path d="M25 8v30m-3 -4l3 4l3 -4m-6 -22l3 -4l3 4" fill="none" stroke="{color}" stroke-width="1.4"/>'
        return waves + ("" if seldom else arrow)
    if isinstance(made, Cyclical):
        teeth = "".join(f"M{x} 8C{x + 8} 8 {x + 8} 42 {x + 16} 42V8" for x in (1, 17, 33))
        return f'<path d="{teeth}" fill="none" stroke="{color}" stroke-width="1.8"/>'
    if isinstance(made, SteinVariational):
        ring = [(25 + 19 * math.cos(k * math.pi / 4), 26 + 19 * math.sin(k * math.pi / 4)) for k in range(8)]
        noisy = f' stroke="{color}" stroke-width="1.6" fill="none"' if made.temperature else f' fill="{color}"'
        return "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2"{noisy}/>' for x, y in [*ring, (25, 26)])
    dots = "".join(f'<circle cx="{9 + 16 * k}" cy="36" r="3.4" fill="{color}"/>' for k in range(3))
    return _wave(color, 1.0) + dots


def draw_comparison(config: ModesConfig) -> str:
    """SVG."""
    parts = [f'<g transform="translate({2 + 58 * k} 0)">{glyph(config, side)}</g>' for k, side in enumerate(SIDES)]
    return svg(parts, "both methods")


def draw_outcome(found: Mapping[str, Any]) -> str:
    """SVG of what `lab.benchmarks.accuracy.tiles` has measured: KL from the exact masses against gradients, on two logarithmic axes,
    or what the lesson is about: masses of the line at each nβ, or λ(E), beside what is exact."""
    if basins := found.get("basins"):
        exact = [(math.log10(n_beta), share) for n_beta, share in basins["exact"]]
        plot = TilePlot((exact[0][0], exact[-1][0] + 0.1), (0.0, 0.6))
        sides = {side: [(math.log10(n_beta), share) for n_beta, share in basins[side]] for side in SIDES}
        dots = [plot.dots(sides[side], theme.SIDES[side], square=side == "right") for side in SIDES]
        return svg([plot.line(exact, theme.EXACT, "2 3"), *dots], "mass of the line, found and exact")
    if slope := found.get("slope"):
        ends = [x for x, _ in slope["left"]]
        plot = TilePlot((min(ends), max(ends)), (0.0, 1.5))
        lines = [plot.line(slope["exact"], theme.EXACT, "2 3"), plot.line(slope["left"], theme.SIDES["left"])]
        return svg(lines, "λ at each energy, found and exact")
    rows = [row for row in found["kl"] if None not in row[1:]]
    log = [[math.log10(row[0]), *(math.log10(max(kl, NEAREST)) for kl in row[1:])] for row in rows]
    plot = TilePlot((log[0][0], log[-1][0]), (math.log10(NEAREST), math.log10(FARTHEST)))
    left, right = ([(row[0], row[k]) for row in log] for k in (1, 2))
    lines = [plot.line(left, theme.SIDES["left"]), plot.line(right, theme.SIDES["right"], RIGHT)]
    return svg(lines, "how the distance from the exact masses falls, left and right")


def tile(preset: ModesPreset) -> dict[str, str]:
    return item(preset, draw_outcome(OUTCOMES[preset.name]))


def plain_tile(preset: ModesPreset) -> dict[str, str]:
    return item(preset, draw_comparison(preset.config))
