"""How many steps a run makes in a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Speed(JSComponent):
    """A slider that says its value in words. on_pace: called with steps a second, 0 for as fast as it can."""

    unit = param.String("step", doc="What is counted.")
    paces = param.List([], doc="Steps a second to choose from, slow ones first; 0: as fast as it can.")

    _stylesheets = [BASE, text_beside(__file__, "speed.css")]

    _esm = text_beside(__file__, "speed.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.on_pace: Callable[[float], None] = lambda steps_per_second: None

    def _handle_msg(self, msg: Any) -> None:
        pace = msg.get("pace") if isinstance(msg, dict) else None
        if isinstance(pace, (int, float)) and pace in self.paces:
            self.on_pace(float(pace))
