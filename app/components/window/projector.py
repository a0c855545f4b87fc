"""The page on a projector, by the key P or `?present=1`; and the list of keys, by `?`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Projector(JSComponent):
    """Everything half as large again, and one figure at a time: the arrow keys turn to the next.

    `listener` is called with True when the page is to be shown so, and with False when it is over.
    """

    on_screen = param.Boolean(False)

    _stylesheets = [BASE, text_beside(__file__, "projector.css")]

    _esm = text_beside(__file__, "cards.js", "projector.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[bool], None] = lambda on_screen: None

    def _handle_msg(self, msg: Any) -> None:
        wanted = msg.get("present") if isinstance(msg, dict) else None
        if isinstance(wanted, bool) and wanted != self.on_screen:
            self.on_screen = wanted
            self.listener(wanted)
