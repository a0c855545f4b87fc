"""λ̂ of random deep linear networks by step size, sampler by sampler: the benchmark of Hitchcock & Hoogland 2025 and its claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import choice, hyper
from llc_core.studies.papers.claims import Claim, Measured, at_least, less
from llc_core.studies.papers.study import Cost, Found, Place, Study, register
from llc_core.sweeps.costs import rough_seconds
from llc_core.sweeps.judging import ESTIMATORS, TRUTHS, estimate_of
from llc_core.sweeps.runner import run_sweep
from llc_core.sweeps.series import Row, counted_pairs, curves, few_missing
from llc_core.sweeps.spec import SweepSpec
from llc_core.sweeps.store import results

FIGURES = ("relative_error", "nan_share", "mean_against_sd", "order_preservation")
BASE, BETTER = "SGLD", ("RMSPropSGLD", "AdamSGLD")
"""The samplers that the paper's claims are about: the second ones against the first."""
WRONG = 0.5
"""Relative error of a run that has failed."""
SEEN = 0.9
"""Share of the failed runs that must be seen to have failed."""


@dataclass(frozen=True)
class Errors:
    """What one sampler found. step_size [S].  estimates, errors [S, P]: λ̂ and its relative error, nan where there is none.
    truths [P].  bounds [P]: half the number of parameters, which no coefficient exceeds."""

    step_size: np.ndarray
    estimates: np.ndarray
    errors: np.ndarray
    truths: np.ndarray
    bounds: np.ndarray

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

    def decades(self, some: np.ndarray, within: float) -> float:
        """Decades of step size over which |mean error| is within `within`, between points along straight lines; 0 without any."""
        mean = _mean(self.errors[:, some])
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
        """Share of pairs in the right order at the best step size."""
        some = np.unique(some)
        here = self.estimates[int(self.size(some).argmin()), some]
        there = np.isfinite(here)
        right, pairs = counted_pairs(self.truths[some][there], here[there])
        return right / pairs if pairs else math.nan

    def seen_to_fail(self, some: np.ndarray) -> float:
        """Of the failed runs above the best step size, the share that has no estimate or one above its bound, 100·d/2 and more."""
        above = np.arange(len(self.step_size)) > int(self.size(some).argmin())
        errors, estimates = self.errors[above][:, some], self.estimates[above][:, some]
        failed = ~(np.abs(errors) <= WRONG)
        seen = np.isnan(estimates) | (estimates > self.bounds[some]) | (estimates < 0)
        return float((seen & failed).sum() / failed.sum()) if failed.any() else math.nan


def errors_of(rows: Sequence[Row], estimator: str, truth: str) -> Errors:
    """Of the rows of one sampler and gradient: every problem at every step size, once."""
    steps = sorted({float(row["step_size"]) for row in rows})
    names = sorted({(row["size_class"], row["ranks"], row["problem"]) for row in rows})
    found = np.full((len(steps), len(names)), np.nan)
    truths, bounds = np.full(len(names), np.nan), np.full(len(names), np.nan)
    places = {step: i for i, step in enumerate(steps)}, {name: j for j, name in enumerate(names)}
    for row in rows:
        j = places[1][row["size_class"], row["ranks"], row["problem"]]
        found[places[0][float(row["step_size"])], j] = estimate_of(row, estimator, cut=False)
        if row[TRUTHS[truth]] is not None:
            truths[j], bounds[j] = row[TRUTHS[truth]], row["dim"] / 2
    positive = np.where(truths > 0, truths, np.nan)
    return Errors(np.array(steps), found, found / positive - 1, truths, bounds)


