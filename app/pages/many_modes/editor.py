"""What a visitor may set on the page "Many modes": the method of each side with its numbers, and the run that both share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.controls.fields import ChoiceField, Field, NumberField
from app.pages.many_modes.config import (
    MAX_BINS,
    MAX_CHAINS,
    MAX_GRADIENTS,
    MAX_LEVELS,
    MAX_PERIOD,
    MAX_TRIALS,
    ModesConfig,
    alone,
    contour,
    cyclical,
    ladder,
)
from llc_core.fields import Hyper
from llc_core.interactions.registry import build

ALONE = "none"
METHODS = {
    "Contour": "Contour sampling",
    "ReplicaExchange": "Replica exchange",
    "Cyclical": "Cyclical steps",
    ALONE: "Independent chains",
}
FIRST: Mapping[str, Callable[[], dict[str, Any]]] = {
    "Contour": contour, "ReplicaExchange": ladder, "Cyclical": cyclical, ALONE: alone,
}  # fmt: skip
"""What a method begins with when it is chosen."""


def _number(
    name: str, about: Hyper, value: Any, label: str, span: tuple[float, float] | None = None, whole: bool = False
) -> NumberField:
    return NumberField(name, about, value, label=label, span=span, integer=whole)


def _step_size() -> NumberField:
    about = Hyper(1e-8, 1.0, log=True, help="Size of one step; of the coldest level, and of a cycle its largest.")
    return _number("step_size", about, 6e-3, "Step size ε", (1e-4, 0.1))


def _chains() -> NumberField:
    about = Hyper(1, MAX_CHAINS, help="Chains of one trial. Each costs a gradient at every step.")
    return _number("chains", about, 5, "Chains", (1, MAX_CHAINS), whole=True)


def _fields(method: str) -> tuple[dict[str, Field], dict[str, Field]]:
    """New fields of a method: those that are seen at once, and those that are folded."""
    if method == "Contour":
        zeta = Hyper(0.0, 3.0, help="How flat the energy is made: 0 not at all, 1 so that all bins are visited alike.")
        clip = Hyper(0.0, 1000.0, help="The multiplier stays within ± this; 0: it is not bounded.")
        bins = Hyper(2, MAX_BINS, help="Bins of the energy, each with its own θ.")
        pilot = Hyper(
            0, MAX_GRADIENTS, help="First steps that do not flatten, from whose visits θ begins; 0: uniform θ."
        )
        rate = Hyper(0.0, 0.5, help="Largest step of θ; 0 leaves it as it begins.")
        sign = Hyper(choices=("backward", "forward"), help="Which neighbour the slope of log θ takes.")
        power = Hyper(choices=("new", "old"), help="Weight of an update of θ: θ(J), or θ(J) to the power ζ.")
        return (
            {
                "zeta": _number("zeta", zeta, 0.75, "Flatness ζ", (0.0, 1.5)),
                "chains": _chains(),
                "step_size": _step_size(),
            },
            {
                "pilot": _number("pilot", pilot, 4000, "Pilot steps", (0, 20_000), whole=True),
                "bins": _number("bins", bins, 100, "Bins of the energy", (10, 400), whole=True),
                "clip": _number("clip", clip, 0.0, "Clip the multiplier", (0.0, 50.0)),
                "rate": _number("rate", rate, 3e-3, "Step of θ, ω", (0.0, 0.02)),
                "difference": ChoiceField("difference", sign, "backward", label="Difference"),
                "field": ChoiceField("field", power, "new", label="Field"),
            },
        )
    if method == "ReplicaExchange":
        levels = Hyper(
            2, MAX_LEVELS, help="Levels of the ladder, geometric from 1 to the hottest. Each costs a gradient a step."
        )
        hottest = Hyper(1.01, 1e6, log=True, help="Temperature of the last level.")
        interval = Hyper(1, 100_000, log=True, help="Steps between swaps.")
        power = Hyper(0.0, 4.0, help="The step size of a level is ε·T to this power.")
        first = Hyper(
            0.0, 1e9, help="Variance of the energy's noise that swaps are corrected for at first; 0: no correction."
        )
        true = Hyper(0.0, 1e9, help="What the correction tends to.")
        return (
            {
                "levels": _number("levels", levels, 3, "Levels", (2, MAX_LEVELS), whole=True),
                "hottest": _number("hottest", hottest, 12.0, "Hottest temperature", (1.5, 100.0)),
                "step_size": _step_size(),
            },
            {
                "interval": _number("interval", interval, 1, "Steps between swaps", (1, 1000), whole=True),
                "step_power": _number("step_power", power, 2.0, "Step grows with T to the power", (0.0, 2.0)),
                "correction": _number("correction", first, 0.0, "Correction at first", (0.0, 40.0)),
                "energy_variance": _number("energy_variance", true, 0.0, "Correction in the end", (0.0, 1.0)),
            },
        )
    if method == "Cyclical":
        length = Hyper(2, MAX_PERIOD, log=True, help="Steps of a cycle, over which the step size falls to 0.")
        keep = Hyper(0.01, 1.0, help="States count where the step is below this share of the largest.")
        return (
            {
                "length": _number("length", length, 40_000, "Steps of a cycle", (100, MAX_PERIOD), whole=True),
                "step_size": _step_size(),
            },
            {"keep": _number("keep", keep, 0.9, "Counted below this share", (0.01, 1.0)), "chains": _chains()},
        )
    return {"chains": _chains(), "step_size": _step_size()}, {}


def _folded(fields: Mapping[str, Field], title: str) -> pmui.Accordion:
    return pmui.Accordion(
        (title, pn.Column(*fields.values(), sizing_mode="stretch_width", margin=(0, 6))),
        active=[],
        dynamic=True,  # not built until it is opened: the page loads sooner
        title_variant="subtitle2",
        variant="outlined",
        elevation=0,
        margin=(10, 0),
        sizing_mode="stretch_width",
    )


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
            seen, folded = _fields(method)
            self.fields = {**seen, **folded}
            for each in self.fields.values():
                each.listener = lambda: self.listener()
            below = [_folded(folded, self._title)] if folded else []
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
            "noise": _number("noise", noise, 0.25, "Noise of the energy", (0.0, 1.0)),
            "gradients": _number(
                "gradients", spent, 400_000, "Gradients of each trial", (20_000, 4_000_000), whole=True
            ),
            "trials": _number("trials", trials, 16, "Trials", (1, MAX_TRIALS), whole=True),
            "seed": _number("seed", seed, 0, "Seed", (0, 100), whole=True),
        }
        for each in self.fields.values():
            each.listener = lambda: self.listener()
        self._surface: dict[str, Any] = {}
        folded = {name: self.fields[name] for name in ("trials", "seed")}
        self._view = pn.Column(
            self.fields["noise"],
            self.fields["gradients"],
            _folded(folded, "Advanced"),
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
