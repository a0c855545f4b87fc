"""A table whose cells are buttons: one of them is chosen, and words on it stand below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


def cell(label: str, name: str, raised: bool = False) -> dict[str, Any]:
    """A button.  name: in full, for who does not see the table.  raised: whether it is marked."""
    return {"label": label, "name": name, "raised": raised}


class Cells(JSComponent):
    """rows, columns: headings.  cells: [rows][columns] lists of `cell`, whose places are counted through all of them, row by row."""

    title = param.String("")
    words = param.String("")
    rows = param.List([])
    columns = param.List([])
    cells = param.List([])
    chosen = param.Integer(-1, doc="Place of the cell that is chosen; -1: none.")
    said = param.String("", doc="Words on the chosen cell.")

    _stylesheets = [BASE, text_beside(__file__, "cells.css")]

    _esm = text_beside(__file__, "cells.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[int], None] = lambda place: None

    def _handle_msg(self, msg: Any) -> None:
        place = msg.get("chosen") if isinstance(msg, dict) else None
        count = sum(len(each) for row in self.cells for each in row)
        if isinstance(place, int) and not isinstance(place, bool) and 0 <= place < count:
            self.chosen = place
            self.listener(place)
