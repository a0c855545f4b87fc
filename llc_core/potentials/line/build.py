"""A target on the line from its description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llc_core.fields import choice, known_keys
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.line.named import LANDSCAPES, NamedLandscape
from llc_core.potentials.prices import Price
from llc_core.theory.rank_checks import show

KEYS = ("expression", "name", "of", "points")
TABLES = 3 * 8 * 4 * 16_384
"""Bytes of a value and two slopes at every point of the finest scan of a landscape, the largest array that one takes."""


def landscape(target: Landscape | Mapping[str, Any] | str) -> Landscape:
    """A landscape from itself, a name in LANDSCAPES, or its JSON description.

    {"kind": "landscape", "name": "normal"}; or {"points": [[x, density], …]} in place of the name, see
    `llc_core.potentials.line.points.PointsLandscape`; or {"expression": "exp(-x^4/4)", "of": "density" | "energy"}, see
    `llc_core.potentials.line.formula.ExpressionLandscape`. Raises ValueError with a sentence for anything else.
    """
    if isinstance(target, Landscape):
        return target
    if isinstance(target, str):
        return NamedLandscape(target)
    if not isinstance(target, Mapping):
        raise ValueError(
            f"target must be a landscape, its description or one of {', '.join(LANDSCAPES)}, not a {type(target).__name__}."
        )
    values = dict(target)
    given = _given(values)
    if given == "name":
        return NamedLandscape(values["name"])
    # Imported here: they import scipy, which the named landscapes do not need.
    from llc_core.potentials.line.formula import ExpressionLandscape
    from llc_core.potentials.line.points import PointsLandscape

    if given == "points":
        return PointsLandscape(values["points"])
    return ExpressionLandscape(values["expression"], values.get("of") or "density")


def line_price(description: Mapping[str, Any]) -> Price:
    """What a landscape takes, from its description; its distribution is not tabulated. Raises ValueError as `landscape`.

    Bounded whatever is asked for: by the largest table, and by the arrays of a formula as deep as formulas may be.
    """
    given = _given(dict(description))
    if given == "name":
        NamedLandscape(description["name"])  # a few numbers, and it refuses unknown names
        return Price(1, TABLES, 2 * TABLES)
    if given == "points":
        from llc_core.potentials.line.points import check_points

        check_points(description["points"])
        return Price(1, 2 * TABLES, 6 * TABLES)
    from llc_core.potentials.line.expressions import MAX_DEPTH, parse

    choice("of", "density" if description.get("of") is None else description["of"], ("density", "energy"))
    parse(description["expression"])
    return Price(1, 2 * TABLES, (6 + MAX_DEPTH) * TABLES)


def _given(values: dict[str, Any]) -> str:
    """Which of the three ways to describe a landscape these values take; ValueError where it is none, or two."""
    kind = values.pop("kind", "landscape")
    if kind != "landscape":
        raise ValueError(f"The target is of kind {show(kind)}; it must be a landscape, which has one parameter.")
    known_keys("the landscape", values, KEYS)
    given = [key for key in ("name", "points", "expression") if values.get(key) is not None]
    if len(given) != 1:
        raise ValueError("A landscape needs one of name, points and expression.")
    if values.get("of") is not None and given != ["expression"]:
        raise ValueError(f"of belongs to an expression, not to a {given[0]}; leave it out.")
    return given[0]
