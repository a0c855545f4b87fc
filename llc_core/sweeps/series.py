"""From the rows of a sweep's store to the series of its figures: pure functions of a `Table`, or of rows that become one.
Long, since curves, their table and their order, in which pairs are counted by sorting, are read together.

The quantities are those of Hitchcock & Hoogland (Figures 3 and 5–8): relative error of λ̂ by step size, share of runs without
an estimate, and how often two problems are ordered by their estimates as by their true values.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from llc_core.sweeps.judging import (
    ESTIMATOR_WORDS,
    ESTIMATORS,
    FROM_VARIANCE,
    THROWN,
    TRUTH_WORDS,
    TRUTHS,
    all_errors,
    all_estimates,
    error_of,
    estimate_of,
    lost,
    once,
    present,
    select,
)
from llc_core.sweeps.table import Names, Row, Table, finite_or_nan


def counted_pairs(truths: np.ndarray, guesses: np.ndarray) -> tuple[int, int]:
    """(pairs that both order alike, pairs whose truths differ) of two arrays [k] of finite numbers.

    Knight, J. Am. Stat. Assoc. 61 (1966): in the order of the truths, the others with different truths are ties of the guesses
    and inversions.
    """
    right, ranks = (np.unique(values, return_inverse=True)[1] for values in (truths, guesses))
    order = np.argsort(right * len(right) + ranks)
    right, ranks = right[order], ranks[order]
    new_truth = right[1:] != right[:-1]
    pairs = _of_all(len(right)) - _tied(new_truth)
    tied = _tied(np.diff(np.sort(ranks)) != 0) - _tied(new_truth | (ranks[1:] != ranks[:-1]))
    return pairs - tied - _inversions(ranks), pairs


def _of_all(count: int) -> int:
    return count * (count - 1) // 2


def _tied(changes: np.ndarray) -> int:
    """Pairs of equal values in a sorted array, from [k − 1] whether neighbours differ."""
    ends = np.flatnonzero(np.concatenate(([True], changes, [True])))
    lengths = np.diff(ends)
    return int((lengths * (lengths - 1) // 2).sum())


def _inversions(ranks: np.ndarray) -> int:
    """Pairs i < j with ranks[i] > ranks[j].  ranks: [k] integers from 0.

    Bit by bit from the highest, which is where such a pair first differs: among the values that agree in all higher bits, in
    their first order, it counts for each 0 the 1s before it.
    """
    found, top = 0, int(ranks.max(initial=0))
    if top < 1 << 16:
        ranks = ranks.astype(np.uint16)  # numpy sorts short integers by their digits
    for bit in reversed(range(top.bit_length())):
        ones = ((ranks >> bit) & 1).astype(bool)
        before = np.cumsum(ones, dtype=np.int64)
        higher = ranks >> (bit + 1)
        starts = np.concatenate(([0], np.flatnonzero(higher[1:] != higher[:-1]) + 1))
        zeros = np.add.reduceat(~ones, starts, dtype=np.int64)
        found += int(before[~ones].sum() - ((before[starts] - ones[starts]) * zeros).sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return found


__all__ = [
    "ESTIMATOR_WORDS", "ESTIMATORS", "THROWN", "TRUTH_WORDS", "TRUTHS", "Accuracy", "Curve", "Row", "accuracy", "curves",
    "error_of", "estimate_of", "few_missing", "finite_or_nan", "left_out", "lost", "ordered_pairs", "present", "select",
    "with_few_missing",
]  # fmt: skip

GRADIENTS = ("minibatch", "control_variate", "full")
PAPER = ("SGLD", "RMSPropSGLD", "AdamSGLD", "SGHMC", "SGNHT")
"""The samplers of Hitchcock & Hoogland come first everywhere."""
CLOSE = 0.05


def few_missing(count: Any, total: Any) -> Any:
    """Whether less than a tenth of `total` problems have no estimate, `count` of them being those that have one; of numbers or arrays.

    What Hitchcock & Hoogland draw of mean against sd, and the one rule here: another step size is not a good one, however accurate the
    others are. Counted in whole problems: 1 − 9/10 is less than .1 in floating point.
    """
    return (count > 0) & (10 * (total - count) < total)


@dataclass(frozen=True)
class Curve:
    """One sampler with one gradient. Arrays [S] go over its step sizes, ascending.

    mean, sd: of the relative error over the problems with an estimate (sd with divisor count − 1; nan below two).
    from_variance, from_variance_se: mean relative error of λ̂ from the variance, over the problems that have it, with its standard error.
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
    from_variance: np.ndarray
    from_variance_se: np.ndarray
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
        """[S] whether there are estimates of nearly all problems: `few_missing`."""
        return np.asarray(few_missing(self.count, self.total))

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
    from_variance: float = math.nan
    from_variance_se: float = math.nan

    @property
    def size(self) -> float:
        """Root mean square relative error, by which step sizes are chosen (`Curve.best`): a missing estimate counts as 100%."""
        if not self.total or not math.isfinite(self.mean):
            return math.nan
        sd = self.sd if math.isfinite(self.sd) else 0.0
        return math.sqrt(((self.mean**2 + sd**2) * self.count + self.total - self.count) / self.total)

    @property
    def usable(self) -> bool:
        """Whether there are estimates of nearly all problems: `few_missing`."""
        return bool(few_missing(self.count, self.total))


