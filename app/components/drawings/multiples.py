"""Small multiples: many small charts with the same axes, drawn as one SVG; points are chosen by pointer or keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, FIND_DEEP, text_beside


class Multiples(JSComponent):
    """data: the charts, as `app.pages.benchmark.figures` makes them; places are shares of a frame.

    chosen: key of a curve and place in it; empty where none is.  listener: called with both when a point is chosen.
    """

    data = param.Dict({})
    chosen = param.List([])
    title = param.String("", doc="The description of the drawing begins with it; files are found by it.")

    _stylesheets = [BASE, text_beside(__file__, "multiples.css")]

    _esm = "\n".join([FIND_DEEP, text_beside(__file__, "multiples.js")])

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str, int], None] = lambda key, index: None

    def _handle_msg(self, msg: Any) -> None:
        point = msg.get("point") if isinstance(msg, dict) else None
        if not isinstance(point, list) or len(point) != 2:
            return
        for chart in self.data.get("charts", ()):
            for line in chart["lines"]:
                if line["key"] == point[0] and any(there[2] == point[1] for there in line["points"]):
                    self.listener(*point)
                    return
