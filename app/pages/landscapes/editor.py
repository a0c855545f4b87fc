"""Which landscape on the page "Landscapes", in the bar; in the side bar how much data, and where the chains begin. Long, since it
answers to every entry of five kinds of landscape."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.controls.parsing import parse_numbers, parse_reals
from app.pages.landscapes.config import described, get_landscape
from app.pages.landscapes.controls import (
    OTHER,
    entry,
    for_people,
    landscape_field,
    listed,
    point_field,
    sample_field,
    seed_field,
    start_fields,
    strokes_of,
    strokes_text,
    two,
)
from app.pages.landscapes.scene import nearest_truth
from app.style.formula import displayable
from app.style.layout import Viewed, cell, complain, complaint, prose
from llc_core.fields import FieldError
from llc_core.potentials.plane.curve import NEAR
from llc_core.potentials.plane.formulas import EXAMPLE, plane_formula
from llc_core.potentials.plane.models import EXAMPLE_STROKES
from llc_core.potentials.plane.models import POINTS as POINTS_AT
from llc_core.potentials.plane.pointer import stroke_of
from llc_core.potentials.plane.strokes import FARTHEST, read_strokes

DRAWN_HINT = (
    "Choose “draws” beside the plane, or write points: w₁, w₂; w₁, w₂; … A | begins another stroke, up to four."
)
HINT = "+ − * / ^, exp log sqrt sin cos tanh abs cosh, pi and e. Its zeros are the valley; w0 must be one of them."


class LandscapeEditor(Viewed):
    """`problem` is the last valid description; bad input leaves it as it was and shows a sentence under the entries.

    `choices` are for the bar. `listener` is called when the user has made another valid landscape or start.
    """

    def __init__(self, problem: Mapping[str, Any]):
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.problem: dict[str, Any] = {}
        self._quiet = False
        self.choice = landscape_field()
        self.formula = pn.pane.LaTeX("", renderer="katex", sizing_mode="stretch_width", margin=(2, 0, 4, 0))
        self.k, self.h = entry("Exponents k₁, k₂", "1, 1"), entry("Prior exponents h₁, h₂", "0, 0")
        self.scales = entry("Scales s₁, s₂", "1, 1")
        self.rho, self._hint = entry("Formula ρ(w1, w2); the loss is 2ρ²", EXAMPLE), prose(margin=(2, 0))
        self._hint.object = f"<p class='small'>{HINT}</p>"
        self.strokes, self._drawn_hint = entry("Strokes", strokes_text(EXAMPLE_STROKES)), prose(margin=(2, 0))
        self._drawn_hint.object = f"<p class='small'>{DRAWN_HINT}</p>"
        self.at = point_field()
        self.w0 = entry("Point w0: w₁, w₂", "0, 0")
        self.message = complaint(margin=0)
        self._own, self._further = cell(), cell()
        self.start, self.n, self.seed = start_fields(), sample_field(), seed_field()
        self.choices = cell(self.choice, self.formula), cell(self._own, self.message)
        self._view = cell(self._further, *self.start, self.n, self.seed)
        self.choice.listener = self._on_landscape
        self.at.listener = self._on_named_point
        for text in (self.k, self.h, self.scales):
            text.param.watch(self._on_function, "value")
        self.rho.param.watch(self._on_formula, "value")
        self.strokes.param.watch(self._on_strokes, "value")
        self.w0.param.watch(self._on_place, "value")
        for field in (*self.start, self.n, self.seed):
            field.listener = self._on_change
        self.show(problem)

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
            self.w0.value = listed(get_landscape(values).model.w0)
            self.rho.value = values.get("rho", self.rho.value)
            if "strokes" in values:
                self.strokes.value = strokes_text(values["strokes"])
            for key, text in (("k", self.k), ("h", self.h), ("scales", self.scales)):
                if key in values:
                    text.value = ", ".join(f"{v:g}" for v in values[key])
        finally:
            self._quiet = False
        self.problem = values
        self._arrange()
        self._complain(None)

    def begin_at(self, x: float, y: float) -> None:
        """Let the chains begin at a place that was clicked, or say why they cannot."""
        self._try(lambda: {**self.read(), "start": [x, y]})

    def move_to(self, x: float, y: float) -> None:
        """Make the true parameter nearest to a place that was clicked the new w0; chains begin there."""
        point = nearest_truth(get_landscape(self.problem), x, y)
        if point is not None:
            self._put(self.w0, listed(point))
            self._try(lambda: self.read(with_start=False))

    def draw(self, x: Any, y: Any, anew: bool) -> None:
        """Another stroke along the way of a pointer, x and y [N]. anew: the strokes before it are forgotten."""
        drawn = [] if anew else self.problem.get("strokes", [])
        try:
            stroke = stroke_of(x, y)
        except ValueError as error:
            self._complain(error)
            return
        self._try(lambda: self._along([*drawn, stroke]))

    def _try(self, wanted: Callable[[], dict[str, Any]]) -> None:
        try:
            values = described(wanted())
        except ValueError as error:
            self._complain(error)
            return
        self._take(values)

    def read(self, with_start: bool = True) -> dict[str, Any]:
        """The landscape that the entries describe; ValueError with one sentence."""
        name = self.choice.value
        own: dict[str, Any]
        if name == "normal_crossing":
            own = {
                "k": two(parse_numbers(self.k.value, "Exponents", "1, 3"), "Exponents"),
                "h": two(parse_numbers(self.h.value, "Prior exponents", "0, 0"), "Prior exponents"),
                **({"at": point} if any(point := self._point()) else {}),
            }
        elif name == "line_and_point":
            point = self._point()
            own = {"at": next((name for name, at in POINTS_AT.items() if list(at) == point), point)}
        elif name == "drawn":
            own = {"strokes": strokes_of(self.strokes.value), "at": self._point()}
        elif name == "formula":
            own = {"rho": self.rho.value.strip(), "at": self._point()}
        else:
            own = {"scales": two(parse_reals(self.scales.value, "Scales"), "Scales")}
        start = {"start": [field.value for field in self.start]} if with_start else {}
        return {"kind": "planar", "name": name, **own, "n": self.n.value, "seed": self.seed.value, **start}

    def _point(self) -> list[float]:
        return two(parse_reals(self.w0.value, "Point w0"), "Point w0")

    def _arrange(self) -> None:
        name = self.choice.value
        self._own.objects, self._further.objects = {
            "normal_crossing": ([self.k], [self.h, self.w0]),
            "line_and_point": ([self.at], [self.w0]),
            "quadratic": ([self.scales], []),
            "formula": ([self.rho], [self._hint, self.w0]),
            "drawn": ([self.strokes], [self._drawn_hint, self.w0]),
        }[name]
        self.formula.object = displayable(get_landscape(self.problem).model.formula)

    def _on_landscape(self) -> None:
        """Another landscape has been chosen: it says where w0 and the start are."""
        if self.choice.value == "formula":
            self._on_formula()
            return
        if self.choice.value == "drawn":
            self._on_strokes()
            return
        if self.choice.value != "quadratic":
            self._put(self.w0, "0, 0")
        self._on_place()

    def _on_formula(self, event: Any = None) -> None:
        """Another formula: w0 goes to a zero of it, the one that is nearest to where it was if there is one."""
        if self._quiet:
            return
        try:
            found = plane_formula(self.rho.value.strip())
            here = self._point()
            zero = found.zero_near(here[0], here[1], FARTHEST) or found.zero_near(1.0, 0.5, FARTHEST)
        except ValueError as error:
            self._complain(error)
            return
        if zero is None:
            no_zero = "has no zero that was found near w0; the parameters where it is 0 are the perfect ones."
            self._complain(FieldError("rho", no_zero))
            return
        self._put(self.w0, listed(zero))
        self._on_place()

    def _on_strokes(self, event: Any = None) -> None:
        """Other strokes: w0 stays where it is a point of them, and else is one that they choose."""
        if not self._quiet:
            self._try(lambda: self._along(strokes_of(self.strokes.value)))

    def _along(self, strokes: list[Any]) -> dict[str, Any]:
        """The landscape of a drawing. w0 is where strokes cross, at the nearest such place, and else stays if it is on a stroke."""
        found, here = read_strokes(strokes), get_landscape(self.problem).model.w0
        point = min(found.crossings, key=lambda each: math.dist(each, here), default=None)
        if point is None:
            point = here if math.dist(found.nearest(*here), here) < NEAR else found.middle
        own = {"name": "drawn", "strokes": strokes, "at": list(point)}
        return {"kind": "planar", **own, "n": self.n.value, "seed": self.seed.value}

    def _on_function(self, event: Any) -> None:
        """Another function around the same w0. Where its prior is 0 at the start, the chains begin where the landscape says."""
        if self._quiet:
            return
        try:
            described(self.read())
        except ValueError as error:
            self._on_change(with_start=getattr(error, "field", "") != "start")
        else:
            self._on_change()

    def _on_named_point(self) -> None:
        point = POINTS_AT.get(self.at.value, OTHER)
        self._put(self.w0, listed(point))
        self._on_place()

    def _put(self, place: pmui.TextInput, text: str) -> None:
        """Set an entry without reporting a change."""
        quiet, self._quiet = self._quiet, True
        try:
            place.value = text
        finally:
            self._quiet = quiet

    def _on_place(self, event: Any = None) -> None:
        """w0 has changed: the landscape says where the chains begin."""
        self._on_change(with_start=False)

    def _on_change(self, event: Any = None, with_start: bool = True) -> None:
        if self._quiet:
            return
        try:
            values = described(self.read(with_start))
        except ValueError as error:
            self._complain(error)
            return
        self._take(values)

    def _take(self, values: dict[str, Any]) -> None:
        self._complain(None)
        if values != self.problem:
            self.show(values)
            self.listener()

    def _complain(self, error: ValueError | None) -> None:
        field = error.field if isinstance(error, FieldError) else ""
        for place, names in (
            (self.k, ("k", "Exponents")),
            (self.h, ("h", "Prior exponents")),
            (self.scales, ("scales", "Scales")),
            (self.w0, ("at", "Point w0")),
            (self.rho, ("rho",)),
            (self.strokes, ("strokes", "Strokes")),
        ):
            place.error_state = field in names
        complain(self.message, "" if error is None else for_people(error))
