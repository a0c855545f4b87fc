"""Tiles of the page: the polygon of each preset."""

from __future__ import annotations

import math

from app.style.theme import ESTIMATE, TRUTH
from app.style.tile_plot import HEIGHT, WIDTH, svg

RADIUS, DOT = 19, 3.2


def draw_polygon(sides: int, features: int, title: str) -> str:
    """SVG: a corner for each feature that has a place, and a small ring in the middle for those left out."""
    x, y = WIDTH / 2, HEIGHT / 2
    angles = [2 * math.pi * k / sides for k in range(sides)]
    corners = [(x + RADIUS * math.cos(angle), y - RADIUS * math.sin(angle)) for angle in angles]
    outline = "L".join(f"{a:.1f} {b:.1f}" for a, b in corners)
    parts = [f'<path d="M{outline}Z" fill="{ESTIMATE}" fill-opacity=".25" stroke="{ESTIMATE}" stroke-width="2"/>']
    parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{DOT}" fill="{ESTIMATE}"/>' for a, b in corners]
    if features > sides:
        parts.append(f'<circle cx="{x}" cy="{y}" r="{DOT}" fill="none" stroke="{TRUTH}" stroke-width="2"/>')
    return svg(parts, title)
