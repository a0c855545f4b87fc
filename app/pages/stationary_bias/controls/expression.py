"""A target that the visitor writes: a formula of its density or its energy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.style import theme

FIRST_EXPRESSION = "exp(-x^4/4) + 0.5*exp(-2*(x-2)^2)"


class ExpressionEditor:
    """A formula of the density or of the energy."""

    def __init__(self, listener: Callable[[], None]):
        self._listener, self._quiet = listener, False
        self.of = pmui.RadioButtonGroup(
            options={"density": "density", "energy U": "energy"},
            value="density",
            size="small",
            sizing_mode="stretch_width",
            margin=(4, 0, 10, 0),
            sx=theme.AS_WRITTEN,
        )
        self.entry = pmui.TextInput(
            label="Formula in x",
            value=FIRST_EXPRESSION,
            placeholder=FIRST_EXPRESSION,
            size="small",
            sizing_mode="stretch_width",
            margin=(4, 0),
        )
        hint = pn.pane.HTML(
            '<p class="small muted">+ − * / ^, exp log sqrt sin cos tanh abs cosh, pi and e. The density need not be '
            "normalised.</p>",
            sizing_mode="stretch_width",
            margin=(2, 0),
            stylesheets=[theme.TEXT],
        )
        self.view = pn.Column(self.of, self.entry, hint, sizing_mode="stretch_width", margin=0)
        for widget in (self.of, self.entry):
            widget.param.watch(self._on_change, "value")

    def show(self, expression: str, of: str) -> None:
        self._quiet = True
        self.entry.value, self.of.value = expression, of
        self._quiet = False

    def read(self) -> dict[str, Any]:
        return {"kind": "landscape", "expression": self.entry.value.strip(), "of": self.of.value}

    def _on_change(self, event: Any) -> None:
        if not self._quiet:
            self._listener()
