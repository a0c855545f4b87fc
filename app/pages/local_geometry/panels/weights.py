"""The card with the network, weight by weight: at w0, where the first chain is now, and along a flat direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import panel as pn

from app.components.drawings.weights import Weights
from app.style.layout import card, prose
from app.style.legend import heading
from llc_core import DeepLinearNetwork

WIDEST, MOST = 12, 400
"""Units of a layer, and weights, that can be told apart."""
TOO_LARGE = f"Networks of up to {WIDEST} units a layer and {MOST} weights are drawn here weight by weight."


class WeightsPanel:
    def __init__(self) -> None:
        self._drawing = Weights(sizing_mode="stretch_width", margin=0)
        self._words = prose(visible=False)
        self._words.object = f"<p>{TOO_LARGE}</p>"
        self._w0 = np.zeros(0)
        self.view: pn.Column = card(heading("Flat directions of this network"), self._drawing, self._words)

    def show(self, problem: DeepLinearNetwork) -> None:
        """A run begins."""
        drawn = max(problem.widths) <= WIDEST and problem.dim <= MOST
        self._drawing.visible, self._words.visible = drawn, not drawn
        self._w0 = np.concatenate([w.ravel() for w in problem.weights]) if drawn else np.zeros(0)
        if drawn:
            self._drawing.param.update(widths=list(problem.widths), w0=_written(self._w0), now=[])

    def move(self, displacement: Any) -> None:
        """w − w0 of the first chain [D], or None where nothing is known of it."""
        if displacement is not None and len(displacement) == len(self._w0):
            self._drawing.now = _written(self._w0 + displacement)


def _written(weights: np.ndarray) -> list[float]:
    """Four digits are more than a line's thickness tells."""
    return [float(f"{w:.4g}") for w in weights]