def curves(
    rows: Iterable[Row], estimator: str = "same_batch", truth: str = "expected", cut: bool = True
) -> list[Curve]:
    """One curve for each sampler and gradient, of every problem `once`. Rows with status "error" were not run and count nowhere.

    cut: whether an estimate of more than THROWN times half the number of parameters counts as missing.
    """
    table = Table.of(rows)
    table = table.take(~table.names["status"].among(["error"]) & (table.numbers["step_size"] > 0))
    sizes, codes = np.unique(table.numbers["step_size"], return_inverse=True)
    steps = np.array(Names.of(f"{size:.6g}" for size in sizes.tolist()).codes, dtype=np.int64)[codes]
    kept = once(table, steps)
    if len(kept) < len(table):
        table, steps = table.take(kept), steps[kept]
    columns = _Columns(
        table,
        all_estimates(table, estimator, cut),
        all_errors(table, estimator, truth, cut),
        all_errors(table, FROM_VARIANCE, truth, cut),
        table.numbers[TRUTHS[truth]],
    )
    found = []
    for sampler in present(table, "sampler", PAPER):
        of_sampler = table.names["sampler"].among([sampler])
        for gradient in present(table, "gradient", GRADIENTS):
            mine = np.flatnonzero(of_sampler & table.names["gradient"].among([gradient]))
            if len(mine):
                found.append(_curve(sampler, gradient, _groups(mine, steps), columns))
    return found


@dataclass(frozen=True)
class _Columns:
    """A table, and what is made of it: [k] each."""

    table: Table
    estimates: np.ndarray
    errors: np.ndarray
    variance: np.ndarray
    exact: np.ndarray


def _groups(mine: np.ndarray, steps: np.ndarray) -> list[np.ndarray]:
    """Some rows by their step sizes, each group in the order of the rows."""
    order = np.argsort(steps[mine], kind="stable")
    ends = np.flatnonzero(np.diff(steps[mine][order])) + 1
    return np.split(mine[order], ends)


