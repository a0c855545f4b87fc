"""A target on the line from its description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.line.named import LANDSCAPES, NamedLandscape

KEYS = ("expression", "name", "of", "points")


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
    kind = values.pop("kind", "landscape")
    if kind != "landscape":
        raise ValueError(f"The target is of kind {kind!r}; it must be a landscape, which has one parameter.")
    unknown = sorted(str(k) for k in values if k not in KEYS)
    if unknown:
        raise ValueError(f"Unknown key {unknown[0]!r} in the landscape; known keys: {', '.join(KEYS)}.")
    given = [key for key in ("name", "points", "expression") if values.get(key) is not None]
    if len(given) != 1:
        raise ValueError("A landscape needs one of name, points and expression.")
    if values.get("of") is not None and given != ["expression"]:
        raise ValueError(f"of belongs to an expression, not to a {given[0]}; leave it out.")
    if given == ["name"]:
        return NamedLandscape(values["name"])
    # Imported here: they import scipy, which the named landscapes do not need.
    from llc_core.potentials.line.formula import ExpressionLandscape
    from llc_core.potentials.line.points import PointsLandscape

    if given == ["points"]:
        return PointsLandscape(values["points"])
    return ExpressionLandscape(values["expression"], values.get("of") or "density")
