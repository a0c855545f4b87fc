"""A button beside the verdict that follows its advice: it sets the one control that the advice names, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import panel_material_ui as pmui

from app.controls.fields import ChoiceField, Field, NumberField
from app.controls.labels import field_label
from app.controls.run_controls import Controls
from app.controls.run_fields import GRADIENT_LABELS
from app.style.numbers import number_text
from llc_core.samplers.registry import samplers


class ApplyButton:
    """`show` with what the advice changes; `button` is there where a click can do it."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._change: tuple[str, Any] | None = None
        self.button = pmui.Button(label="Apply", size="small", variant="outlined", margin=(8, 0, 0, 0), visible=False)
        self.button.on_click(lambda event: self.press())

    def show(self, change: Mapping[str, Any]) -> None:
        """change: {"step_size": 1e-8}, {"sampler": "SGLD"}, …; empty where the advice is no click."""
        wanted = next(iter(change.items())) if len(change) == 1 else None
        field = None if wanted is None else self._controls.field(wanted[0])
        if wanted is None or field is None or not takes(field, wanted[1]):
            self._change = None
            self.button.visible = False
        elif wanted != self._change:
            self._change = wanted
            self.button.param.update(label=f"Apply: {described(field, *wanted)}", visible=True)

    def press(self) -> None:
        if self._change is not None:
            name, value = self._change
            self.show({})
            self._controls.apply(name, value)


def takes(field: Field, value: Any) -> bool:
    """Whether a control can be set to this value, and is not yet."""
    if value == field.value:
        return False
    if isinstance(field, ChoiceField):
        return value in field.widget.options.values()
    try:
        if isinstance(field, NumberField):
            field.check(value)
    except ValueError:
        return False
    return True


def described(field: Field, name: str, value: Any) -> str:
    """What a click sets: "step size ε 1e-8"."""
    label = field_label(name, field.about)
    known = samplers(conditionals=True)
    text = number_text(value) if isinstance(value, float) else GRADIENT_LABELS.get(value, value)
    text = (known[value].label or value) if name == "sampler" and value in known else text
    return f"{label[0].lower()}{label[1:]} {text}"
