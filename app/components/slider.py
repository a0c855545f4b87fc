"""One number in the browser: a slider, a typed entry, and where wanted a switch "automatic".

One component per number instead of four keeps the page quick to load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import text_beside


class SliderEntry(JSComponent):
    """Shows what Python sets; reports {"position"} on release, {"text"} on entry, {"automatic"} on the switch."""

    label = param.String("")
    help = param.String("")
    start = param.Number(0.0)
    end = param.Number(1.0)
    grain = param.Number(0.01, doc="Step of the slider.")
    position = param.Number(0.0, doc="Of the slider; a decimal logarithm where `logarithmic`.")
    logarithmic = param.Boolean(False)
    integer = param.Boolean(False)
    text = param.String("")
    switchable = param.Boolean(False, doc="Whether there is a switch for automatic.")
    automatic = param.Boolean(False)
    message = param.String("")
    limit = param.Number(None, allow_None=True, doc="Positions below it are stable; None: not known.")
    compact = param.Boolean(False, doc="The label above both, for narrow places.")
    live = param.Boolean(False, doc="The position is reported while it is dragged, too.")

    _stylesheets = [text_beside(__file__, "slider.css")]

    _esm = text_beside(__file__, "slider.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str, Any], None] = lambda kind, value: None

    def _handle_msg(self, msg: Any) -> None:
        kinds = {"position": (int, float), "text": str, "automatic": bool}
        for kind, expected in kinds.items():
            if isinstance(msg, dict) and isinstance(msg.get(kind), expected):
                self.listener(kind, msg[kind])
