"""Tiles of the presets. Their pictures: the target as a line, the left law as a shape, the right one dashed; above them, for each
side, a bar as long as its steps are large, which ends in a point where steps decrease. Laws of small steps alone would be alike for
presets that differ by their steps only."""

from __future__ import annotations

import math

import numpy as np

from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.presets import BiasPreset
from app.pages.stationary_bias.scene import Scene, get_scene
from app.style import theme

WIDTH, HEIGHT, FOOT = 112, 52, 4
EVERY = 6
SMALLEST, LONGEST, BAR = -5.0, 34.0, 3.0
"""Decimal logarithm of the step size whose bar has no length; length in px of that of step size 1; thickness."""


def draw_scene(scene: Scene, config: BiasConfig) -> str:
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
    parts += [_bar(k, config, side) for k, side in enumerate(SIDES)]
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="densities">{"".join(parts)}</svg>'


def _bar(row: int, config: BiasConfig, side: str) -> str:
    """The step size of one side on a log scale, and how fast its sampler's average forgets where it has one."""
    own = getattr(config, side)
    length = LONGEST * (math.log10(own["step_size"]) - SMALLEST) / -SMALLEST
    length = min(max(length, 2.0), LONGEST)
    y = 2 + row * (BAR + 2)
    end = BAR / 2 if config.step_decay else 0.0
    shape = f"M2 {y}L{2 + length:.1f} {y + end}v{BAR - 2 * end:g}L2 {y + BAR}Z"
    notch = ""
    if (memory := own.get("alpha")) is not None:
        x = 2 + LONGEST + 3 + 6 * min(max(float(memory), 0.0), 1.0)
        notch = f'<circle cx="{x:.1f}" cy="{y + BAR / 2}" r="1.4" fill="{theme.SIDES[side]}"/>'
    return f'<path d="{shape}" fill="{theme.SIDES[side]}"/>{notch}'


def tile(preset: BiasPreset) -> dict[str, str]:
    picture = draw_scene(get_scene(preset.config), preset.config)
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}
