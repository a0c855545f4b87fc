"""One click from a polygon that teaches one thing. λ in the sentences is exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.preset import Named
from llc_core.potentials import Superposition

RUN = {"steps": 8_000, "burn_in": 0.25, "localization": Superposition.localization}
"""Over ten seeds λ̂ is 6.964 ± 0.014 at the pentagon and 8.409 ± 0.016 at the hexagon, expected 6.944 and 8.396."""


@dataclass(frozen=True)
class PolygonPreset(Named):
    """sides, features, left_out: of `llc_core.potentials.polygons`.  settings: of the run that differ from the page's defaults."""

    sides: int
    features: int = 6
    left_out: str = "silent"
    settings: Mapping[str, Any] = field(default_factory=lambda: RUN)

    @property
    def problem(self) -> dict[str, Any]:
        return Superposition(self.sides, self.features, self.left_out).to_dict()


PRESETS = (
    PolygonPreset(
        "pentagon",
        "Pentagon",
        "Five features stand in a circle, the sixth is left out. It may do what it likes, so λ is 7. Half of all weights is 9.",
        5,
    ),
    PolygonPreset(
        "hexagon",
        "Hexagon",
        "All six features have a place, and the loss is smaller. λ is 8.5: only the turn of the whole picture is free.",
        6,
    ),
    PolygonPreset(
        "mean",
        "Pentagon and a mean",
        "The sixth feature always answers with its mean. That is a little better than silence, and now every weight counts: λ is 8.5.",
        5,
        left_out="mean",
    ),
    PolygonPreset(
        "escapes",
        "Leaves for the hexagon",
        "The same pentagon with a weak pull to w0: γ is 1. Chains find the hexagon, whose loss is smaller, so λ̂ falls and its error grows.",
        5,
        settings={"steps": 12_000, "burn_in": 0.25, "n_beta": 5_000.0, "localization": 1.0, "seed": 5},
    ),
    PolygonPreset(
        "nine",
        "Nine in a circle",
        "Nine features see much of each other. λ is 13 of at most 13.5. With ten the polygon is no minimum any more.",
        9,
        9,
    ),
    PolygonPreset(
        "left",
        "Four left out",
        "Nine features, and only five have a place. Twelve weights do nothing: λ is 7, as it is with six features.",
        5,
        9,
    ),
)
