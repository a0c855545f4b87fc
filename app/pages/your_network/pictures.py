"""The pictures on the tiles."""

from __future__ import annotations

import math

from app.pages.your_network.presets import NetworkPreset
from app.style.theme import ESTIMATE, LOCAL


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


def picture(preset: NetworkPreset) -> str:
    """SVG of layers of dots; what moves is coloured. No two tiles share one."""
    width, height = 112, 52
    columns = len(preset.shape)
    xs = [14 + (width - 28) * i / (columns - 1) for i in range(columns)]
    dots = [[height * (j + 1) / (n + 1) for j in range(n)] for n in preset.shape]
    part = preset.config.get("part", "all")
    parts = []
    for i in range(columns - 1):
        moves = part == "all" or (part.startswith("layer") and i == columns - 2) or (part.startswith("head") and i == 0)
        color = LOCAL if preset.config.get("optimizer") else ESTIMATE
        style = f'stroke="{color}" stroke-width="1.2"' if moves else 'stroke="currentColor" stroke-opacity=".25"'
        if part.startswith("head") and moves:
            parts += [f'<path d="M{xs[i]:.0f} {dots[i][0]:.0f}L{xs[i + 1]:.0f} {y:.0f}" {style}/>' for y in dots[i + 1]]
            continue
        parts += [
            f'<path d="M{xs[i]:.0f} {y:.0f}L{xs[i + 1]:.0f} {z:.0f}" {style}/>' for y in dots[i] for z in dots[i + 1]
        ]
    parts += [
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="currentColor"/>'
        for x, ys in zip(xs, dots, strict=True)
        for y in ys
    ]
    parts += _training(preset, width, height)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="network">{"".join(parts)}</svg>'
