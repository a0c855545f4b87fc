"""The card with both KL curves, and what they are drawn beside."""

from __future__ import annotations

import numpy as np

from app.pages.many_modes.config import ModesConfig
from app.pages.many_modes.figures import KlFigure
from app.pages.many_modes.texts import names
from app.style import theme
from app.style.layout import card, plotted, prose
from app.style.legend import legend_html


class KlPanel:
    def __init__(self) -> None:
        self.figure = KlFigure()
        self._legend = prose(theme.LEGEND)
        self.view = card(self._legend, plotted(self.figure.plot))

    def reset(self, config: ModesConfig) -> None:
        self.figure.reset(config.gradients)
        left, right = names(config)
        trials = "one trial" if config.trials == 1 else f"median and quartiles of {config.trials} trials"
        entries = [
            ("left", left),
            ("right_dashed", right),
            ("floor", "as many independent draws (12/n)"),
        ]
        self._legend.object = legend_html(f"KL against gradients: {trials}", entries, "kl_curves")

    def stream(self, rows: np.ndarray) -> None:
        self.figure.stream(rows)