def _curve(sampler: str, gradient: str, groups: list[np.ndarray], of: _Columns) -> Curve:
    numbers = of.table.numbers
    groups = sorted(groups, key=lambda group: float(numbers["step_size"][group[0]]))
    columns: dict[str, list[float]] = defaultdict(list)
    for group in groups:
        mean, sd, _ = _mean(of.errors[group])
        estimates = of.estimates[group]
        agreeing, pairs = _pairs(of.table.names["size_class"].codes[group], of.exact[group], estimates)
        chains, dead = (
            float(found[found > 0].sum()) for found in (numbers[name][group] for name in ("chains", "dead"))
        )
        columns["step_size"].append(float(numbers["step_size"][group[0]]))
        columns["mean"].append(mean)
        columns["sd"].append(sd)
        columns["count"].append(int(np.isfinite(estimates).sum()))
        columns["total"].append(len(group))
        columns["dead"].append(dead / chains if chains else math.nan)
        columns["order"].append(agreeing / pairs if pairs else math.nan)
        columns["pairs"].append(pairs)
        columns["seconds"].append(_median(numbers["seconds"][group]))
        mean, sd, known = _mean(of.variance[group])
        columns["from_variance"].append(mean)
        columns["from_variance_se"].append(sd / math.sqrt(known) if known else math.nan)
    limit = _median(numbers["stable_step"][np.concatenate(groups)])
    return Curve(sampler, gradient, limit=limit, **{name: np.array(values) for name, values in columns.items()})


def with_few_missing(found: Iterable[Curve]) -> list[Curve]:
    """The same curves, without mean and sd at the step sizes that have not `few_missing`: nan there."""
    return [replace(c, mean=np.where(c.usable, c.mean, np.nan), sd=np.where(c.usable, c.sd, np.nan)) for c in found]


def left_out(found: Iterable[Curve]) -> tuple[int, int]:
    """(step sizes that `with_few_missing` leaves out, all step sizes) of all curves."""
    kept = [c.usable for c in found]
    return sum(int((~each).sum()) for each in kept), sum(map(len, kept))


def ordered_pairs(rows: Iterable[Row], estimates: Sequence[float], truth: str) -> tuple[int, int]:
    """(pairs in the right order, pairs): of problems of one size class that both have an estimate and whose true values
    differ. Equal estimates are not in order. Of k problems in O(k log² k)."""
    table = Table.of(rows)
    guesses = np.array([finite_or_nan(estimate) for estimate in estimates], dtype=float)
    return _pairs(table.names["size_class"].codes, table.numbers[TRUTHS[truth]], guesses)


def _pairs(classes: np.ndarray, exact: np.ndarray, estimates: np.ndarray) -> tuple[int, int]:
    there = np.isfinite(estimates) & np.isfinite(exact)
    classes, exact, estimates = classes[there], exact[there], estimates[there]
    counts = [counted_pairs(exact[classes == each], estimates[classes == each]) for each in np.unique(classes)]
    return sum(agreeing for agreeing, _ in counts), sum(pairs for _, pairs in counts)


def accuracy(found: Iterable[Curve]) -> list[Accuracy]:
    """The accuracy table: every curve at its best step size."""
    result = []
    for c in found:
        i = c.best
        values = (
            [math.nan] * 8
            if i is None
            else [
                float(a[i])
                for a in (c.step_size, c.mean, c.sd, c.nan, c.order, c.seconds, c.from_variance, c.from_variance_se)
            ]
        )
        step, mean, sd, nan, order, *rest = values
        count, total = (0, int(c.total.max(initial=0))) if i is None else (int(c.count[i]), int(c.total[i]))
        result.append(
            Accuracy(
                c.sampler, c.gradient, step, mean, sd, 1.0 if i is None else nan, order, c.decades, count, total, *rest
            )
        )  # fmt: skip
    return result


def _mean(values: np.ndarray) -> tuple[float, float, int]:
    """Mean and standard deviation of what is finite, and how many that are; nan where they are too few."""
    there = values[np.isfinite(values)]
    mean = float(there.mean()) if len(there) else math.nan
    return mean, float(there.std(ddof=1)) if len(there) > 1 else math.nan, len(there)


def _median(values: np.ndarray) -> float:
    there = values[np.isfinite(values)]
    return float(np.median(there)) if len(there) else math.nan
