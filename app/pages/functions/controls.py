"""The run's side of the side bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, Field, NumberField, field_of, make_field
from app.controls.run_fields import device_field
from app.pages.functions.config import ACROSS, LANGEVIN, POOLED, SAMPLERS, SHARES, FunctionsConfig
from app.style.layout import Viewed, folded
from llc_core.fields import Hyper, hyper_fields
from llc_core.samplers.registry import build, samplers

BANDS = {POOLED: "all chains, second half of the run", ACROSS: "all chains at one iteration (the paper)"}
BAND_HELP = (
    "What the blue band spans: the chains' iterations together, or the chains at the slider's iteration, as in "
    "the paper. The second one is a band over chains, not over time."
)


class RunPanel(Viewed):
    """Sampler and its fields, chains, iterations, band. `listener` is called after a change by the visitor."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        known, default = samplers(conditionals=True, priors=True), FunctionsConfig()
        self.sampler = ChoiceField(
            "sampler",
            Hyper(
                choices=SAMPLERS,
                help="The rule that moves the chains. All of these leave the posterior exactly as it is.",
            ),
            SAMPLERS[0],
            {name: known[name].label for name in SAMPLERS},
        )
        self.sampler.listener = self._on_sampler
        self.fields: dict[str, Field] = {
            "chains": field_of(FunctionsConfig, "chains"),
            "steps": field_of(FunctionsConfig, "steps", "Iterations"),
            "band": ChoiceField("band", Hyper(choices=tuple(BANDS), help=BAND_HELP), default.band, BANDS),
            "share": ChoiceField(
                "share", Hyper(choices=tuple(map(str, SHARES)), help="How much of the draws a band holds."), str(default.share),
                {str(share): f"{share:.0%}" for share in SHARES}, label="Band holds",
            ),
            "seed": field_of(FunctionsConfig, "seed", "Chain seed", (0, 100), high=999_999),
            **device_field(),
        }  # fmt: skip
        for field in self.fields.values():
            field.listener = lambda: self.listener()
        self._own: dict[str, Field] = {}
        self._name = SAMPLERS[0]
        self._own_place = pn.Column(sizing_mode="stretch_width", margin=0)
        self._rebuild({})
        self._view = pn.Column(
            self.sampler,
            self._own_place,
            *(self.fields[name] for name in ("chains", "steps", "band", "share")),
            folded(*(self.fields[name] for name in ("seed", "device") if name in self.fields)),
            sizing_mode="stretch_width",
            margin=0,
        )

    @property
    def values(self) -> dict[str, Any]:
        """Fields of `FunctionsConfig` except the problem."""
        own = {name: field.value for name, field in self._own.items()}
        found = {name: field.value for name, field in self.fields.items()}
        return {**found, "share": float(found["share"]), "sampler": {"name": self._name, **own}}

    def show(self, config: FunctionsConfig) -> None:
        """Set every field without reporting a change."""
        values = dict(config.sampler)
        self._name = values.pop("name")
        self.sampler.widget.visible = self._name in SAMPLERS
        if self._name in SAMPLERS:
            self.sampler.set(self._name)
        self._rebuild(values)
        for name, field in self.fields.items():
            value = getattr(config, name)
            field.set(str(value) if name == "share" else value)

    def show_live(self, step_size: float) -> None:
        """The step in use, where it is automatic."""
        field = self._own.get("step_size")
        if isinstance(field, NumberField):
            field.show_live(step_size)

    def _on_sampler(self) -> None:
        self._name = self.sampler.value or SAMPLERS[0]
        self._rebuild({})
        self.listener()

    def _rebuild(self, values: Mapping[str, Any]) -> None:
        name = self._name
        default = build(name)
        self._own = {}
        for key, about in hyper_fields(default).items():
            # A plain Langevin step has nobody to choose it.
            known = replace(about, auto=False) if name == LANGEVIN else about
            self._own[key] = make_field(name, key, known, values.get(key, getattr(default, key)))
        for field in self._own.values():
            field.listener = lambda: self.listener()
        self._own_place.objects = list(self._own.values())
