"""Tiles of the presets, and the pictures on them."""

from __future__ import annotations

from app.pages.benchmark.presets import BenchmarkPreset
from app.style import theme


def picture(preset: BenchmarkPreset) -> str:
    """SVG: a curve of errors and the line of no error."""
    width, height = 112, 46
    step = (width - 20) / (len(preset.curve) - 1)
    at = [(10 + i * step, height / 2 - v * (height / 2 - 5)) for i, v in enumerate(preset.curve)]
    path = "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in at)
    dots = "".join(f'<circle cx="{x:.0f}" cy="{y:.1f}" r="2.4" fill="{theme.ESTIMATE}"/>' for x, y in at)
    truth = theme.GLOBAL if preset.settings.get("truth") == "global" else theme.EXPECTED
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="errors by step size">'
        f'<path d="M4 {height / 2}H{width - 4}" stroke="{truth}" stroke-width="1.5" stroke-dasharray="2 3"/>'
        f'<path d="{path}" fill="none" stroke="{theme.ESTIMATE}" stroke-width="1.8"/>{dots}</svg>'
    )


def tile(preset: BenchmarkPreset) -> dict[str, str]:
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture(preset)}
