"""What a visitor may set on the page "Many modes": the method of each side with its numbers, and the run that both share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, Field, NumberField, field_of
from app.pages.many_modes.config import (
    MAX_TRIALS,
    ModesConfig,
    alone,
    contour,
    cyclical,
    ladder,
    particles,
)
from app.pages.many_modes.controls import method_fields
from app.style.layout import Viewed, folded
from llc_core.fields import Hyper
from llc_core.interactions.registry import build

ALONE = "none"
METHODS = {
    "Contour": "Contour sampling",
    "ReplicaExchange": "Replica exchange",
    "Cyclical": "Cyclical steps",
    "SteinVariational": "Stein's particles",
    ALONE: "Independent chains",
}
FIRST: Mapping[str, Callable[[], dict[str, Any]]] = {
    "Contour": contour, "ReplicaExchange": ladder, "Cyclical": cyclical, "SteinVariational": particles, ALONE: alone,
}  # fmt: skip
"""What a method begins with when it is chosen."""


class SideEditor(Viewed):
    """One side. `value` is its description, for `ModesConfig`; `listener` is called after a change by the visitor."""

    def __init__(self, side: str):
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        about = Hyper(choices=tuple(METHODS), help="How the chains of this side act on one another.")
        self.method = ChoiceField("method", about, "Contour", METHODS, label=f"{side.capitalize()} method")
        self.method.listener = self._on_method
        self._title = f"{side.capitalize()}: advanced"
        self._given: dict[str, Any] = {}
        self._shown = ""
        self.fields: dict[str, Field] = {}
        self._view = pn.Column(sizing_mode="stretch_width", margin=0)

    @property
    def value(self) -> dict[str, Any]:
        """What was shown last, with what the visitor has changed since."""
        values = {name: field.value for name, field in self.fields.items()}
        own = {"step_size": values.pop("step_size"), "chains": values.pop("chains", self._given["chains"])}
        if self.method.value == ALONE:
            return {"interaction": None, **own}
        interaction = {**self._given["interaction"], **values}
        if self._shown_ladder() != (values.get("levels"), values.get("hottest")):
            interaction["temperatures"] = []  # a ladder of its own gives way to a geometric one
        return {"interaction": interaction, **own}

    def _shown_ladder(self) -> tuple[Any, Any]:
        made = self._given["interaction"] or {}
        rungs = made.get("temperatures")
        return (len(rungs), rungs[-1]) if rungs else (None, None)

    def show(self, given: Mapping[str, Any]) -> None:
        """Set every field without reporting changes."""
        own = given["interaction"]
        made = None if own is None else build(own).to_dict()
        method = ALONE if made is None else made["name"]
        again, self._shown = method == self._shown, method
        self._given = {"interaction": made, "chains": given["chains"]}
        self.method.set(method)
        if not again:
            seen, hidden = method_fields(method)
            self.fields = {**seen, **hidden}
            for each in self.fields.values():
                each.listener = lambda: self.listener()
            below = [folded(*hidden.values(), title=self._title)] if hidden else []
            self._view.objects = [self.method, *seen.values(), *below]
        values = {**(made or {}), "step_size": given["step_size"], "chains": given["chains"]}
        if values.get("temperatures"):
            values |= {"levels": len(values["temperatures"]), "hottest": values["temperatures"][-1]}
        for name, each in self.fields.items():
            each.set(values[name])

    def _on_method(self) -> None:
        self.show(FIRST[self.method.value]())
        self.listener()


class RunEditor(Viewed):
    """What both sides share: the noise of the energy, gradients, trials, seed."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        noise = Hyper(
            0.0, 1e3, help="Standard deviation of the noise on every energy and every slope that a chain sees."
        )
        own = partial(field_of, ModesConfig)
        self.fields: dict[str, NumberField] = {
            "noise": NumberField("noise", noise, 0.25, label="Noise of the energy", span=(0.0, 1.0)),
            "gradients": own("gradients", "Gradients of each trial", (20_000, 4_000_000)),
            "trials": own("trials", "Trials", (1, MAX_TRIALS)),
            "seed": own("seed", "Seed", (0, 100), high=999_999),
        }
        for each in self.fields.values():
            each.listener = lambda: self.listener()
        self._surface: dict[str, Any] = {}
        self._view = pn.Column(
            self.fields["noise"],
            self.fields["gradients"],
            folded(self.fields["trials"], self.fields["seed"]),
            sizing_mode="stretch_width",
            margin=0,
        )

    @property
    def values(self) -> dict[str, Any]:
        """Fields of `ModesConfig`."""
        found = {name: field.value for name, field in self.fields.items()}
        return {"surface": {**self._surface, "noise": found.pop("noise")}, **found}

    def show(self, config: ModesConfig) -> None:
        self._surface = dict(config.surface)
        self.fields["noise"].set(config.surface["noise"])
        for name in ("gradients", "trials", "seed"):
            self.fields[name].set(getattr(config, name))
