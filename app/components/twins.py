"""Two measured networks of equal loss beside each other: which one generalises is guessed before it is shown."""

from __future__ import annotations

from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Twins(JSComponent):
    """Nothing is sent back: a guess stays with the visitor.

    question, words: what stands above.  networks: name, llc, llc_se, shown and hidden (shares of sums that come out right) of each.
    said: what is said of each choice, in their order.
    """

    question = param.String("")
    words = param.String("")
    most = param.Number(1.0, doc="The right end of the bars of λ̂.")
    networks = param.List([])
    said = param.List([])
    labels = param.Dict({}, doc="What the bars of `llc`, `shown` and `hidden` are called.")

    _stylesheets = [BASE, text_beside(__file__, "twins.css")]

    _esm = text_beside(__file__, "twins.js")

    def _handle_msg(self, msg: Any) -> None:
        """There is nothing to hear."""
