"""What a visitor may set on the page "Stages": the network and its teacher in sight, the rest in the side bar."""

from __future__ import annotations

from collections.abc import Callable

import panel_material_ui as pmui

from app.controls.fields import ChoiceField, NumberField, field_of
from app.controls.parsing import parse_numbers, parse_reals
from app.pages.stages.config import OWN, REAL, StagesConfig
from app.style.layout import Viewed, cell
from llc_core.fields import hyper_fields

TEACHERS = {OWN: "what it has learned so far", REAL: "the real teacher"}


class StagesEditor(Viewed):
    """`value` is a configuration; ValueError, one sentence, where the entries are none. `listener`: called after a change."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self._quiet = False
        about = hyper_fields(StagesConfig)
        self.widths, self.values = (
            _entry("Layer sizes", "10, 4, 10"),
            _entry("Teacher's singular values", "4, 2, 1, 0.5"),
        )
        self.teacher = ChoiceField("teacher", about["teacher"], OWN, TEACHERS, label="λ̂ is measured on the data of")
        own = StagesConfig
        self.fields: dict[str, NumberField] = {
            "steps": field_of(own, "steps", "Steps at each rest", (100, 10_000)),
            "chains": field_of(own, "chains", "Chains", (2, 32)),
            "seed": field_of(own, "seed", "Seed", (0, 100), high=999_999),
        }
        for field in (self.teacher, *self.fields.values()):
            field.listener = self._on_change
        for text in (self.widths, self.values):
            text.param.watch(self._on_change, "value")
        self.choices = [cell(self.widths), cell(self.values), cell(self.teacher)]
        self._view = cell(*self.fields.values())

    @property
    def value(self) -> StagesConfig:
        return StagesConfig(
            widths=tuple(parse_numbers(self.widths.value, "Layer sizes", "10, 4, 10")),
            singular_values=tuple(parse_reals(self.values.value, "Singular values")),
            teacher=self.teacher.value or OWN,
            **{name: field.value for name, field in self.fields.items()},
        )

    def show(self, config: StagesConfig) -> None:
        """Set every entry without reporting changes."""
        self._quiet = True
        try:
            self.widths.value = ", ".join(map(str, config.widths))
            self.values.value = ", ".join(f"{value:g}" for value in config.singular_values)
            self.teacher.set(config.teacher)
            for name, field in self.fields.items():
                field.set(getattr(config, name))
        finally:
            self._quiet = False

    def _on_change(self, event: object = None) -> None:
        if not self._quiet:
            self.listener()


def _entry(label: str, value: str) -> pmui.TextInput:
    return pmui.TextInput(
        label=label, value=value, placeholder=value, size="small", sizing_mode="stretch_width", margin=(8, 0)
    )
