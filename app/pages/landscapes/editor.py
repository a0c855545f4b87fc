"""The side bar's first half on the page "Landscapes": which landscape, how much data, and where the chains begin."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.controls.fields import ChoiceField, NumberField
from app.controls.parsing import parse_numbers, parse_reals
from app.pages.landscapes.config import MAX_SAMPLES, REACH, described, get_landscape
from app.pages.landscapes.scene import nearest_truth
from app.style.formula import displayable
from app.style.layout import complaint
from llc_core.fields import Hyper
from llc_core.potentials.plane.models import POINTS as POINTS_AT

NAMES = {
    "normal_crossing": "Normal crossing",
    "line_and_point": "Line and point",
    "quadratic": "Quadratic (regular)",
}
POINTS = {"U": "U = (1, 0.3), on the line", "V": "V = (0, 0), the singular point", "other": "another point of the line"}
OTHER = [1.0, -0.8]
"""The other point until one is chosen."""


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
        self.w0 = _entry("Point w0: coordinates w₁, w₂", "0, 0")
        self.message = complaint(margin=0)
        self._own = pn.Column(sizing_mode="stretch_width", margin=0)
        self.start = [
            NumberField(
                f"start_w{i + 1}",
                Hyper(-REACH, REACH, help="Where all chains begin; a click on the landscape can set it too."),
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
        self.choice.listener = self._on_landscape
        self.at.listener = self._on_named_point
        for entry in (self.k, self.h, self.scales):
            entry.param.watch(self._on_function, "value")
        self.w0.param.watch(self._on_place, "value")
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
            named = values.get("at") if isinstance(values.get("at"), str) else "other"
            self.at.set(named)
            self.w0.value = _listed(get_landscape(values).model.w0)
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
        self._try(lambda: {**self.read(), "start": [x, y]})

    def move_to(self, x: float, y: float) -> None:
        """Make the true parameter nearest to a place that was clicked the new w0; chains begin there."""
        point = nearest_truth(get_landscape(self.problem), x, y)
        if point is not None:
            self._put(self.w0, _listed(point))
            self._try(lambda: self.read(with_start=False))

    def _try(self, wanted: Callable[[], dict[str, Any]]) -> None:
        try:
            values = described(wanted())
        except ValueError as error:
            self._complain(str(error))
            return
        self._take(values)

    def read(self, with_start: bool = True) -> dict[str, Any]:
        """The landscape that the entries describe; ValueError with one sentence."""
        name = self.choice.value
        own: dict[str, Any]
        if name == "normal_crossing":
            own = {
                "k": _two(parse_numbers(self.k.value, "Exponents", "1, 3"), "Exponents"),
                "h": _two(parse_numbers(self.h.value, "Prior exponents", "0, 0"), "Prior exponents"),
                **({"at": point} if any(point := self._point()) else {}),
            }
        elif name == "line_and_point":
            point = self._point()
            own = {"at": next((name for name, at in POINTS_AT.items() if list(at) == point), point)}
        else:
            own = {"scales": _two(parse_reals(self.scales.value, "Scales"), "Scales")}
        start = {"start": [field.value for field in self.start]} if with_start else {}
        return {"kind": "planar", "name": name, **own, "n": self.n.value, "seed": self.seed.value, **start}

    def _point(self) -> list[float]:
        return _two(parse_reals(self.w0.value, "Point w0"), "Point w0")

    def _arrange(self) -> None:
        name = self.choice.value
        self._own.objects = {
            "normal_crossing": [self.k, self.h, self.w0],
            "line_and_point": [self.at, self.w0],
            "quadratic": [self.scales],
        }[name]
        self.formula.object = displayable(get_landscape(self.problem).model.formula)

    def _on_landscape(self) -> None:
        """Another landscape: w0 and the start are where it says."""
        if self.choice.value != "quadratic":
            self._put(self.w0, "0, 0")
        self._on_place()

    def _on_function(self, event: Any) -> None:
        """Another function around the same w0. A prior may have come up at the start, which then moves off it."""
        if self._quiet:
            return
        try:
            described(self.read())
        except ValueError as error:
            self._on_change(with_start=not str(error).startswith("start["))
        else:
            self._on_change()

    def _on_named_point(self) -> None:
        point = POINTS_AT.get(self.at.value, OTHER)
        self._put(self.w0, _listed(point))
        self._on_place()

    def _put(self, entry: pmui.TextInput, text: str) -> None:
        quiet, self._quiet = self._quiet, True
        try:
            entry.value = text
        finally:
            self._quiet = quiet

    def _on_place(self, event: Any = None) -> None:
        """Another w0: chains begin where the landscape says."""
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
        for entry, words in (
            (self.k, ("Exponents", "Exponent ")),
            (self.h, ("Prior",)),
            (self.scales, ("Scale",)),
            (self.w0, ("Point",)),
        ):
            entry.error_state = message.startswith(words)
        self.message.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))


def for_people(message: str) -> str:
    """The engine's names in the words of this page: "k[1] is -6; …" → "Exponent k₂ is -6; …"."""
    words = {"k": "Exponent k", "h": "Prior exponent h", "scales": "Scale s", "start": "Start w"}
    message = re.sub(r"^(k|h|scales|start)\[([01])\]", lambda m: f"{words[m[1]]}{'₁₂'[int(m[2])]}", message)
    plain = {"k": "Exponents k", "h": "Prior exponents h", "scales": "Scales"}
    message = re.sub(r"^at\[([01])\]", lambda m: f"Point w0: w{'₁₂'[int(m[1])]}", message)
    message = re.sub(r"^at(?= is)", "Point w0", message)
    return re.sub(r"^(k|h|scales)\b(?= is| has)", lambda m: plain[m[1]], message)


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{v:.12g}" for v in values)


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
