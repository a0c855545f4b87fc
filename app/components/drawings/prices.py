"""The price n·L + λ·log n of several solutions against the number of samples n: the cheapest is the one that n samples choose."""

from __future__ import annotations

from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Prices(JSComponent):
    """Counted in the browser, so that the slider answers at once."""

    solutions = param.List([], doc="[name, loss, λ] of each.")
    chosen = param.String("", doc="Name of the solution that the page is about.")

    _stylesheets = [BASE, text_beside(__file__, "prices.css")]

    _esm = text_beside(__file__, "chart.js", "prices.js")

    def _handle_msg(self, msg: Any) -> None:
        """There is nothing to hear."""
