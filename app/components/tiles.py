"""The row of presets as pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Tiles(JSComponent):
    """Picture tiles to choose one of. items: name, title, tip and an SVG picture each."""

    items = param.List([])
    selected = param.String("")
    page = param.String("", doc="The page's name in the address of the window, which then follows; empty: it stays.")

    _stylesheets = [BASE, text_beside(__file__, "tiles.css")]

    _esm = text_beside(__file__, "tiles.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str], None] = lambda name: None

    def _handle_msg(self, msg: Any) -> None:
        name = msg.get("select") if isinstance(msg, dict) else None
        if any(item["name"] == name for item in self.items):
            self.listener(name)
