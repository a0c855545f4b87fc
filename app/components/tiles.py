"""The row of presets as pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside

_DRAWN: dict[tuple[type, str, str], Any] = {}
"""By page, kind and preset: to draw all tiles anew for each visitor took a fifth of making a page."""


def drawn_once(page: object, draw: Callable[[Any], Any], preset: Any) -> Any:
    """What a page's function draws of a preset, by its name; the same in the whole process."""
    key = (type(page), draw.__name__, preset.name)
    if key not in _DRAWN:
        _DRAWN[key] = draw(preset)
    return _DRAWN[key]


def item(preset: Any, picture: str) -> dict[str, str]:
    """A tile for `Tiles.items`."""
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}


class Tiles(JSComponent):
    """Picture tiles to choose one of. items: name, title, tip and an SVG picture each."""

    items = param.List([])
    selected = param.String("")
    link = param.String("", doc="What the address has of settings that are no preset, see `app.sharing.links`.")
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
