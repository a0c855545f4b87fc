"""Tiles of the page: the exact steps of each preset; while answers are hidden, the layers alone."""

from __future__ import annotations

from app.components.tiles import item
from app.pages.stages.presets import StagesPreset
from app.style.theme import ESTIMATE, TRUTH
from app.style.tile_plot import TilePlot, svg


def tile(preset: StagesPreset) -> dict[str, str]:
    levels = preset.levels
    plot = TilePlot((0, len(levels)), (min(0, *levels), 1.1 * max(levels)))
    steps = [point for k, level in enumerate(levels) for point in ((k, level), (k + 1, level))]
    return item(preset, svg([plot.line(steps, TRUTH, "6 3")], preset.title))


def plain_tile(preset: StagesPreset) -> dict[str, str]:
    widths = preset.config.widths
    most = max(widths)
    bars = []
    for k, width in enumerate(widths):
        x, height = 8 + 96 * k / (len(widths) - 1) - 3, 44 * width / most
        bars.append(
            f'<rect x="{x:.1f}" y="{26 - height / 2:.1f}" width="6" height="{height:.1f}" rx="3" fill="{ESTIMATE}"/>'
        )
    return item(preset, svg(bars, preset.title))
