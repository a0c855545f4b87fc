"""A network drawn weight by weight, as it is at w0 and as a chain moves it; a flat direction can be walked along by hand."""

from __future__ import annotations

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Weights(JSComponent):
    """Of a linear network: a hidden unit that is made stronger while what leaves it is made weaker computes the same.

    w0, now: all weights, layer after layer, each row by row.
    """

    widths = param.List([])
    w0 = param.List([])
    now = param.List([], doc="Of the first chain; empty before it has moved.")

    _stylesheets = [BASE, text_beside(__file__, "weights.css")]

    _esm = text_beside(__file__, "weights.js")
