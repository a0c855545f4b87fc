"""What a visitor can take away from the page "Landscapes", and bring back to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.pages.landscapes.panels.monomials import MonomialsProgress, monomials_csv
from app.pages.landscapes.panels.points import PointsProgress, points_csv
from app.pages.landscapes.panels.volume import volume_csv
from app.sharing.desk import EstimateDesk
from app.sharing.exports import config_json, python_code
from app.sharing.reading import PageConfig
from llc_core import VolumeScaling

NAME = "landscape"
ANSWER = "run.problem.one_sided_llc_at(estimate.n_beta, estimate.config.localization)"
"""Of the side of a wall where the chains began."""
FILES = {"volume": "Volume scaling (CSV)", "points": "U against V (CSV)", "monomials": "λ̂ against λ (CSV)"}
FIGURES = {
    "plane": "The plane",
    "estimates": "Running estimate",
    "losses": "Loss traces",
    "volume_figure": "Volume scaling",
    "points_figure": "U against V",
    "monomials_figure": "λ̂ against λ",
}


class LandscapeTakeaway(EstimateDesk):
    """apply: called with the content of a configuration file; may raise ValueError.  volume, points, monomials: what the panels show."""

    def __init__(
        self,
        apply: Callable[[Any], None],
        volume: Callable[[], VolumeScaling | None],
        points: Callable[[], PointsProgress | None],
        monomials: Callable[[], MonomialsProgress | None],
    ):
        super().__init__(NAME, FILES, FIGURES, apply)
        self._volume, self._points, self._monomials = volume, points, monomials

    def show(self, config: PageConfig) -> None:
        self.begin(python_code(config.complete, ANSWER), config_json(config.complete))

    def own(self, key: str) -> tuple[str, str]:
        if key == "volume":
            curve = self._volume()
            if curve is None:
                raise ValueError("The volumes are still being worked out; try again in a moment.")
            return f"{NAME}_volume.csv", volume_csv(curve)
        if key == "monomials":
            rows = self._monomials()
            if rows is None:
                raise ValueError("The twelve landscapes have not been run yet; press “Run the twelve” first.")
            return f"{NAME}_monomials.csv", monomials_csv(rows)
        found = self._points()
        if found is None:
            raise ValueError("U and V have not been compared yet; press “Run U and V” first.")
        return f"{NAME}_points.csv", points_csv(found)
