"""The bar of a guided tour at the foot of the window, and the button in the header that begins it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, FIND_DEEP, text_beside


class TourBar(JSComponent):
    """A button "Tour", key T; what it opens is made in the browser when it is pressed, and lies over no control for long: it can be
    left at any time.

    step: empty while no tour is on. Else place ("2 of 5"), words, question, options, chosen (-1: none yet), said, state ("ask", "wait"
    or "answered") and last.  listener: called with "start", "leave", "next", or "answer" and the place of the option.
    """

    offered = param.Boolean(False, doc="Whether the page has a tour.")
    step = param.Dict({})

    _stylesheets = [BASE, text_beside(__file__, "tour.css")]

    _esm = "\n".join([FIND_DEEP, text_beside(__file__, "tour.js")])

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str, int], None] = lambda what, option: None

    def _handle_msg(self, msg: Any) -> None:
        what, option = (msg.get("tour"), msg.get("option", 0)) if isinstance(msg, dict) else (None, 0)
        if what in ("start", "leave", "next", "answer") and isinstance(option, int):
            self.listener(what, option)
