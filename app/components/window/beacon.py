"""Tells Python when the browser has drawn a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from panel.custom import JSComponent

from app.components.base import text_beside
from app.patches import own_values


class Beacon(JSComponent):
    """Calls `listener` when the browser has drawn it: what is sent to a notebook before that is lost.

    Components of pages come after it, so a notebook gets with it what a window has in `opening.html`.
    """

    _esm = "\n".join([own_values.SCRIPT, text_beside(__file__, "beacon.js")])

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[], None] = lambda: None

    def _handle_msg(self, msg: Any) -> None:
        self.listener()
