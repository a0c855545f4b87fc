"""Tiles of the page: the exact steps of each preset; while answers are hidden, the layers alone. And the network's matrix."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from app.components.tiles import item
from app.pages.stages.presets import StagesPreset
from app.style.theme import ESTIMATE, TRUTH
from app.style.tile_plot import TilePlot, svg

SHADES = 16
"""Of either sign: cells of one shade are one path, so that a large matrix is sent quickly."""
COLOURS = {1: "#1583C9", -1: "#E69F00"}
MATRICES = """
.both { display: flex; flex-wrap: wrap; gap: 8px 24px; }
figure { margin: 0; flex: 0 1 150px; }
svg { display: block; width: 100%; height: 112px; outline: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
figcaption { font-size: .875rem; margin-bottom: 4px; }
"""


def matrices(now: np.ndarray, teacher: np.ndarray) -> str:
    """HTML: two matrices [H_M, H_0] beside each other in shades of the largest entry of the second."""
    largest = float(np.abs(teacher).max())
    drawn = (("the network's matrix", now), ("the teacher's", teacher))
    figures = "".join(
        f"<figure><figcaption>{name}</figcaption>{_matrix(each / largest, name)}</figure>" for name, each in drawn
    )
    return f'<div class="both">{figures}</div>'


def _matrix(shares: np.ndarray, name: str) -> str:
    rows, columns = shares.shape
    paths: dict[int, list[str]] = defaultdict(list)
    for (i, j), shade in np.ndenumerate(np.clip(shares * SHADES, -SHADES, SHADES).round().astype(int)):
        paths[int(shade)].append(f"M{j} {i}h1v1h-1z")
    cells = "".join(
        f'<path d="{"".join(path)}" fill="{COLOURS[int(np.sign(shade))]}" fill-opacity="{abs(shade) / SHADES:.2f}"/>'
        for shade, path in sorted(paths.items())
        if shade
    )
    return (
        f'<svg viewBox="0 0 {columns} {rows}" preserveAspectRatio="none" role="img" aria-label="{name}">{cells}</svg>'
    )


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
