"""The side bar's first half on the page "Landscapes": which landscape, how much data, and where the chains begin."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.formula import displayable
from app.landscape_config import MAX_SAMPLES, REACH, described, get_landscape
from app.layout import complaint
from app.parsing import parse_numbers, parse_reals
from app.widgets import ChoiceField, NumberField
from llc_core.fields import Hyper

NAMES = {
    "normal_crossing": "Normal crossing",
    "line_and_point": "Line and point",
    "quadratic": "Quadratic (regular)",
}
POINTS = {"U": "U = (1, 0.3), on the line", "V": "V = (0, 0), the singular point"}


class LandscapeEditor(pn.viewable.Viewer):
    """`problem` is the last valid description; bad input leaves it as it was and shows a sentence under the entries.

    `listener` is called when the user has made another valid landscape or start.
    """

    def __init__(self, problem: Mapping[str, Any]):
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.problem: dict[str, Any] = {}
        self._quiet = False
        self.choice = ChoiceField(
            "landscape",
            Hyper(choices=tuple(NAMES), help="The function ρ of the model y = ρ(w)·x + noise. The truth is ρ = 0."),
            "normal_crossing",
            NAMES,
        )
        self.formula = pn.pane.LaTeX("", renderer="katex", sizing_mode="stretch_width", margin=(2, 0, 4, 0))
        self.k = _entry("Exponents k₁, k₂", "1, 1")
        self.h = _entry("Prior exponents h₁, h₂", "0, 0")
        self.scales = _entry("Scales s₁, s₂", "1, 1")
        self.at = ChoiceField(
            "at", Hyper(choices=tuple(POINTS), help="The point w0 whose λ is estimated."), "V", POINTS, label="Point w0"
        )
        self.message = complaint(margin=0)
        self._own = pn.Column(sizing_mode="stretch_width", margin=0)
        self.start = [
            NumberField(
                f"start_w{i + 1}",
                Hyper(-REACH, REACH, help="Where all chains begin; a click on the landscape sets it too."),
                0.1,
                label=f"Start w{'₁₂'[i]}",
                span=(-3.0, 3.0),
            )
            for i in range(2)
        ]
        self.n = NumberField(
            "n",
            Hyper(3, MAX_SAMPLES, log=True, help="Samples in the data set. λ is what remains as n grows."),
            1000,
            label="Samples n",
            integer=True,
            span=(10, MAX_SAMPLES),
        )
        self.seed = NumberField(
            "seed",
            Hyper(0, 999_999, help="Seed of the data set."),
            0,
            label="Data seed",
            integer=True,
            span=(0, 100),
        )
        self._view = pn.Column(
            self.choice,
            self.formula,
            self._own,
            self.message,
            *self.start,
            self.n,
            self.seed,
            sizing_mode="stretch_width",
            margin=0,
        )
        self.choice.listener = self.at.listener = self._on_place
        for entry in (self.k, self.h, self.scales):
            entry.param.watch(self._on_change, "value")
        for field in (*self.start, self.n, self.seed):
            field.listener = self._on_change
        self.show(problem)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

    def show(self, problem: Mapping[str, Any]) -> None:
        """Set the entries to a landscape, without reporting a change."""
        values = described(problem)
        self._quiet = True
        try:
            self.choice.set(values["name"])
            self.n.set(values["n"])
            self.seed.set(values["seed"])
            for field, value in zip(self.start, values["start"], strict=True):
                field.set(value)
            if "at" in values:
                self.at.set(values["at"])
            for key, entry in (("k", self.k), ("h", self.h), ("scales", self.scales)):
                if key in values:
                    entry.value = ", ".join(f"{v:g}" for v in values[key])
        finally:
            self._quiet = False
        self.problem = values
        self._arrange()
        self._complain("")

    def begin_at(self, x: float, y: float) -> None:
        """Let the chains begin at a place that was clicked, or say why they cannot."""
        try:
            values = described({**self.read(), "start": [x, y]})
        except ValueError as error:
            self._complain(str(error))
            return
        for field, value in zip(self.start, (x, y), strict=True):
            field.set(value)
        self._take(values)

    def read(self, with_start: bool = True) -> dict[str, Any]:
        """The landscape that the entries describe; ValueError with one sentence."""
        name = self.choice.value
        own: dict[str, Any]
        if name == "normal_crossing":
            own = {
                "k": _two(parse_numbers(self.k.value, "Exponents", "1, 3"), "Exponents"),
                "h": _two(parse_numbers(self.h.value, "Prior exponents", "0, 0"), "Prior exponents"),
            }
        elif name == "line_and_point":
            own = {"at": self.at.value}
        else:
            own = {"scales": _two(parse_reals(self.scales.value, "Scales"), "Scales")}
        start = {"start": [field.value for field in self.start]} if with_start else {}
        return {"kind": "planar", "name": name, **own, "n": self.n.value, "seed": self.seed.value, **start}

    def _arrange(self) -> None:
        name = self.choice.value
        self._own.objects = {
            "normal_crossing": [self.k, self.h],
            "line_and_point": [self.at],
            "quadratic": [self.scales],
        }[name]
        self.formula.object = displayable(get_landscape(self.problem).model.formula)

    def _on_place(self) -> None:
        """Another landscape or point: chains begin where it says."""
        self._on_change(with_start=False)

    def _on_change(self, event: Any = None, with_start: bool = True) -> None:
        if self._quiet:
            return
        try:
            values = described(self.read(with_start))
        except ValueError as error:
            self._complain(str(error))
            return
        self._take(values)

    def _take(self, values: dict[str, Any]) -> None:
        self._complain("")
        if values != self.problem:
            self.show(values)
            self.listener()

    def _complain(self, message: str) -> None:
        message = for_people(message)
        for entry, words in ((self.k, ("Exponents", "Exponent ")), (self.h, ("Prior",)), (self.scales, ("Scale",))):
            entry.error_state = message.startswith(words)
        self.message.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))


def for_people(message: str) -> str:
    """The engine's names in the words of this page: "k[1] is -6; …" → "Exponent k₂ is -6; …"."""
    words = {"k": "Exponent k", "h": "Prior exponent h", "scales": "Scale s", "start": "Start w"}
    message = re.sub(r"^(k|h|scales|start)\[([01])\]", lambda m: f"{words[m[1]]}{'₁₂'[int(m[2])]}", message)
    plain = {"k": "Exponents k", "h": "Prior exponents h", "scales": "Scales"}
    return re.sub(r"^(k|h|scales)\b(?= is| has)", lambda m: plain[m[1]], message)


def _two(values: list[Any], what: str) -> list[Any]:
    if len(values) != 2:
        raise ValueError(f"{what}: write two numbers, one for each of w₁ and w₂.")
    return values


def _entry(label: str, placeholder: str) -> pmui.TextInput:
    return pmui.TextInput(
        label=label,
        value=placeholder,
        placeholder=placeholder,
        size="small",
        sizing_mode="stretch_width",
        margin=(8, 0),
    )
