"""Tiles of the presets. Their pictures: the target as a line, the left law as a shape, the right one dashed."""

from __future__ import annotations

import numpy as np

from app.pages.stationary_bias.config import SIDES
from app.pages.stationary_bias.presets import BiasPreset
from app.pages.stationary_bias.scene import Scene, get_scene
from app.style import theme

WIDTH, HEIGHT, FOOT = 112, 52, 4
EVERY = 6


def draw_scene(scene: Scene) -> str:
    """SVG."""
    curves = {side: scene.side(side).density[::EVERY] for side in SIDES}
    x, target = scene.x[::EVERY], scene.density[::EVERY]
    top = max(float(np.nanmax(values, initial=0.0)) for values in (target, *curves.values())) or 1.0

    def path(values: np.ndarray) -> str:
        across = WIDTH * (x - x[0]) / (x[-1] - x[0])
        up = HEIGHT - FOOT - (HEIGHT - 2 * FOOT) * values / top
        return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, up, strict=True))

    parts = []
    if np.isfinite(curves["left"]).all():
        base = f"L{WIDTH} {HEIGHT - FOOT}L0 {HEIGHT - FOOT}Z"
        parts.append(f'<path d="{path(curves["left"])}{base}" fill="{theme.HISTOGRAM}" fill-opacity=".42"/>')
    if np.isfinite(curves["right"]).all():
        parts.append(
            f'<path d="{path(curves["right"])}" fill="none" stroke="{theme.SIDES["right"]}" stroke-width="2" '
            'stroke-dasharray="4 3"/>'
        )
    parts.append(f'<path d="{path(target)}" fill="none" stroke="{theme.TARGET}" stroke-width="2"/>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="densities">{"".join(parts)}</svg>'


def tile(preset: BiasPreset) -> dict[str, str]:
    picture = draw_scene(get_scene(preset.config))
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}
