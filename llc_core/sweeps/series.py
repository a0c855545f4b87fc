"""From the rows of a sweep's store to the series of its figures: pure functions on lists of dictionaries. Long, since figures
and table must count errors and lost runs alike.

The quantities are those of Hitchcock & Hoogland (Figures 3 and 5–8): relative error of λ̂ by step size, share of runs without
an estimate, and how often two problems are ordered by their estimates as by their true values.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.sweeps.pairs import counted_pairs

Row = Mapping[str, Any]

ESTIMATORS = {"same_batch": "llc", "printed": "llc_printed"}
"""What is subtracted from the loss: the loss at w0 on the same batch, or, as printed, on ONE minibatch."""
ESTIMATOR_WORDS = {"same_batch": "same-batch baseline", "printed": "baseline as printed"}
TRUTHS = {"expected": "expected_llc", "local": "local_llc", "global": "global_llc"}
TRUTH_WORDS = {"expected": "expected λ̂ (local, at this n)", "local": "local λ", "global": "global λ"}
GRADIENTS = ("minibatch", "control_variate", "full")
PAPER = ("SGLD", "RMSPropSGLD", "AdamSGLD", "SGHMC", "SGNHT")
"""The samplers of Hitchcock & Hoogland come first everywhere."""
CLOSE = 0.05
THROWN = 100
"""No learning coefficient exceeds half the number of parameters. A λ̂ above this many times that bound counts as no estimate: one
such row, of up to 10¹¹ times the truth, would make every mean meaningless. Hitchcock & Hoogland leave out only nan."""
MOST_NAN = 0.1
"""A step size at which more problems than this have no estimate is not a good one, however accurate the others are."""


@dataclass(frozen=True)
class Curve:
    """One sampler with one gradient. Arrays [S] go over its step sizes, ascending.

    mean, sd: of the relative error over the problems with an estimate (sd with divisor count − 1; nan below two).
    count: problems with an estimate.  total: those that were run, errors aside.  dead: share of chains that died.
    order: share of the `pairs` of problems that estimate and truth order alike; nan without pairs.
    limit: median stability limit of the sampler's problems, nan where it is not known.
    """

    sampler: str
    gradient: str
    step_size: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    count: np.ndarray
    total: np.ndarray
    dead: np.ndarray
    order: np.ndarray
    pairs: np.ndarray
    seconds: np.ndarray
    limit: float = math.nan

    @property
    def key(self) -> str:
        return f"{self.sampler}|{self.gradient}"

    @property
    def nan(self) -> np.ndarray:
        """[S] share of problems without an estimate."""
        return 1 - self.count / np.maximum(self.total, 1)

    @property
    def usable(self) -> np.ndarray:
        """[S] whether there are estimates of nearly all problems."""
        return (self.count > 0) & (self.nan <= MOST_NAN)

    @property
    def best(self) -> int | None:
        """Index of the usable step size with the least root mean square relative error; None without any estimate.

        A missing estimate counts as wrong by 100%. Otherwise a step size would become better by losing the worst network.
        If no step size is usable, it is the best of those with the fewest missing estimates.
        """
        there = np.isfinite(self.mean)
        if not there.any():
            return None
        allowed = there & self.usable
        if not allowed.any():
            allowed = there & (self.nan == self.nan[there].min())
        missing = self.total - self.count
        size = ((self.mean**2 + np.nan_to_num(self.sd) ** 2) * self.count + missing) / np.maximum(self.total, 1)
        return int(np.argmin(np.where(allowed, size, np.inf)))

    @property
    def decades(self) -> float:
        """Over how many decades of step size |mean| stays within CLOSE; nan where it never is.

        Of the longest row of neighbouring step sizes; nothing is interpolated, so a single one gives 0.
        """
        good = self.usable & (np.abs(np.nan_to_num(self.mean, nan=np.inf)) <= CLOSE)
        longest = math.nan
        start = None
        for i, fine in enumerate([*good.tolist(), False]):
            if fine and start is None:
                start = i
            elif not fine and start is not None:
                width = math.log10(self.step_size[i - 1] / self.step_size[start])
                longest = width if math.isnan(longest) else max(longest, width)
                start = None
        return longest


@dataclass(frozen=True)
class Accuracy:
    """One row of the accuracy table: a sampler with a gradient at its best step size (nan everywhere without one)."""

    sampler: str
    gradient: str
    step_size: float
    mean: float
    sd: float
    nan: float
    order: float
    decades: float
    count: int
    total: int
    seconds: float


def finite_or_nan(value: Any) -> float:
    """A finite number, else nan."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if math.isfinite(value) else math.nan


def estimate_of(row: Row, estimator: str) -> float:
    """λ̂ of a row, nan where the run has none or is `lost`."""
    return finite_or_nan(row.get(ESTIMATORS[estimator])) if row.get("status") == "ok" and not lost(row) else math.nan


def lost(row: Row) -> bool:
    """Whether a run diverged: more than half of its chains died, or λ̂ says that they were thrown far out."""
    return row.get("status") == "diverged" or finite_or_nan(row.get("llc")) > THROWN * finite_or_nan(row.get("dim")) / 2


def error_of(row: Row, estimator: str, truth: str) -> float:
    """λ̂ / truth − 1; nan where either is missing or the truth is not positive."""
    exact = finite_or_nan(row.get(TRUTHS[truth]))
    return estimate_of(row, estimator) / exact - 1 if exact > 0 else math.nan


def present(rows: Iterable[Row], column: str, order: Sequence[str] = ()) -> list[str]:
    """The values of a column, those of `order` first, the others sorted."""
    found = {str(row[column]) for row in rows}
    return [name for name in order if name in found] + sorted(found - set(order))


def select(rows: Iterable[Row], **wanted: str | Sequence[str] | None) -> list[Row]:
    """Rows whose columns have these values; a list allows several, None all."""
    allowed = {k: {v} if isinstance(v, str) else set(v) for k, v in wanted.items() if v is not None}
    return [row for row in rows if all(row[name] in values for name, values in allowed.items())]


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


def accuracy(found: Iterable[Curve]) -> list[Accuracy]:
    """The accuracy table: every curve at its best step size."""
    result = []
    for c in found:
        i = c.best
        values = (
            [math.nan] * 6
            if i is None
            else [float(a[i]) for a in (c.step_size, c.mean, c.sd, c.nan, c.order, c.seconds)]
        )
        step, mean, sd, nan, order, seconds = values
        count, total = (0, int(c.total.max(initial=0))) if i is None else (int(c.count[i]), int(c.total[i]))
        result.append(
            Accuracy(
                c.sampler, c.gradient, step, mean, sd, 1.0 if i is None else nan, order, c.decades, count, total, seconds
            )
        )  # fmt: skip
    return result


def _median(values: Sequence[float]) -> float:
    there = [value for value in values if math.isfinite(value)]
    return float(np.median(there)) if there else math.nan
