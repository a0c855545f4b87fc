"""A button that moves w0 to the minimum of the loss first, and both numbers: λ̂ at the w0 that was given, and at that minimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.controls.run_controls import LENGTH, Controls
from app.runs.job import State, Status
from app.sharing.reading import PageConfig
from app.style.layout import prose
from app.style.numbers import with_error
from llc_core import Estimate
from llc_core.potentials.polishing import PASSES

POLISH, BACK = "Polish w0", "Back to w0 as given"
INVITATION = f"λ̂ is of a minimum of the loss. This moves w0 there first, in up to {PASSES} passes over all data, and runs the same again."
MOVING = "moving w0 to the minimum…"
Number = tuple[float, float]
"""λ̂ and its standard error."""


class Polishing:
    """`begin` before every run, `update` while it goes. `view` is the button and what was found.

    before: λ̂ at the w0 that was given, with the same settings, while a run is at a polished one; else None.
    """

    def __init__(self, controls: Controls, run: Callable[[], None]) -> None:
        """run: start what the side bar says, in which the button has been pressed."""
        self._controls, self._run = controls, run
        self._known: tuple[str, Number] | None = None
        self._key, self.on = "", False
        self.before: Number | None = None
        self.button = pmui.Button(label=POLISH, size="small", variant="outlined", margin=0)
        self.button.on_click(lambda event: self.press())
        self.words = prose(styles={"flex": "1 1 240px"})
        self.view = pn.FlexBox(
            self.button,
            self.words,
            gap="8px 12px",
            align_items="center",
            sizing_mode="stretch_width",
            margin=(10, 0, 0, 0),
        )

    def press(self) -> None:
        self._controls.polish = not self.on
        self._controls.forget()
        self._run()

    def begin(self, config: PageConfig, possible: bool = True) -> None:
        """possible: whether the problem has a w0 that lies above the minimum."""
        settings = {name: value for name, value in config.settings.items() if name not in (*LENGTH, "polish")}
        self._key, self.on = repr((config.problem, settings)), config.complete.polish
        known = self._known
        self.before = known[1] if self.on and known is not None and known[0] == self._key else None
        self.button.label = BACK if self.on else POLISH
        self.view.visible = possible or self.on
        self._say(MOVING if self.on else INVITATION)

    def update(self, estimate: Estimate | None) -> None:
        if estimate is None:
            return
        if not self.on and math.isfinite(estimate.llc):
            self._known = self._key, (estimate.llc, estimate.llc_se)
        if estimate.polished is not None:
            said = estimate.polished.sentence
            if self.before is not None and estimate.polished.distance > 0:
                said += f" λ̂ at w0 as given: {with_error(*self.before)}."
            self._say(said)

    def caption(self, state: State) -> str | None:
        """What is done before the first step; None: nothing that has to do with it."""
        return MOVING if self.on and state.status is Status.STARTING else None

    def _say(self, text: str) -> None:
        said: Any = f'<p class="small muted" role="status">{escape(text)}</p>'
        if self.words.object != said:
            self.words.object = said
