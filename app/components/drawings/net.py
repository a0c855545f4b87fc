"""A small drawing of a network whose layers and ranks are changed on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside

DEEDS = ("layer", "rank", "add", "remove")
MOST = 12
"""Layers that can be told apart by a finger; what has more is changed by its text."""
DRAGGED = ("layer", "rank")
LARGEST = 1_000_000
"""A number that a drag can ask for; what a page takes is less."""


class Net(JSComponent):
    """A press on a layer widens it, with Shift or the other button it narrows; one between two layers adds a layer there.

    To drag a layer or a rank up or down does the same, in steps.

    listener: called with one of DEEDS, the place of the layer (of the gap, for "rank" and "add"), and +1 or −1.
    dragged: called with one of DRAGGED, the place, the width or rank that is meant, and whether it has been let go.
    """

    picture = param.String("", doc="SVG, layers at equal distances.")
    edge = param.Number(0.0, doc="Place of the first layer, as a share of the width.")
    widths = param.List([])
    ranks = param.List([])
    most = param.Integer(MOST, doc="Wider or deeper: as many layers as can be pressed.")

    _stylesheets = [BASE, text_beside(__file__, "net.css")]

    _esm = text_beside(__file__, "net.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str, int, int], None] = lambda deed, place, by: None
        self.dragged: Callable[[str, int, int, bool], None] = lambda deed, place, to, done: None

    def _handle_msg(self, msg: Any) -> None:
        if not isinstance(msg, dict) or msg.get("deed") not in DEEDS:
            return
        deed, place, by, to = msg["deed"], msg.get("place"), msg.get("by"), msg.get("to")
        places = len(self.widths) - (deed in ("rank", "add"))
        if type(place) is not int or not 0 <= place < places:
            return
        if deed in DRAGGED and type(to) is int and 0 <= to <= LARGEST:
            self.dragged(deed, place, to, msg.get("done") is True)
        elif by in (-1, 1):
            self.listener(deed, place, by)
