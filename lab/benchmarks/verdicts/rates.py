"""How many runs are right, and how many of the right ones are trusted, each with its interval.

A row has `llc`, `llc_se` and the `answer`, whether the run is `trusted`, and, for `too_short`, its `evidence`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from llc_core.diagnostics.convergence import ESS_LIMIT
from llc_core.studies.keeping import Row

RIGHT_SHARE, RIGHT_ERRORS = 0.05, 3
HEADS = f"{'trusted runs that are right':42}{'right runs that are trusted':42}… without those too short"
"""Above `rates`."""


def right(row: Row) -> bool:
    llc, error = or_nan(row["llc"]), or_nan(row["llc_se"])
    allowed = max(RIGHT_SHARE * abs(row["answer"]), RIGHT_ERRORS * error if math.isfinite(error) else 0.0)
    return abs(llc - row["answer"]) <= allowed


def too_short(row: Row) -> bool:
    """Whether the run holds too little to tell 5%, whatever its verdict says."""
    error, ess = or_nan(row["llc_se"]), or_nan(row["evidence"].get("ess"))
    return not (error <= RIGHT_SHARE * abs(row["answer"]) and ess >= ESS_LIMIT)


def interval(hits: int, total: int) -> str:
    """hits of total, and Wilson's 95% interval of the rate."""
    if not total:
        return "   0 of   0"
    p, z = hits / total, 1.96
    middle = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * (p * (1 - p) / total + z * z / (4 * total**2)) ** 0.5
    return f"{hits:4d} of {total:3d} = {p:6.1%} ({max(middle - half, 0):5.1%} to {min(middle + half, 1):6.1%})"


def trusted(row: Row) -> bool:
    return bool(row["trusted"])


def shares(
    rows: Iterable[Row], trusts: Callable[[Row], bool] = trusted, short: Callable[[Row], bool] = too_short
) -> tuple[str, str, str]:
    """Of the trusted ones how many are right, of the right ones how many are trusted, and of these without those too short.

    trusts: where something else than today's verdict is asked.
    """
    rows = list(rows)
    believed, hits = [row for row in rows if trusts(row)], [row for row in rows if right(row)]
    both, long = sum(map(right, believed)), [row for row in hits if not short(row)]
    return interval(both, len(believed)), interval(both, len(hits)), interval(sum(map(trusts, long)), len(long))


def rates(rows: Iterable[Row], trusts: Callable[[Row], bool] = trusted) -> str:
    """A line of the table with HEADS."""
    return "".join(f"{share:42}" for share in shares(rows, trusts)).rstrip()


def or_nan(value: Any) -> float:
    return math.nan if value is None else float(value)
