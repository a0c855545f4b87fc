"""The button "Share" in the header: a link to what is on the screen, with what a teacher wants to leave out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import text_beside
from app.sharing.links import HIDEABLE, PARAMETER


class ShareMenu(JSComponent):
    """Asks for the link when it is opened and whenever something is ticked; copies it, and puts it into the address.

    make: called with the keys of HIDEABLE to leave out; returns the value of `?c=`. ValueError becomes a sentence.
    """

    hideable = param.Dict(HIDEABLE)
    parameter = param.String(PARAMETER)
    link = param.Dict({}, doc='{"text": …} or {"fault": …}')

    _stylesheets = [text_beside(__file__, "share_menu.css")]

    _esm = text_beside(__file__, "copying.js", "share_menu.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.make: Callable[[tuple[str, ...]], str] = lambda hide: ""

    def _handle_msg(self, msg: Any) -> None:
        hide = msg.get("hide") if isinstance(msg, dict) else None
        if not isinstance(hide, list):
            return
        try:
            found = {"text": self.make(tuple(name for name in HIDEABLE if name in hide))}
        except ValueError as error:
            found = {"fault": str(error)}
        self.link = found
        self.param.trigger("link")
