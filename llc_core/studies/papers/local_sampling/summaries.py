"""A table of what the paper claims of its samplers: over which step sizes each works, how it errs and orders there, and how it fails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from unicodedata import combining

import numpy as np

from llc_core.studies.papers.claims import Measured
from llc_core.studies.papers.local_sampling.errors import Errors

COLUMNS = (
    "decades of ε that work", "best ε", "λ̂/λ there", "its sd", "pairs in order there", "largest ε", "no λ̂ there", "failures seen",
    "lost early",
)  # fmt: skip
"""Of the table of claims: a row for each sampler."""
SHARES = ("no λ̂ there", "failures seen", "lost early")


def summary(errors: Errors, within: float) -> dict[str, float | Measured]:
    """What the table has of a sampler, by COLUMNS. Errors are those of as many other networks, by the bootstrap."""
    count = len(errors.truths)
    every, best = np.arange(count), errors.place(np.arange(count))
    decades, ratio, order = (
        Measured.resampled(statistic, count)
        for statistic in (lambda some: errors.decades(some, within), lambda some: errors.at_best(some)[0], errors.order)
    )
    values = (
        decades, math.nan if best is None else float(errors.step_size[best]), ratio, errors.at_best(every)[1], order,
        float(errors.step_size[-1]), errors.lost_at_the_largest(every), errors.seen_to_fail(every), errors.early(every),
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def plain(found: Mapping[str, float | Measured]) -> dict[str, Any]:
    """A summary as JSON has it."""

    def one(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    return {
        name: {key: one(each) for key, each in value.numbers.items()} if isinstance(value, Measured) else one(value)
        for name, value in found.items()
    }


def lines(summaries: Mapping[str, Mapping[str, float | Measured]], within: float) -> list[str]:
    """Plain text: a row for each sampler, and what its columns mean."""
    rows: list[tuple[str, ...]] = [("sampler", *COLUMNS)]
    rows += [(name, *(_cell(column, value) for column, value in found.items())) for name, found in summaries.items()]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    told = ["  ".join(c + " " * (w - _width(c)) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [
        *told,
        f"An ε works where the mean of λ̂ is within ±{within:.0%} of λ and less than 10% of the networks are without λ̂.",
        "The best ε has the least root mean square error, of those with less than 10% without λ̂.",
        "A failed run, above the best ε, is seen where it has no λ̂ or one below 0 or above half the parameters.",
        "It is lost early where nβ·ΔL, in the mean of 100 steps, exceeds the number of parameters by 40 before half of its steps.",
    ]


def _width(text: str) -> int:
    """Places that a text takes: a hat over a letter takes none."""
    return sum(not combining(each) for each in text)


def _cell(column: str, value: float | Measured) -> str:
    if isinstance(value, Measured):
        return str(value)
    if not math.isfinite(value):
        return "–"
    return f"{value:.0%}" if column in SHARES else f"{value:.3g}"
