"""λ̂ of random deep linear networks by step size, sampler by sampler: the benchmark of Hitchcock & Hoogland 2025 and its claims."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from llc_core.fields import choice, hyper, whole
from llc_core.studies.papers.claims import Claim, Measured, at_least, less, near, ours
from llc_core.studies.papers.local_sampling.errors import Errors, errors_of, mean_of, ratio, sd_of
from llc_core.studies.papers.local_sampling.summaries import lines, plain, summary
from llc_core.studies.papers.study import Cost, Found, Place, Study, register
from llc_core.sweeps.costs import rough_seconds
from llc_core.sweeps.judging import ESTIMATORS, TRUTHS
from llc_core.sweeps.runner import run_sweep
from llc_core.sweeps.series import Row, curves
from llc_core.sweeps.spec import SweepSpec, label_of
from llc_core.sweeps.store import results

FIGURES = ("relative_error", "nan_share", "mean_against_sd", "order_preservation")
BASE, BETTER = "SGLD", ("RMSPropSGLD", "AdamSGLD")
"""The samplers that the paper's claims are about: the second ones against the first."""
CORRECTED = ("SGHMC", "SGNHT")
"""Samplers of which a sweep may have both: as printed, with half the force, and corrected."""
DOUBLED = 0.5
"""How far from 2 the ratio of their estimates may be: at a step size that is not 0, noise of minibatches heats the corrected one more."""
SEEN = 0.9
"""Share of the failed runs that must be seen to have failed."""


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
            f"{len(spec.samplers)} samplers, {spec.chains} chain(s) of {spec.steps:,} steps, "
            f"{len(spec.problems)} networks of {in_words(spec.size_class)}"
        )
        return Cost(seconds, megabytes, words)

    def in_place_of(self, printed: Study) -> str:
        theirs = printed.sweep if isinstance(printed, StepSizes) else self.sweep
        if theirs.size_class != self.sweep.size_class:
            return f"networks of {in_words(self.sweep.size_class)} in place of {in_words(theirs.size_class)}"
        few, all_of_them = len(self.sweep.problems), len(theirs.problems)
        return "" if few == all_of_them else f"{few} networks in place of {all_of_them}"

    def first(self, problems: int) -> StepSizes:
        """At least two, since order and spread are claims."""
        known = self.sweep.problems
        whole("--problems", problems, 2, len(known))
        return self.replace(sweep=self.sweep.replace(problems=known[:problems]))

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
        summaries = {name: summary(errors, self.within) for name, errors in found.items()}
        numbers = {name: {**of, "summary": plain(summaries[name])} for name, of in self._numbers(found).items()}
        claims = judged(found, self.within, printed)
        return Found(claims, numbers, lambda: self._figure(rows), lines(summaries, self.within))

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
            numbers[name] = {
                "step sizes": errors.step_size.tolist(),
                "mean error": _plain(mean_of(errors.errors)),
                "sd": _plain(sd_of(errors.errors)),
                "without an estimate": np.isnan(errors.errors).mean(axis=1).round(4).tolist(),
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
            claims += ours([fails_early(name, found[name])])
    for name in CORRECTED:
        as_printed = found.get(label_of({"name": name, "dynamics": "printed"}))
        if as_printed is not None and name in found:
            claims += ours([doubled(name, as_printed, found[name])])
    if printed is not None and BASE in found:
        theirs = Measured.resampled(printed.best, len(printed.truths))
        text = f"{BASE} errs less with the loss at w0 on the same batch than by equation 3.8, with that of one minibatch (root mean square)"
        claims += ours([less(text, ("same batch", of(BASE, Errors.best)[1]), ("equation 3.8", theirs))])
    return claims


def fails_early(name: str, errors: Errors) -> Claim:
    """Whether too large a step is seen before half of a run's steps: its loss is not finite, or over 100 steps one that no posterior has."""
    early, failed = errors.fail_early(np.arange(len(errors.truths)))
    text = (
        f"{name} fails early: too large a step is seen in the loss before half of the steps (share of the failed runs)"
    )
    if not math.isfinite(early):
        return Claim(text, None, f"of {failed} failed settings it was not kept when they failed")
    claim = at_least(text, Measured.resampled(errors.early, len(errors.truths)), SEEN)
    return replace(claim, found=f"of {failed} failed settings {early:.0f} failed before half the steps, {claim.found}")


def in_words(classes: Sequence[str]) -> str:
    """Size classes as their numbers of parameters: "about 1,000 parameters"; those of given widths by their names."""
    sizes = [re.fullmatch(r"(\d+)([KM])", each) for each in classes]
    if not all(sizes):
        return ", ".join(classes)
    *first, last = [f"{size[1]},000" if size[2] == "K" else f"{size[1]} million" for size in sizes if size]
    return f"about {', '.join(first)}{' and ' if first else ''}{last} parameters"


def doubled(name: str, printed: Errors, corrected: Errors) -> Claim:
    """Whether λ̂ of Algorithm 4 or 5 as printed is twice that with the whole force, as of exp(−U/2) beside exp(−U)."""
    found = Measured.resampled(lambda some: ratio(printed, corrected, some), len(printed.truths))
    text = f"{name} as printed, with half the force, gives about twice the λ̂ of the corrected one at the smallest ε (ratio)"
    return near(text, found, 2.0, DOUBLED, "limit")


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(f"{each:.5g}") if math.isfinite(each) else None for each in values.tolist()]
