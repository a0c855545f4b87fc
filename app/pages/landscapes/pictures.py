"""Small pictures of landscapes: deeper colour where the loss is lower, dashed where the truth lies, the start a dot."""

from __future__ import annotations

import numpy as np
from bokeh.plotting.contour import contour_data

from app.pages.landscapes.scene import GROUND, LOSS_LEVELS, loss_heights, true_parameters, window
from app.style import theme
from app.style.tile_plot import HEIGHT, WIDTH, svg
from llc_core import Planar

EVERY = 6
"""Every sixth line of the grid is used."""


def draw_landscape(problem: Planar) -> str:
    """SVG."""
    n_beta = problem.n_beta
    shown = window(problem, n_beta)
    (left, bottom), (right, top) = shown.low, shown.high

    def at(x: float, y: float) -> str:
        return f"{WIDTH * (x - left) / (right - left):.1f} {HEIGHT * (top - y) / (top - bottom):.1f}"

    x, y = (axis[::EVERY] for axis in shown.axes)
    levels = LOSS_LEVELS[::2]
    fill = contour_data(x, y, loss_heights(problem, shown, n_beta)[::EVERY, ::EVERY], levels, want_line=False).fill_data
    parts = []
    for shade, xs, ys in zip(np.linspace(0.85, 0.05, len(levels) - 1), fill.xs, fill.ys, strict=True):
        rings = [
            "M" + "L".join(at(a, b) for a, b in zip(ring_x, ring_y, strict=True)) + "Z"
            for polygon_x, polygon_y in zip(xs, ys, strict=True)
            for ring_x, ring_y in zip(polygon_x, polygon_y, strict=True)
        ]
        if rings:
            color = GROUND["loss"]
            parts.append(f'<path d="{"".join(rings)}" fill="{color}" fill-opacity="{shade:.2f}" fill-rule="evenodd"/>')
    lines, points = true_parameters(problem, shown)
    for line in lines:
        places = "L".join(at(*place) for place in line)
        parts.append(
            f'<path d="M{places}" fill="none" stroke="{theme.LOCAL}" stroke-width="1.5" stroke-dasharray="4 3"/>'
        )
    for px, py in points:
        place = at(px, py).split()
        parts.append(f'<circle cx="{place[0]}" cy="{place[1]}" r="3" fill="{theme.LOCAL}"/>')
    start = at(*(a + b for a, b in zip(problem.model.w0, problem.start, strict=True))).split()
    parts.append(f'<circle cx="{start[0]}" cy="{start[1]}" r="3.5" fill="#fff" stroke="#111" stroke-width="1.5"/>')
    return svg(parts, "landscape")
