"""The pictures on the tiles: the network, and how its estimate goes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from app.pages.measured import outcomes
from app.pages.your_network.config import ALL_PARTS
from app.pages.your_network.presets import NetworkPreset
from app.style.theme import ESTIMATE, LOCAL, RECENT
from app.style.tile_plot import HEIGHT, WIDTH, TilePlot, svg
from llc_core.networks.parts import NamedPart

OUTCOMES: Mapping[str, Sequence[float | None]] = outcomes(__file__)
LEAST, MOST = -40.0, 30.0
"""λ̂ at the foot of a picture and at its upper edge, of all tiles alike; evenly in the inverse of sinh, since they differ much."""
APART = 38
"""Where the curve begins, in px: the network stands left of it."""


def draw_outcome(preset: NetworkPreset, values: Sequence[float | None]) -> str:
    """SVG. values: moving averages of nβ·ΔL along the run, which λ̂ averages; the gray line is 0."""
    plot = TilePlot((-len(values) * APART / (WIDTH - APART), len(values) - 1.0), (math.asinh(LEAST), math.asinh(MOST)))
    rows = [(float(k), None if value is None else math.asinh(value)) for k, value in enumerate(values)]
    parts = [plot.line([(0.0, 0.0), (rows[-1][0], 0.0)], RECENT, width=1.2), plot.line(rows, ESTIMATE)]
    return svg([*_network(preset, APART, HEIGHT), *parts], "a network, and how its estimate goes")


def _training(preset: NetworkPreset, width: int, height: int) -> list[str]:
    """How far the network of the first tiles has come: a loss that falls, and a point on it."""
    if preset.config["network"] != "small":
        return []
    checkpoint = preset.config.get("checkpoint")
    x = 1.0 if checkpoint is None else 0.0 if checkpoint == 0 else 0.35
    points = [(8 + (width - 16) * i / 20, 6 + (height - 12) * (1 - math.exp(-i / 4))) for i in range(21)]
    at = points[round(20 * x)]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    return [
        f'<polyline points="{line}" fill="none" stroke="{LOCAL}" stroke-width="2"/>',
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="5" fill="{LOCAL}" stroke="white" stroke-width="1.5"/>',
    ]


def draw_network(preset: NetworkPreset) -> str:
    """SVG of layers of dots; what moves is coloured. No two tiles share one."""
    return svg([*_network(preset, WIDTH, HEIGHT), *_training(preset, WIDTH, HEIGHT)], "network")


def _network(preset: NetworkPreset, width: int, height: int) -> list[str]:
    side, radius = (14, 3.0) if width > 60 else (5, 2.2)
    columns = len(preset.shape)
    xs = [side + (width - 2 * side) * i / (columns - 1) for i in range(columns)]
    dots = [[height * (j + 1) / (n + 1) for j in range(n)] for n in preset.shape]
    part = NamedPart.read(preset.config.get("part", ALL_PARTS))
    parts = []
    for i in range(columns - 1):
        moves = part == NamedPart() or i == (columns - 2 if part.head is None else 0)
        color = LOCAL if preset.config.get("optimizer") else ESTIMATE
        style = f'stroke="{color}" stroke-width="1.2"' if moves else 'stroke="currentColor" stroke-opacity=".25"'
        if part.head is not None and moves:
            parts += [f'<path d="M{xs[i]:.0f} {dots[i][0]:.0f}L{xs[i + 1]:.0f} {y:.0f}" {style}/>' for y in dots[i + 1]]
            continue
        parts += [
            f'<path d="M{xs[i]:.0f} {y:.0f}L{xs[i + 1]:.0f} {z:.0f}" {style}/>' for y in dots[i] for z in dots[i + 1]
        ]
    parts += [
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:g}" fill="currentColor"/>'
        for x, ys in zip(xs, dots, strict=True)
        for y in ys
    ]
    return parts
