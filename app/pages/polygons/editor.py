"""Which polygon: its corners and the number of features in the bar, what is left out in the side bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.controls.fields import ChoiceField
from app.pages.polygons.scene import NAMES
from app.style.layout import Viewed, cell
from llc_core.fields import Hyper
from llc_core.potentials.polygons import FEWEST, LEFT_OUT, MOST, MOST_FEATURES, SAMPLES

FEATURES = tuple(str(count) for count in range(FEWEST, MOST_FEATURES + 1))
SIDES = {str(sides): f"{name} ({sides} corners)" for sides, name in NAMES.items()}
WHAT = {"silent": "is silent", "mean": "answers with its mean"}


class PolygonEditor(Viewed):
    """`problem` is what the entries describe. `listener` is called after a change by the visitor."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self._n = SAMPLES
        self.features = ChoiceField("features", Hyper(choices=FEATURES), "6", label="Features")
        self.sides = ChoiceField("sides", Hyper(choices=tuple(SIDES)), "5", SIDES, label="Polygon")
        self.left_out = ChoiceField("left_out", Hyper(choices=LEFT_OUT), LEFT_OUT[0], WHAT, label="A feature left out")
        self.sides.listener = self._on_sides
        self.features.listener = self._on_features
        self.left_out.listener = lambda: self.listener()
        self.choices = [cell(self.features), cell(self.sides)]
        self._view = cell(self.left_out)

    @property
    def problem(self) -> dict[str, Any]:
        return {
            "kind": "superposition",
            "sides": int(self.sides.value or FEWEST),
            "features": int(self.features.value or MOST),
            "left_out": self.left_out.value or LEFT_OUT[0],
            "n": self._n,
        }

    def show(self, problem: Mapping[str, Any]) -> None:
        """Set the entries to a problem, without reporting a change."""
        self._n = problem["n"]
        self.sides.set(str(problem["sides"]))
        self.features.set(str(problem["features"]))
        self.left_out.set(problem["left_out"])

    def _on_sides(self) -> None:
        """Every corner is a feature, so there are at least as many."""
        if self.problem["features"] < self.problem["sides"]:
            self.features.set(self.sides.value)
        self.listener()

    def _on_features(self) -> None:
        if self.problem["features"] < self.problem["sides"]:
            self.sides.set(self.features.value)
        self.listener()
