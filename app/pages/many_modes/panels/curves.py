"""The card with both KL curves, and what they are drawn beside."""

from __future__ import annotations

import numpy as np

from app.pages.many_modes.config import ModesConfig
from app.pages.many_modes.figures import KlFigure
from app.pages.many_modes.texts import names, small
from app.style.layout import card, plotted
from app.style.legend import HeardLegend


class KlPanel:
    """The figure is made by the first `reset`: the page loads sooner."""

    def __init__(self) -> None:
        self._made: KlFigure | None = None
        self._legend = HeardLegend()
        self.view = card(self._legend.view)

    @property
    def figure(self) -> KlFigure:
        if self._made is None:
            self._made = KlFigure()
            self.view.append(plotted(self._made.plot))
        return self._made

    def reset(self, config: ModesConfig) -> None:
        self.figure.reset(config.gradients)
        left, right = names(config)
        trials = "one trial" if config.trials == 1 else f"median and quartiles of {config.trials} trials"
        entries = [
            ("left", left),
            ("right_dashed", right),
            ("floor", "as many independent draws (12/n)"),
        ]
        self._legend.begin(f"KL against gradients: {trials}", entries, "kl_curves")

    def stream(self, rows: np.ndarray) -> None:
        self.figure.stream(rows)
        if len(rows):
            gradients, left, right = rows[-1, 0], rows[-1, 1], rows[-1, 4]
            over = gradients >= self.figure.plot.x_range.end
            self._legend.say(
                f"After {gradients:,.0f} gradients the median KL is {small(left)} on the left and {small(right)} on the right.",
                over,
            )
