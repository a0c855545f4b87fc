"""Networks by their description. They are read-only, so sessions and restarts share them together with their data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from json import dumps, loads
from typing import Any

from app.controls.parsing import LONGEST_LIST
from app.runs.allowance import check_price
from llc_core import DeepLinearNetwork
from llc_core.potentials import build, price

MAX_PARAMETERS = 200_000
"""Larger networks run too slowly to be watched on a processor that visitors share."""
RUN = ("gradient", "batch_size", "dtype")
"""Settings of a run on which the memory for a network's data depends."""


def check_size(description: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> None:
    """ValueError, one sentence, for a network that this page does not take, said from its description: none of it is made.

    settings: of the run, where they are known; without them it is the least that any run takes.
    """
    widths = description.get("widths")
    if isinstance(widths, list | tuple) and len(widths) > LONGEST_LIST:
        raise ValueError(f"widths has {len(widths):,} entries; this page draws networks of up to {LONGEST_LIST}.")
    found = price(description, **{name: (settings or {}).get(name) for name in RUN})
    if found.parameters > MAX_PARAMETERS:
        raise ValueError(
            f"This network has {found.parameters:,} parameters; this page takes up to {MAX_PARAMETERS:,}. "
            "For larger ones use llc_core.estimate."
        )
    check_price(found, "use smaller widths, a smaller n, float32 or full gradients")


def get_problem(description: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> DeepLinearNetwork:
    """The network that a JSON description stands for; ValueError says what is wrong with it, or too much for here."""
    if description.get("virtual"):
        raise ValueError(
            "virtual is true; a page keeps the rows of its network: leave it out, or use llc_core.estimate."
        )
    check_size(description, settings)
    return _problem(dumps(dict(description), sort_keys=True))


@lru_cache(maxsize=8)
def _problem(text: str) -> DeepLinearNetwork:
    problem = build(loads(text))
    assert isinstance(problem, DeepLinearNetwork)
    return problem
