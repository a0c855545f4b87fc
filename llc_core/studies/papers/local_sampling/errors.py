"""Relative errors of λ̂ by step size of one sampler, and what they say of it: how wide a range of step sizes works, how it orders
networks, and how it fails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llc_core.sweeps.judging import TRUTHS, estimate_of
from llc_core.sweeps.series import Row, counted_pairs, few_missing
from llc_core.sweeps.table import finite_or_nan

WRONG = 0.5
"""Relative error of a run that has failed."""
EARLY = 0.5
"""Share of its steps before which a run that is lost is lost early."""


@dataclass(frozen=True)
class Errors:
    """What one sampler found. step_size [S].  estimates, errors [S, P]: λ̂ and its relative error, nan where there is none.
    truths [P].  bounds [P]: half the number of parameters, which no coefficient exceeds.  classes [P]: of sizes; None: all are of one.
    lost [S, P]: the share of its steps after which a run was at a loss that no posterior has, 1 where it never was; nan: not known."""

    step_size: np.ndarray
    estimates: np.ndarray
    errors: np.ndarray
    truths: np.ndarray
    bounds: np.ndarray
    lost: np.ndarray
    classes: np.ndarray | None = None

    def usable(self, some: np.ndarray) -> np.ndarray:
        """[S] whether nearly all of these problems have an estimate: `few_missing`."""
        return np.asarray(few_missing((~np.isnan(self.errors[:, some])).sum(axis=1), len(some)))

    def size(self, some: np.ndarray) -> np.ndarray:
        """[S] root mean square error, a missing estimate counting as 100%; inf where too many are missing."""
        square = np.where(np.isnan(self.errors), 1.0, self.errors)[:, some] ** 2
        return np.where(self.usable(some), np.sqrt(square.mean(axis=1)), np.inf)

    def best(self, some: np.ndarray) -> float:
        """The least root mean square error."""
        return float(self.size(some).min())

    def place(self, some: np.ndarray) -> int | None:
        """Of the best step size, that of the least `size`; None where too many estimates are missing at all of them."""
        size = self.size(some)
        return int(size.argmin()) if np.isfinite(size.min()) else None

    def at_best(self, some: np.ndarray) -> tuple[float, float]:
        """Mean and standard deviation of λ̂/λ at the best step size; nan without one."""
        i = self.place(some)
        if i is None:
            return math.nan, math.nan
        errors = self.errors[i : i + 1, some]
        return 1 + float(mean_of(errors)[0]), float(sd_of(errors)[0])

    def lost_at_the_largest(self, some: np.ndarray) -> float:
        """Share of these problems without an estimate at the largest step size."""
        return float(np.isnan(self.errors[-1, some]).mean())

    def decades(self, some: np.ndarray, within: float) -> float:
        """Decades of step size over which |mean error| is within `within`, between points along straight lines; 0 without any."""
        mean = mean_of(self.errors[:, some])
        fine = np.where(self.usable(some) & np.isfinite(mean), np.abs(mean), np.inf)
        x, width, longest = np.log10(self.step_size), 0.0, 0.0
        for i in range(1, len(x)):
            width = width if fine[i - 1] <= within else 0.0
            low, high = sorted(fine[i - 1 : i + 1])
            if low <= within and np.isfinite(high):
                width += (x[i] - x[i - 1]) * (1.0 if high <= within else (within - low) / (high - low))
            longest = max(longest, width)
        return longest

    def order(self, some: np.ndarray) -> float:
        """Share of pairs of one size class in the right order at the best step size; nan without one."""
        some = np.unique(some)
        i = self.place(some)
        if i is None:
            return math.nan
        here = self.estimates[i, some]
        kinds = np.zeros(len(some)) if self.classes is None else self.classes[some]
        there = [np.isfinite(here) & (kinds == kind) for kind in np.unique(kinds)]
        counts = [counted_pairs(self.truths[some][each], here[each]) for each in there]
        right, pairs = (sum(part) for part in zip(*counts, strict=True))
        return right / pairs if pairs else math.nan

    def failed(self, some: np.ndarray) -> np.ndarray:
        """[S, len(some)] the failed runs above the best step size. Without a best step size all are above it."""
        best = self.place(some)
        above = np.arange(len(self.step_size)) > (-1 if best is None else best)
        return above[:, None] & ~(np.abs(self.errors[:, some]) <= WRONG)

    def seen_to_fail(self, some: np.ndarray) -> float:
        """Of the failed runs, the share that has no estimate, or one outside of what a coefficient can be: from 0 to half the number of
        parameters."""
        failed, estimates = self.failed(some), self.estimates[:, some]
        seen = np.isnan(estimates) | (estimates > self.bounds[some]) | (estimates < 0)
        return float((seen & failed).sum() / failed.sum()) if failed.any() else math.nan

    def fail_early(self, some: np.ndarray) -> tuple[float, int]:
        """How many of the failed runs were lost early, nan where that is not known of one of them; and how many failed."""
        lost = self.lost[:, some][self.failed(some)]
        return (math.nan if np.isnan(lost).any() else float((lost < EARLY).sum())), len(lost)

    def early(self, some: np.ndarray) -> float:
        """The same as a share."""
        early, failed = self.fail_early(some)
        return early / failed if failed else math.nan


def errors_of(rows: Sequence[Row], estimator: str, truth: str) -> Errors:
    """Of the rows of one sampler and gradient: every problem at every step size, once."""
    steps = sorted({float(row["step_size"]) for row in rows})
    names = sorted({(row["size_class"], row["ranks"], row["problem"]) for row in rows})
    found = np.full((len(steps), len(names)), np.nan)
    lost = np.full(found.shape, np.nan)
    truths, bounds = np.full(len(names), np.nan), np.full(len(names), np.nan)
    places = {step: i for i, step in enumerate(steps)}, {name: j for j, name in enumerate(names)}
    for row in rows:
        j = places[1][row["size_class"], row["ranks"], row["problem"]]
        i = places[0][float(row["step_size"])]
        found[i, j] = estimate_of(row, estimator, cut=False)
        lost[i, j] = finite_or_nan(row["lost_after"]) / row["steps"]
        if row[TRUTHS[truth]] is not None:
            truths[j], bounds[j] = row[TRUTHS[truth]], row["dim"] / 2
    positive = np.where(truths > 0, truths, np.nan)
    classes = np.array([size_class for size_class, _, _ in names])
    return Errors(np.array(steps), found, found / positive - 1, truths, bounds, lost, classes)


def ratio(one: Errors, other: Errors, some: np.ndarray) -> float:
    """Mean λ̂/λ of one sampler over that of another at the smallest step size of both; nan where either lacks too many estimates there.

    Both are of the same problems in the same order.
    """
    steps = np.intersect1d(one.step_size, other.step_size)
    if not len(steps):
        return math.nan
    means = []
    for each in (one, other):
        i = int(np.searchsorted(each.step_size, steps[0]))
        means.append(1 + float(mean_of(each.errors[i : i + 1, some])[0]) if each.usable(some)[i] else math.nan)
    return means[0] / means[1]


def mean_of(errors: np.ndarray) -> np.ndarray:
    """Over the problems with an estimate, [S]; nan without any."""
    count = np.isfinite(errors).sum(axis=1)
    return np.where(count > 0, np.nansum(errors, axis=1) / np.maximum(count, 1), np.nan)


def sd_of(errors: np.ndarray) -> np.ndarray:
    """Over the problems with an estimate, divisor count − 1, [S]; nan below two."""
    count = np.isfinite(errors).sum(axis=1)
    spread = np.nansum((errors - mean_of(errors)[:, None]) ** 2, axis=1) / np.maximum(count - 1, 1)
    return np.where(count > 1, np.sqrt(spread), np.nan)
