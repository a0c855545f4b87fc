"""Tiles of the presets, and the pictures on them: what each preset finds in the sweep that comes with the program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from app.components.tiles import item
from app.pages.benchmark.config import EVERY, BenchmarkConfig, nearest
from app.pages.benchmark.presets import PRESETS, BenchmarkPreset
from app.pages.benchmark.scene import load
from app.pages.measured import RESULTS
from app.style import theme
from app.style.tile_plot import TilePlot, svg
from llc_core.sweeps.scales import DASHES, place, squeeze, step_frame
from llc_core.sweeps.series import Curve, curves

STORE = "benchmark_1k.sqlite"
MOST = place(30.0)
"""Relative error at the upper edge of a picture, and the negative one at its foot."""


@lru_cache(maxsize=1)
def outcomes() -> dict[str, list[Curve]]:
    """The curves of every preset; none where the sweep is not there. It takes a tenth of a second, once."""
    try:
        rows = load(RESULTS / STORE).rows
    except ValueError:
        return {preset.name: [] for preset in PRESETS}
    found = {}
    for preset in PRESETS:
        wanted = BenchmarkConfig(**preset.settings)
        config = nearest(wanted, rows, ranks_chosen=wanted.ranks != EVERY)
        found[preset.name] = curves(config.rows(rows), config.estimator, config.truth)
    return found


def picture(preset: BenchmarkPreset, found: Sequence[Curve]) -> str:
    """SVG: mean relative error by step size of every sampler, and the line of no error."""
    low, high = np.log10(step_frame(found))
    plot = TilePlot((low, high), (-1.0, 1.0))
    truth = theme.DASHES[str(preset.settings.get("truth", "expected"))]
    parts = [plot.line([(low, 0.0), (high, 0.0)], theme.TRUTH, " ".join(map(str, truth)), 1.5)]
    for c in found:
        there = np.isfinite(c.mean)
        points = zip(np.log10(c.step_size[there]), squeeze(c.mean[there]) / MOST, strict=True)
        parts.append(plot.line(points, theme.ESTIMATE, " ".join(map(str, DASHES.get(c.gradient, []))), 1.4))
    return svg(parts, "errors by step size")


def tile(preset: BenchmarkPreset) -> dict[str, str]:
    return item(preset, picture(preset, outcomes()[preset.name]))


def hidden_tiles(items: Sequence[dict[str, str]], tip: str) -> list[dict[str, str]]:
    """Tiles that say which runs are shown, and nothing of what came out: pictures and tips would."""
    return [{**item, "tip": tip, "picture": svg([], "hidden")} for item in items]
