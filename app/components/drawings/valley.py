"""A valley of two weights that is bent by hand: chains, the room below a loss, and λ follow in the browser, without a run here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, FIND_DEEP, text_beside

BENDS, SAMPLES = (0.0, 3.0), (1.0, 6.0)
"""From a bowl to a crossing, see valley_math.js, and log10 of n."""


class Valley(JSComponent):
    """listener: called with `bend` and `samples` once the visitor has let go of a slider.

    Nothing of a chain is sent: what moves is computed where it is seen, from the formulas of valley_math.js.
    """

    bend = param.Number(0.0, bounds=BENDS)
    samples = param.Number(2.0, bounds=SAMPLES, doc="log10 of n.")
    withheld = param.Boolean(False, doc="The exact λ is left out.")
    ways = param.List([], doc="Pages to go on to: key, title and words of each.")

    _stylesheets = [BASE, text_beside(__file__, "valley.css")]

    _esm = "\n".join([FIND_DEEP, text_beside(__file__, "valley_math.js", "chart.js", "valley.js")])

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[float, float], None] = lambda bend, samples: None

    def _handle_msg(self, msg: Any) -> None:
        if not isinstance(msg, dict):
            return
        given = [msg.get("bend"), msg.get("samples")]
        if all(type(value) in (int, float) for value in given) and all(
            low <= value <= high for value, (low, high) in zip(given, (BENDS, SAMPLES), strict=True)
        ):
            self.listener(*(float(value) for value in given))
