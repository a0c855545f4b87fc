"""Features in superposition: an arrow for each, as it is at w0 and as a chain moves it."""

from __future__ import annotations

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Polygon(JSComponent):
    """w0, now: W row after row and then the biases, of `llc_core.potentials.polygons`; the corners are the first features."""

    features = param.Integer(6)
    sides = param.Integer(5)
    silent = param.Boolean(True, doc="Whether nothing is seen of the features that are left out.")
    w0 = param.List([])
    now = param.List([], doc="Of the first chain; empty before it has moved.")

    _stylesheets = [BASE, text_beside(__file__, "polygon.css")]

    _esm = text_beside(__file__, "chart.js", "polygon.js")