@register
@dataclass(frozen=True)
class StepSizes(Study):
    """A sweep, its figures, and the claims on which sampler depends less on its step size, errs less, and orders better.

    sweep: as in a file of `llc-lab sweep`.  figures: of FIGURES, those that are drawn.  estimator, truth: as in
    `llc_core.sweeps.series.curves`.  within: |mean relative error| of a good step size.
    """

    sweep: SweepSpec = hyper(dict, read=SweepSpec.read_from)
    figures: tuple[str, ...] = hyper(
        FIGURES[:3], read=lambda label, value: tuple(choice(label, each, FIGURES) for each in value)
    )
    estimator: str = hyper("same_batch", choices=tuple(ESTIMATORS))
    truth: str = hyper("global", choices=tuple(TRUTHS))
    within: float = hyper(0.2, 0.0, 1.0)

    def cost(self) -> Cost:
        seconds, megabytes = rough_seconds(self.sweep)
        spec = self.sweep
        words = (
            f"{len(spec.problems)} networks of {', '.join(spec.size_class)}, {len(spec.samplers)} samplers, "
            f"{spec.chains} chain(s) of {spec.steps:,} steps"
        )
        return Cost(seconds, megabytes, words)

    def run(self, at: Place) -> Found:
        spec = self.sweep.replace(device=at.device) if at.device else self.sweep
        last = run_sweep(spec, at.store, workers=at.workers, on_progress=lambda now: at.say(
            f"{now.done:,} of {now.total:,} rows"
        ))  # fmt: skip
        if last.state == "stopped":
            raise ValueError(
                f"The sweep was stopped at {last.done:,} of {last.total:,} rows; the same command goes on."
            )
        keys = {key for unit in spec.units() for key in unit.keys}
        rows = [row for row in results(at.store) if row["key"] in keys]
        found = self.by_sampler(rows)
        base = [row for row in rows if row["sampler"] == BASE]
        printed = errors_of(base, "printed", self.truth) if base and self.estimator != "printed" else None
        return Found(judged(found, self.within, printed), self._numbers(found), lambda: self._figure(rows))

    def by_sampler(self, rows: Sequence[Row]) -> dict[str, Errors]:
        """By the name of the sampler; where there are several gradients, by both."""
        kinds = sorted({(str(row["sampler"]), str(row["gradient"])) for row in rows})
        several = len({gradient for _, gradient in kinds}) > 1
        return {
            f"{sampler}, {gradient}" if several else sampler: errors_of(
                [row for row in rows if (row["sampler"], row["gradient"]) == (sampler, gradient)],
                self.estimator,
                self.truth,
            )
            for sampler, gradient in kinds
        }

    def _numbers(self, found: Mapping[str, Errors]) -> dict[str, Any]:
        numbers = {}
        for name, errors in found.items():
            every = np.arange(len(errors.truths))
            numbers[name] = {
                "step sizes": errors.step_size.tolist(),
                "mean error": _plain(_mean(errors.errors)),
                "sd": _plain(_sd(errors.errors)),
                "without an estimate": np.isnan(errors.errors).mean(axis=1).round(4).tolist(),
                "decades": errors.decades(every, self.within),
            }
        return numbers

    def _figure(self, rows: Sequence[Row]) -> Any:
        from llc_core.plots.style import below_each_other
        from llc_core.sweeps import figures

        found = curves(rows, self.estimator, self.truth, cut=False)
        drawn = [
            figures.FIGURES[name](found, legend=name == self.figures[-1], responsive=False, width=720)
            for name in self.figures
        ]
        return below_each_other(*drawn) if len(drawn) > 1 else drawn[0]


def judged(found: Mapping[str, Errors], within: float, printed: Errors | None = None) -> list[Claim]:
    """The paper's claims on the samplers that are there. Errors are those of as many other networks: by the bootstrap, and for pairs
    in order by draws without repeats, which give somewhat too large ones.  printed: what BASE found by equation 3.8.
    """

    def of(name: str, statistic: Callable[[Errors, np.ndarray], float]) -> tuple[str, Measured]:
        errors = found[name]
        return name, Measured.resampled(lambda some: statistic(errors, some), len(errors.truths))

    claims = []
    for name in BETTER:
        if name not in found or BASE not in found:
            continue
        widths = [of(each, lambda errors, some: errors.decades(some, within)) for each in (BASE, name)]
        text = f"{name}'s step size matters less than {BASE}'s (decades within ±{within:.0%})"
        claims.append(less(text, *widths))
        if not any(width.value for _, width in widths):  # nowhere right: nothing is decided by two zeros
            claims[-1] = Claim(text, None, f"no step size is within ±{within:.0%}")
        sizes = [of(each, Errors.best) for each in (name, BASE)]
        claims.append(less(f"{name} errs less than {BASE} at the best step sizes (root mean square)", *sizes))
        orders = [of(each, Errors.order) for each in (BASE, name)]
        claims.append(less(f"{name} orders networks better than {BASE} does (pairs in order)", *orders))
    for name in (BASE, *BETTER):
        if name in found:
            share = of(name, Errors.seen_to_fail)[1]
            claims.append(
                at_least(f"{name} fails fast: too large a step is seen (share of the failed runs)", share, SEEN)
            )
    if printed is not None and BASE in found:
        theirs = Measured.resampled(printed.best, len(printed.truths))
        text = f"{BASE} by equation 3.8, which subtracts the loss of one minibatch, errs as little (root mean square)"
        claims.append(less(text, ("equation 3.8", theirs), ("same batch", of(BASE, Errors.best)[1])))
    return claims


def _mean(errors: np.ndarray) -> np.ndarray:
    """Over the problems with an estimate, [S]; nan without any."""
    count = np.isfinite(errors).sum(axis=1)
    return np.where(count > 0, np.nansum(errors, axis=1) / np.maximum(count, 1), np.nan)


def _sd(errors: np.ndarray) -> np.ndarray:
    count = np.isfinite(errors).sum(axis=1)
    spread = np.nansum((errors - _mean(errors)[:, None]) ** 2, axis=1) / np.maximum(count - 1, 1)
    return np.where(count > 1, np.sqrt(spread), np.nan)


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(f"{each:.5g}") if math.isfinite(each) else None for each in values.tolist()]
