"""One click from a staircase that teaches one thing. λ in the sentences is exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.preset import Named
from app.pages.stages.config import REAL, StagesConfig


@dataclass(frozen=True)
class StagesPreset(Named):
    """levels: exact λ at each rest, for the tile.  settings: fields of `StagesConfig` that differ from its defaults."""

    levels: tuple[float, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> StagesConfig:
        return StagesConfig(**self.settings)


PRESETS = (
    StagesPreset(
        "two",
        "Two layers",
        "The network learns one singular value after the other, and rests between them. λ climbs: 18, 22, 25.5, 29, 32.",
        (18, 22, 25.5, 29, 32),
    ),
    StagesPreset(
        "four",
        "Four layers",
        "The same teacher with four layers. All steps are equal now: 8, 14, 20, 26, 32. The early rests use very few weights.",
        (8, 14, 20, 26, 32),
        {"widths": (10, 4, 10, 4, 10)},
    ),
    StagesPreset(
        "real",
        "The real target",
        "The same rests on the real teacher's data. All but the last are saddles, so λ̂ falls below 0. No sampler can mend that.",
        (-20, -15, -10, -5, 32),
        {"teacher": REAL, "steps": 600},
    ),
    StagesPreset(
        "wide",
        "Room to spare",
        "The hidden layer has ten units, more than inputs or outputs. Then λ is 17.5, 18, 18: at most half of 6 times 6, at every rest.",
        (17.5, 18, 18),
        {"widths": (6, 10, 6), "singular_values": (3.0, 1.0)},
    ),
    StagesPreset(
        "close",
        "Two at once",
        "Two values of the teacher are nearly equal. They are learned together, so one stair is missing or is no rest.",
        (10, 12, 13.5, 15),
        {"widths": (6, 4, 6), "singular_values": (2.0, 1.99, 0.5)},
    ),
    StagesPreset(
        "table",
        "Two units",
        "Layers of two units. λ at the rests is 1.5, 2, 2. Cells (0, 0), (1, 1) and (2, 2) of the table are these rests.",
        (1.5, 2, 2),
        {"widths": (2, 2, 2), "singular_values": (2.0, 0.5)},
    ),
)
