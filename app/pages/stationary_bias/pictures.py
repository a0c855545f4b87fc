"""Tiles of the presets. Their pictures: the target as a line, the left distribution as a shape, the right one dashed; above them, for each
side, a bar as long as its steps are large, which ends in a point where steps decrease. Distributions of small steps alone would be alike for
presets that differ by their steps only."""

from __future__ import annotations

import math

import numpy as np

from app.components.tiles import item
from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.presets import BiasPreset
from app.pages.stationary_bias.scene import Scene, get_scene
from app.style import theme
from app.style.tile_plot import TilePlot, svg

EVERY = 6
SMALLEST, LONGEST, BAR = -5.0, 34.0, 3.0
"""Decimal logarithm of the step size whose bar has no length; length in px of that of step size 1; thickness."""


def draw_scene(scene: Scene, config: BiasConfig) -> str:
    """SVG."""
    curves = {side: scene.side(side).density[::EVERY] for side in SIDES}
    x, target = scene.x[::EVERY], scene.density[::EVERY]
    top = max(float(np.nanmax(values, initial=0.0)) for values in (target, *curves.values())) or 1.0
    plot = TilePlot((x[0], x[-1]), (0.0, top))
    points = {side: list(zip(x, values, strict=True)) for side, values in curves.items() if np.isfinite(values).all()}
    parts = [plot.area(points["left"], theme.HISTOGRAM)] if "left" in points else []
    parts += [plot.line(points["right"], theme.SIDES["right"], "4 3")] if "right" in points else []
    parts.append(plot.line(zip(x, target, strict=True), theme.TARGET))
    return svg([*parts, *(_bar(k, config, side) for k, side in enumerate(SIDES))], "densities")


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
    return item(preset, draw_scene(get_scene(preset.config), preset.config))
