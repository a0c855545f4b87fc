"""What can be set on the page "Landscapes": which landscape, as a JSON description, a run on it, and what is drawn with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from json import dumps, loads
from typing import Any

from app.runs.allowance import check_price
from llc_core import Planar
from llc_core.fields import FieldError, Settings, hyper
from llc_core.potentials import build, price
from llc_core.theory.rank_checks import show

MAX_SAMPLES = 100_000
REACH = 10.0
"""How far from 0 chains may begin."""
NEAREST = 0.01
"""Smallest distance of w0 from a crossing. Below it, a box around w0 that excludes the crossing is too small for a fit."""
MAX_POWER = 6
"""Largest exponent. Higher ones make ridges so sharp that the exact values take a minute."""
FIXED = {"noise_std": 0.5, "data_sets": 1}
"""Keys of a landscape that the page has no control for."""

LOOK = "look"
"""Key of `Look` in a link, beside the fields of RunConfig."""


@dataclass(frozen=True)
class Look(Settings):
    """What is drawn with the chains; a run knows nothing of it.

    behind: the loss, the posterior of this data set, or exp(−nβ·K) with neither data nor pull.  nuts: whether draws of NUTS from the
    same posterior are there too.
    """

    what = "look"

    behind: str = hyper("loss", choices=("loss", "posterior", "weight"))
    nuts: bool = hyper(False)


def get_landscape(description: Mapping[str, Any]) -> Planar:
    """The landscape that a JSON description stands for; ValueError says what is wrong with it, or too much for here.

    Landscapes are read-only, so sessions and restarts share them together with their data and their quadratures.
    """
    if description.get("kind") != "planar":
        raise ValueError(
            f"problem is of kind {show(description.get('kind'))}; this page runs planar landscapes, kind 'planar'."
        )
    found = price(description)
    if found.parameters != 2:
        raise ValueError(f"This landscape has {found.parameters} parameter; this page draws those of two.")
    samples = description.get("n", 0)
    if samples > MAX_SAMPLES:
        raise ValueError(f"n is {samples:,}; this page takes at most {MAX_SAMPLES:,} samples.")
    check_price(found, "use a smaller n")
    problem = _landscape(dumps(dict(description), sort_keys=True))
    for name in ("k", "h"):
        for i, power in enumerate(problem.model.parameters.get(name, ())):
            if power > MAX_POWER:
                raise FieldError(f"{name}[{i}]", f"is {power}; it must be at most {MAX_POWER} on this page.")
    for key, value in FIXED.items():
        if description.get(key, value) != value:
            raise ValueError(f"{key} is {show(description[key])}; this page has no control for it, and uses {value}.")
    for i, (center, off) in enumerate(zip(problem.model.w0, problem.start, strict=True)):
        if abs(center + off) > REACH:
            raise FieldError(f"start[{i}]", f"is {center + off:g}; on this page chains begin between −10 and 10.")
    for i, value in enumerate(problem.model.w0 if problem.model.on_axes else ()):
        if 0 < abs(value) < NEAREST:
            raise FieldError(
                f"at[{i}]", f"is {value:g}; on this page w0 is at a crossing or at least {NEAREST:g} from it."
            )
    return problem


@lru_cache(maxsize=16)
def _landscape(text: str) -> Planar:
    found = build(loads(text))
    assert isinstance(found, Planar)
    return found


def described(description: Mapping[str, Any]) -> dict[str, Any]:
    """The description with every key that the page has a control for; its numbers as they were given."""
    complete = get_landscape(description).to_dict()
    given = {key: value for key, value in description.items() if value is not None}
    given.pop("at", None)  # as the landscape says it: by name where the point has one
    return {key: value for key, value in {**complete, **given}.items() if key not in FIXED}
