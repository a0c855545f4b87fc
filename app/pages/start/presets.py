"""Five valleys, from one that needs both weights to one that needs less than one of them."""

from __future__ import annotations

from dataclasses import dataclass

from app.pages.start.config import StartConfig


@dataclass(frozen=True)
class StartPreset:
    name: str
    title: str
    lesson: str
    config: StartConfig


PRESETS = (
    StartPreset(
        "bowl", "A bowl", "In a bowl every direction costs. Both weights count, so λ = 2/2 = 1.", StartConfig(0.0)
    ),
    StartPreset(
        "soft",
        "A soft floor",
        "Across the valley the loss grows as a square, along it as a fourth power. Such a direction counts half: λ = ¾.",
        StartConfig(1.0),
    ),
    StartPreset(
        "flat",
        "A flat floor",
        "Along the floor the loss stays the same. That direction costs nothing: λ = ½, as of a model with one weight.",
        StartConfig(2.0),
    ),
    StartPreset(
        "crossing",
        "Two valleys cross",
        "Both valleys have λ = ½. Where they cross there is more room still, so λ̂ stays below ½ for a long time.",
        StartConfig(3.0, 4.0),
    ),
    StartPreset(
        "few",
        "Too few samples",
        "The floor bends, yet 20 samples cannot see it: λ̂ is far below λ. Move the samples up and it climbs.",
        StartConfig(2.97, 1.3),
    ),
)
