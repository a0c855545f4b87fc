"""Which sampler runs on one side, and its numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, Field, NumberField, make_field
from app.pages.stationary_bias.config import STEP, on_the_line
from app.style.layout import cell, folded
from llc_core.fields import Hyper, default_of, hyper_fields
from llc_core.samplers.registry import samplers

SPANS = {"step_size": (1e-6, 1.0), "stability": (1e-4, 10.0), "beta": (0.0, 3.0), "a": (0.0, 5.0)}
"""Reach of the sliders; typed entry takes the full range of a field."""
HELP = {"step_size": "Size of one step. The prediction is for steps near 0."}
NUMBER_FLEX = "1 1 clamp(135px, calc((400px - 100%) * 999), 100%)"
"""Sliders stand beside each other, but on a phone each has its own row."""


class SamplerPanel:
    """Choice of a sampler and its fields. `listener` is called after a change by the user."""

    def __init__(self, side: str):
        self.listener: Callable[[], None] = lambda: None
        self._samplers = on_the_line(samplers())
        names = tuple(self._samplers)
        self.sampler = ChoiceField(
            "sampler",
            Hyper(choices=names, help="The rule that moves the chains of this side."),
            names[0],
            {name: cls.label or name for name, cls in self._samplers.items()},
            label=f"{side.capitalize()} sampler",
        )
        self._own: dict[str, Field] = {}
        self._choices, self._step = cell(), cell()
        self._rest = pn.FlexBox(gap="0 12px", sizing_mode="stretch_width", margin=0)
        self._more = folded(self._rest, title=f"More of the {side} sampler")
        self.sampler.listener = self._on_sampler
        self._rebuild({})

    @property
    def choice(self) -> pn.viewable.Viewable:
        """Which sampler, and its step size: for the bar of the page."""
        return cell(self._choices, self._step)

    @property
    def further(self) -> pn.viewable.Viewable:
        """The rest of its settings below one word that opens them."""
        return self._more

    @property
    def value(self) -> dict[str, Any]:
        """Description of the sampler, for `BiasConfig`."""
        return {"name": self.sampler.value, **{name: field.value for name, field in self._own.items()}}

    def show(self, description: Mapping[str, Any]) -> None:
        """Set every field without reporting changes."""
        values = dict(description)
        name = values.pop("name")
        if name == self.sampler.value:
            for key, field in self._own.items():
                field.set(values.get(key, self._default(key)))
            return
        self.sampler.set(name)
        self._rebuild(values)

    def _default(self, name: str) -> Any:
        return STEP if name == "step_size" else default_of(self._samplers[self.sampler.value], name)

    def _on_sampler(self) -> None:
        # The step size is the run's clock: it stays when another sampler comes.
        kept = self._own["step_size"].value
        self._rebuild({"step_size": kept})
        self.listener()

    def _rebuild(self, values: Mapping[str, Any]) -> None:
        cls = self._samplers[self.sampler.value]
        self._own = {}
        for name, about in hyper_fields(cls).items():
            value = values.get(name, self._default(name))
            if about.choices:
                field = make_field(cls.__name__, name, about, value)
            else:
                known = dataclasses.replace(about, auto=False, help=HELP.get(name, about.help))
                field = NumberField(name, known, value, owner=cls.__name__, span=_span(name, about), compact=True)
            field.listener = lambda: self.listener()
            self._own[name] = field
        numbers = [field for field in self._own.values() if isinstance(field, NumberField)]
        choices = [field for field in self._own.values() if isinstance(field, ChoiceField)]
        step = self._own["step_size"]
        rest = [field for field in (*choices, *numbers) if field is not step]
        for field in rest:
            flex = "1 1 120px" if isinstance(field, ChoiceField) else NUMBER_FLEX
            field.widget.styles = {"flex": flex, "min-width": "0"}
        self._choices.objects = [self.sampler.widget]
        self._step.objects = [step.widget]
        self._rest.objects = [field.widget for field in rest]
        self._more.visible = bool(self._rest.objects)


def _span(name: str, about: Hyper) -> tuple[float, float] | None:
    """Only where the field's own range is wider: β is a memory below 1 in one sampler and a strength in another."""
    span = SPANS.get(name)
    return span if span is not None and span[1] < about.high else None
