"""The series of a sweep's figures made of one row after the other, as they were before there were tables: what tables must give."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from llc_core.sweeps.series import (
    GRADIENTS,
    PAPER,
    TRUTHS,
    Curve,
    counted_pairs,
    error_of,
    estimate_of,
    finite_or_nan,
    present,
)

Row = Mapping[str, Any]


def once(rows: Iterable[Row]) -> list[Row]:
    """Each problem with a sampler, gradient and step size once: of several runs (a store may hold several sweeps) the longest,
    of those the one with most chains, and of those the last."""
    kept: dict[tuple[Any, ...], tuple[tuple[Any, ...], Row]] = {}
    for row in rows:
        names = ("size_class", "ranks", "problem", "sampler", "gradient")
        key = (*(row.get(name) for name in names), f"{row['step_size']:.6g}")
        weight = (finite_or_nan(row.get("steps")), finite_or_nan(row.get("chains")), str(row.get("finished") or ""))
        if key not in kept or weight >= kept[key][0]:
            kept[key] = weight, row
    return [row for _, row in kept.values()]


def curves(rows: Iterable[Row], estimator: str = "same_batch", truth: str = "expected") -> list[Curve]:
    """One curve for each sampler and gradient, of every problem `once`. Rows with status "error" were not run and count nowhere."""
    groups: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    kept = once(row for row in rows if row["status"] != "error" and finite_or_nan(row["step_size"]) > 0)
    for row in kept:
        groups[row["sampler"], row["gradient"]][f"{row['step_size']:.6g}"].append(row)
    names, kinds = present(kept, "sampler", PAPER), present(kept, "gradient", GRADIENTS)
    return [
        _curve(name, kind, list(groups[name, kind].values()), estimator, truth)
        for name in names
        for kind in kinds
        if (name, kind) in groups
    ]


def _curve(sampler: str, gradient: str, steps: list[list[Row]], estimator: str, truth: str) -> Curve:
    steps = sorted(steps, key=lambda group: group[0]["step_size"])
    columns: dict[str, list[float]] = defaultdict(list)
    for group in steps:
        errors = np.array([error_of(row, estimator, truth) for row in group])
        errors = errors[np.isfinite(errors)]
        estimates = [estimate_of(row, estimator) for row in group]
        agreeing, pairs = ordered_pairs(group, estimates, truth)
        chains, dead = (sum(v for row in group if (v := finite_or_nan(row.get(n))) > 0) for n in ("chains", "dead"))
        columns["step_size"].append(group[0]["step_size"])
        columns["mean"].append(float(errors.mean()) if len(errors) else math.nan)
        columns["sd"].append(float(errors.std(ddof=1)) if len(errors) > 1 else math.nan)
        columns["count"].append(int(np.isfinite(estimates).sum()))
        columns["total"].append(len(group))
        columns["dead"].append(dead / chains if chains else math.nan)
        columns["order"].append(agreeing / pairs if pairs else math.nan)
        columns["pairs"].append(pairs)
        varied = [error_of(row, "variance", truth) for row in group]
        varied = np.array([error for error in varied if math.isfinite(error)])
        columns["from_variance"].append(float(varied.mean()) if len(varied) else math.nan)
        error = float(varied.std(ddof=1)) / math.sqrt(len(varied)) if len(varied) > 1 else math.nan
        columns["from_variance_se"].append(error)
        columns["seconds"].append(_median([finite_or_nan(row.get("seconds")) for row in group]))
    limit = _median([finite_or_nan(row.get("stable_step")) for group in steps for row in group])
    return Curve(sampler, gradient, limit=limit, **{name: np.array(values) for name, values in columns.items()})


def ordered_pairs(rows: Sequence[Row], estimates: Sequence[float], truth: str) -> tuple[int, int]:
    """(pairs in the right order, pairs): of problems of one size class that both have an estimate and whose true values
    differ. Equal estimates are not in order. Of k problems in O(k log² k)."""
    by_class: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row, estimate in zip(rows, estimates, strict=True):
        exact = finite_or_nan(row.get(TRUTHS[truth]))
        if math.isfinite(estimate) and math.isfinite(exact):
            by_class[row["size_class"]].append((exact, estimate))
    counts = [counted_pairs(*map(np.array, zip(*found, strict=True))) for found in by_class.values()]
    return sum(agreeing for agreeing, _ in counts), sum(pairs for _, pairs in counts)


def _median(values: Sequence[float]) -> float:
    there = [value for value in values if math.isfinite(value)]
    return float(np.median(there)) if there else math.nan
