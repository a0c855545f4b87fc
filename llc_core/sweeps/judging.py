"""What a row of a sweep is worth: its estimate, whether the run was lost, its error; of one row, or of a table's columns."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from llc_core.sweeps.table import Row, Table, alike, finite_or_nan

ESTIMATORS = {"same_batch": "llc", "printed": "llc_printed"}
"""What is subtracted from the loss: the loss at w0 on the same batch, or, as printed, on ONE minibatch."""
FROM_VARIANCE = "variance"
"""λ̂ from the variance, which nothing is subtracted from, stands beside both."""
COLUMN_OF = {**ESTIMATORS, FROM_VARIANCE: "llc_from_variance"}
ESTIMATOR_WORDS = {"same_batch": "same-batch baseline", "printed": "baseline as printed"}
TRUTHS = {"expected": "expected_llc", "local": "local_llc", "global": "global_llc"}
TRUTH_WORDS = {"expected": "expected λ̂ (local, at this n)", "local": "local λ", "global": "global λ"}
THROWN = 100
"""No learning coefficient exceeds half the number of parameters. A λ̂ above this many times that bound counts as no estimate: one
such row, of up to 10¹¹ times the truth, would make every mean meaningless. Hitchcock & Hoogland leave out only nan: `cut=False`."""


def estimate_of(row: Row, estimator: str, cut: bool = True) -> float:
    """λ̂ of a row, nan where the run has none or is `lost`."""
    there = row.get("status") == "ok" and not lost(row, cut)
    return finite_or_nan(row.get(COLUMN_OF[estimator])) if there else math.nan


def lost(row: Row, cut: bool = True) -> bool:
    """Whether a run diverged: more than half of its chains died, or λ̂ says that they were thrown far out.

    cut: whether a λ̂ above THROWN times its bound says so, here and below.
    """
    far = cut and finite_or_nan(row.get("llc")) > THROWN * finite_or_nan(row.get("dim")) / 2
    return row.get("status") == "diverged" or far


def error_of(row: Row, estimator: str, truth: str, cut: bool = True) -> float:
    """λ̂ / truth − 1; nan where either is missing or the truth is not positive."""
    exact = finite_or_nan(row.get(TRUTHS[truth]))
    return estimate_of(row, estimator, cut) / exact - 1 if exact > 0 else math.nan


def all_lost(table: Table, cut: bool = True) -> np.ndarray:
    """`lost` of every row, [k]."""
    diverged = table.names["status"].among(["diverged"])
    return diverged | (table.numbers["llc"] > THROWN * table.numbers["dim"] / 2) if cut else diverged


def all_estimates(table: Table, estimator: str, cut: bool = True) -> np.ndarray:
    """`estimate_of` every row, [k]."""
    there = table.names["status"].among(["ok"]) & ~all_lost(table, cut)
    return np.where(there, table.numbers[COLUMN_OF[estimator]], np.nan)


def all_errors(table: Table, estimator: str, truth: str, cut: bool = True) -> np.ndarray:
    """`error_of` every row, [k]."""
    exact = table.numbers[TRUTHS[truth]]
    return all_estimates(table, estimator, cut) / np.where(exact > 0, exact, np.nan) - 1


def present(rows: Iterable[Row], column: str, order: Sequence[str] = ()) -> list[str]:
    """The values of a column, those of `order` first, the others sorted."""
    if isinstance(rows, Table):
        names = rows.names[column]
        found = {name for name, count in zip(names.values, names.counts().tolist(), strict=True) if count}
    else:
        found = {str(row[column]) for row in rows}
    return [name for name in order if name in found] + sorted(found - set(order))


def select(rows: Iterable[Row], **wanted: str | Sequence[str] | None) -> Sequence[Row]:
    """Rows whose columns have these values; a list allows several, None all. Of a table it gives a table."""
    allowed = {k: {v} if isinstance(v, str) else set(v) for k, v in wanted.items() if v is not None}
    if isinstance(rows, Table):
        return selected(rows, allowed)
    return [row for row in rows if all(row[name] in values for name, values in allowed.items())]


def selected(table: Table, allowed: Mapping[str, Collection[str]]) -> Table:
    """Rows whose columns of names have one of these values."""
    chosen = np.ones(len(table), dtype=bool)
    for name, values in allowed.items():
        chosen &= table.names[name].among(values)
    return table if chosen.all() else table.take(chosen)


def once(table: Table, steps: np.ndarray) -> np.ndarray:
    """Places [k'] of each problem with a sampler, gradient and step size once: of several runs (a store may hold several sweeps)
    the longest, of those the one with most chains, and of those the last. In the order in which the problems are first there.

    steps: [k] integers that tell step sizes apart.
    """
    codes = [table.names[name].codes for name in ("size_class", "ranks", "sampler", "gradient")]
    kind = alike(*codes, table.numbers["problem"], steps)
    order = np.argsort(kind, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(kind[order]) != 0)) if len(order) else order
    if len(starts) == len(order):
        return np.arange(len(order))
    weights = (
        table.names["finished"].ordered(),
        *(np.nan_to_num(table.numbers[n], nan=-1) for n in ("chains", "steps")),
    )
    best = np.lexsort((*weights, kind))  # of equal weights the last stays the last
    ends = np.append(starts[1:], len(order)) - 1
    return best[ends][np.argsort(order[starts])]
