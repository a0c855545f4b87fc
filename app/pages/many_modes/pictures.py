"""Tiles of the presets. Their pictures: how each side moves, left and right."""

from __future__ import annotations

import math

from app.pages.many_modes.config import SIDES, ModesConfig
from app.pages.many_modes.presets import ModesPreset
from app.style import theme
from llc_core.interactions import Contour, Cyclical, ReplicaExchange, SteinVariational

WIDTH, HEIGHT, HALF = 112, 52, 50
MAX_TEMPERATURE = 12.0


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
    parts = "".join(
        f'<g transform="translate({2 + 58 * k} 0)">{glyph(config, side)}</g>' for k, side in enumerate(SIDES)
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="both methods">{parts}</svg>'


def tile(preset: ModesPreset) -> dict[str, str]:
    picture = draw_comparison(preset.config)
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}
