"""Tiles of the presets, and the pictures on them: what each preset finds in the sweep that comes with the program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from app.pages.benchmark.columns import DASHES, place, squeeze, step_frame
from app.pages.benchmark.config import EVERY, BenchmarkConfig, nearest
from app.pages.benchmark.presets import PRESETS, BenchmarkPreset
from app.pages.benchmark.scene import load
from app.pages.measured import RESULTS
from app.style import theme
from llc_core.sweeps.series import Curve, curves

STORE = "benchmark_1k.sqlite"
WIDTH, HEIGHT = 112, 46
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
    lines = []
    for c in found:
        there = np.isfinite(c.mean)
        across = 4 + (np.log10(c.step_size[there]) - low) / (high - low) * (WIDTH - 8)
        up = HEIGHT / 2 - np.clip(squeeze(c.mean[there]) / MOST, -1, 1) * (HEIGHT / 2 - 2)
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(across, up, strict=True))
        dash = " ".join(map(str, DASHES.get(c.gradient, [])))
        if path:
            lines.append(f'<path d="M{path}" stroke-dasharray="{dash}"/>')
    dash = " ".join(map(str, theme.DASHES[str(preset.settings.get("truth", "expected"))]))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="errors by step size">'
        f'<path d="M4 {HEIGHT / 2}H{WIDTH - 4}" stroke="{theme.TRUTH}" stroke-width="1.5" stroke-dasharray="{dash}"/>'
        f'<g fill="none" stroke="{theme.ESTIMATE}" stroke-width="1.4">{"".join(lines)}</g></svg>'
    )


def tile(preset: BenchmarkPreset) -> dict[str, str]:
    drawn = picture(preset, outcomes()[preset.name])
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": drawn}


def hidden_tiles(items: Sequence[dict[str, str]], tip: str) -> list[dict[str, str]]:
    """Tiles that say which runs are shown, and nothing of what came out: pictures and tips would."""
    return [{**item, "tip": tip, "picture": f'<svg viewBox="0 0 {WIDTH} {HEIGHT}"></svg>'} for item in items]
