"""Networks by their description. They are read-only, so sessions and restarts share them together with their data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from json import dumps, loads
from typing import Any

from llc_core import DeepLinearNetwork
from llc_core.potentials import build

MAX_PARAMETERS = 200_000
"""Larger networks run too slowly to be watched on a processor that visitors share."""


def check_size(parameters: int) -> None:
    if parameters > MAX_PARAMETERS:
        raise ValueError(
            f"This network has {parameters:,} parameters; this page takes up to {MAX_PARAMETERS:,}. "
            "For larger ones use llc_core.estimate."
        )


def get_problem(description: Mapping[str, Any]) -> DeepLinearNetwork:
    """The network that a JSON description stands for; ValueError says what is wrong with it."""
    if description.get("virtual"):
        raise ValueError(
            "virtual is true; a page keeps the rows of its network: leave it out, or use llc_core.estimate."
        )
    problem = _problem(dumps(dict(description), sort_keys=True))
    check_size(problem.dim)
    return problem


@lru_cache(maxsize=8)
def _problem(text: str) -> DeepLinearNetwork:
    problem = build(loads(text))
    assert isinstance(problem, DeepLinearNetwork)
    return problem
