"""What the menu "Export" does: files of what is on the page, and a configuration brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.sharing.desk import EstimateDesk
from app.sharing.exports import config_json, python_code
from app.sharing.reading import PageConfig

NAME = "polygon"
FIGURES = {
    "losses": "Loss traces",
    "estimates": "Running estimate",
    "Features as arrows": "Polygon",
    "Price of": "Price of each solution",
}
"""Bokeh figures by their name; drawings by the first words of their description."""


class Takeaway(EstimateDesk):
    """apply: called with the content of a configuration file; may raise ValueError."""

    def __init__(self, apply: Callable[[Any], str]):
        super().__init__(NAME, {}, FIGURES, apply)

    def show(self, config: PageConfig) -> None:
        self.begin(python_code(config.complete), config_json(config.complete))
