"""A legend, and a menu of what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Toggles(JSComponent):
    """What is drawn, and one button whose menu switches each of it.

    items: key, label and an SVG swatch each; those without a swatch stand in the menu alone.  shown: keys that are on.
    label: on the button.
    """

    items = param.List([])
    shown = param.List([])
    label = param.String("Lines")
    figures = param.String("", doc="Names of the figures it belongs to, with spaces between.")

    _stylesheets = [BASE, text_beside(__file__, "toggles.css")]

    _esm = text_beside(__file__, "toggles.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[], None] = lambda: None

    def _handle_msg(self, msg: Any) -> None:
        key = msg.get("toggle") if isinstance(msg, dict) else None
        if any(item["key"] == key for item in self.items):
            self.shown = [k for k in self.shown if k != key] if key in self.shown else [*self.shown, key]
            self.listener()
