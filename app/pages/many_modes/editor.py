"""What a visitor may set on the page "Many modes": the method of each side with its numbers, and the run that both share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, Field, NumberField
from app.pages.many_modes.config import (
    MAX_GRADIENTS,
    MAX_TRIALS,
    ModesConfig,
    alone,
    contour,
    cyclical,
    ladder,
    particles,
)
from app.pages.many_modes.controls import method_fields, number_field
from app.style.layout import folded
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


class SideEditor(pn.viewable.Viewer):
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

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

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


class RunEditor(pn.viewable.Viewer):
    """What both sides share: the noise of the energy, gradients, trials, seed."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        noise = Hyper(
            0.0, 1e3, help="Standard deviation of the noise on every energy and every slope that a chain sees."
        )
        spent = Hyper(20_000, MAX_GRADIENTS, log=True, help="Of one trial on each side, all its chains together.")
        trials = Hyper(
            1,
            MAX_TRIALS,
            help="Independent repetitions of each side; the first one is watched, the curves are medians of all.",
        )
        seed = Hyper(0, 999_999, help="Seed of the chains' noise.")
        self.fields: dict[str, NumberField] = {
            "noise": number_field("noise", noise, 0.25, "Noise of the energy", (0.0, 1.0)),
            "gradients": number_field(
                "gradients", spent, 400_000, "Gradients of each trial", (20_000, 4_000_000), whole=True
            ),
            "trials": number_field("trials", trials, 16, "Trials", (1, MAX_TRIALS), whole=True),
            "seed": number_field("seed", seed, 0, "Seed", (0, 100), whole=True),
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

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

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
