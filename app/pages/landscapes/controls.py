"""The entries of the landscape editor: what each takes, and the engine's sentences in the words of this page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import panel_material_ui as pmui

from app.controls.fields import ChoiceField, NumberField
from app.controls.parsing import parse_reals
from app.pages.landscapes.config import MAX_SAMPLES, REACH
from llc_core.fields import FieldError, Hyper

NAMES = {
    "normal_crossing": "Normal crossing",
    "line_and_point": "Line and point",
    "quadratic": "Quadratic (regular)",
    "formula": "Your own formula",
    "drawn": "Your own drawing",
}
POINTS = {"U": "U = (1, 0.3), on the line", "V": "V = (0, 0), the singular point", "other": "another point of the line"}
OTHER = [1.0, -0.8]
"""The other point until one is chosen."""


def landscape_field() -> ChoiceField:
    help = "The function ρ of the model y = ρ(w)·x + noise. The truth is ρ = 0."
    return ChoiceField("landscape", Hyper(choices=tuple(NAMES), help=help), "normal_crossing", NAMES)


def point_field() -> ChoiceField:
    """Named points of the landscape "line and point"."""
    about = Hyper(choices=tuple(POINTS), help="The point w0 whose λ is estimated.")
    return ChoiceField("at", about, "V", POINTS, label="Point w0")


def start_fields() -> list[NumberField]:
    """One field for each of w₁ and w₂."""
    about = Hyper(-REACH, REACH, help="Where all chains begin; a click on the landscape can set it too.")
    return [NumberField(f"start_w{i + 1}", about, 0.1, label=f"Start w{'₁₂'[i]}", span=(-3.0, 3.0)) for i in range(2)]


def sample_field() -> NumberField:
    about = Hyper(3, MAX_SAMPLES, log=True, help="Samples in the data set. λ is what remains as n grows.")
    return NumberField("n", about, 1000, label="Samples n", integer=True, span=(10, MAX_SAMPLES))


def seed_field() -> NumberField:
    about = Hyper(0, 999_999, help="Seed of the data set.")
    return NumberField("seed", about, 0, label="Data seed", integer=True, span=(0, 100))


def entry(label: str, placeholder: str) -> pmui.TextInput:
    return pmui.TextInput(
        label=label,
        value=placeholder,
        placeholder=placeholder,
        size="small",
        sizing_mode="stretch_width",
        margin=(8, 0),
    )


def listed(values: Sequence[float]) -> str:
    """Coordinates as an entry shows them."""
    return ", ".join(f"{v:.12g}" for v in values)


def two(values: list[Any], what: str) -> list[Any]:
    """Raises ValueError where the entry `what` has not exactly two numbers."""
    if len(values) != 2:
        raise FieldError(what, ": write two numbers, one for each of w₁ and w₂.")
    return values


def strokes_text(strokes: Sequence[Sequence[Sequence[float]]]) -> str:
    """Strokes as an entry shows them: x, y; x, y | x, y; …"""
    return " | ".join("; ".join(f"{x:.12g}, {y:.12g}" for x, y in stroke) for stroke in strokes)


def strokes_of(text: str) -> list[list[list[float]]]:
    """What an entry of strokes says; ValueError with one sentence where a point is none."""
    parts = [[point for point in stroke.split(";") if point.strip()] for stroke in text.split("|")]
    what = "Strokes"
    return [
        [two(parse_reals(point, what), f"{what}, “{point.strip()[:20]}”") for point in stroke]
        for stroke in parts
        if stroke
    ]


COORDINATES = "₁₂"
ONE = {"k": "Exponent k", "h": "Prior exponent h", "scales": "Scale s", "start": "Start w", "at": "Point w0: w"}
ALL = {
    "k": "Exponents k", "h": "Prior exponents h", "scales": "Scales", "at": "Point w0", "rho": "The formula", "strokes": "Strokes",
}  # fmt: skip
"""The engine's fields in the words of this page, of one coordinate and of both."""


def for_people(error: ValueError) -> str:
    """The engine's sentence in the words of this page: "k[1] is -6; …" → "Exponent k₂ is -6; …"."""
    if not isinstance(error, FieldError):
        return str(error)
    if error.field in ONE and error.places:
        return error.about(f"{ONE[error.field]}{COORDINATES[error.places[0]]}")
    if error.field == "strokes" and error.places:
        stroke, *point = (place + 1 for place in error.places)
        return error.about(f"Stroke {stroke}{', point {},'.format(*point) if point else ''}")
    return error.about(ALL.get(error.field, error.label))
