"""What lies below the histograms: their distances, the exact bias, and what it does to λ̂."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.figures import DistanceFigure
from app.pages.stationary_bias.panels.exact.job import ExactBias
from app.pages.stationary_bias.panels.exact.panel import ExactPanel
from app.pages.stationary_bias.panels.llc_errors.panel import LlcErrors
from app.style.layout import card, pair, plotted
from app.style.legend import HeardLegend

LEGEND = [
    ("left", "left to target"),
    ("left_dashed", "left to prediction"),
    ("right", "right to target"),
    ("right_dashed", "right to prediction"),
    ("floor", "what chance alone leaves (rough)"),
]


class Below:
    """The page makes it once the histograms are on the screen, so that these are there sooner.

    on_exact: called with a side and its exact distribution when one is known.
    """

    def __init__(self, config: BiasConfig, on_exact: Callable[[str, ExactBias], None]):
        self.distances = DistanceFigure()
        self.exact = ExactPanel()
        self.exact.listener = on_exact
        self.llc_errors = LlcErrors()
        self._head = HeardLegend()
        distances = card(self._head.view, plotted(self.distances.plot))
        self.views = [pair(distances, self.exact.view), self.llc_errors.view]
        self.reset(config)

    def reset(self, config: BiasConfig) -> None:
        self.distances.reset(config.steps, config.burn_in_steps)
        self._head.begin("Distance of the histograms", LEGEND, "distances")
        self.exact.show(config)

    def stream(self, rows: np.ndarray) -> None:
        """rows: [T, 6], see `DistanceLog`."""
        self.distances.stream(rows)
        self._head.say(self.distances.summary())

    def summarise(self) -> None:
        """Say now what the distances are: the run rests."""
        self._head.say(self.distances.summary(), now=True)

    def close(self) -> None:
        self.exact.close()
        self.llc_errors.close()
