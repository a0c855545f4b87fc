"""Tiles of the page: what of the square of two weights has a loss below 1/n."""

from __future__ import annotations

from app.components.tiles import item
from app.pages.start.presets import StartPreset
from app.style.theme import ESTIMATE, TRUTH
from app.style.tile_plot import HEIGHT, WIDTH, svg

SHAPES = {
    "bowl": f'<circle cx="56" cy="26" r="10" fill="{ESTIMATE}" fill-opacity=".5"/>',
    "soft": f'<ellipse cx="56" cy="26" rx="9" ry="19" fill="{ESTIMATE}" fill-opacity=".5"/>',
    "flat": f'<rect x="47" y="2" width="18" height="48" fill="{ESTIMATE}" fill-opacity=".5"/>',
    "crossing": f'<path d="M52 2h8v20h48v8H60v20h-8V30H4v-8h48z" fill="{ESTIMATE}" fill-opacity=".5"/>',
    "few": f'<rect x="20" y="2" width="72" height="48" rx="14" fill="{ESTIMATE}" fill-opacity=".5"/>',
}
"""Each as wide as the picture's square has it, not to scale."""
SOLUTIONS = {"flat": f"M{WIDTH / 2} 2V{HEIGHT - 2}", "crossing": f"M{WIDTH / 2} 2V{HEIGHT - 2}M4 26H{WIDTH - 4}"}


def tile(preset: StartPreset) -> dict[str, str]:
    best = f'<circle cx="{WIDTH / 2}" cy="26" r="3" fill="{TRUTH}"/>'
    if preset.name in SOLUTIONS:
        best = f'<path d="{SOLUTIONS[preset.name]}" stroke="{TRUTH}" stroke-width="2" stroke-dasharray="5 3"/>'
    return item(preset, svg([SHAPES[preset.name], best], preset.title))
