"""Play, pause, step, reset, and how far the run is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Transport(JSComponent):
    """Play or pause, step, reset; a step counter and the progress. Space, S and R do the same as the buttons.

    Where a finished run can be made longer its first button says “Run 8,000 more”: to play it again is what Reset does.
    """

    status = param.String("starting")
    caption = param.String("")
    run = param.Integer(0, doc="Which of the page's runs it is: the first is number 1.")
    playing = param.Boolean(True)
    step = param.Integer(0)
    unit = param.String("step", doc="What is counted: a word before the number.")
    total = param.Integer(1)
    burn_in = param.Integer(0)
    more = param.Boolean(False, doc="The run is finished and can be made twice as long.")
    single = param.Boolean(False, doc="The step button does one step, and not a hundredth of the run.")
    stride = param.Integer(1, doc="Steps that one press of the step button does.")

    _stylesheets = [BASE, text_beside(__file__, "transport.css")]

    _esm = text_beside(__file__, "transport.js")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.listener: Callable[[str], None] = lambda command: None

    def begin(self, total: int, burn_in: int, playing: bool = True, caption: str = "starting…") -> None:
        """A new run of so many steps."""
        self.param.update(run=self.run + 1, step=0, caption=caption)
        self.lengthen(total, burn_in, playing)

    def lengthen(self, total: int, burn_in: int, playing: bool = True) -> None:
        """The run has so many steps now."""
        stride = 1 if self.single else max(1, total // 100)
        self.param.update(total=total, burn_in=burn_in, more=False, stride=stride, playing=playing)

    def _handle_msg(self, msg: Any) -> None:
        command = msg.get("command") if isinstance(msg, dict) else None
        if command in ("play", "pause", "step", "reset", "more"):
            self.listener(command)
