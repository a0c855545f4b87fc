"""SGLD on regressions of two parameters whose posterior is known by quadrature: the tables of Lau, Murfet & Wei. Long,
since a row, its long chains and what is judged of both are read together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.engine.run import Run
from llc_core.fields import Settings, hyper, is_list, number, numbers, short
from llc_core.potentials.plane.regression import planar_landscape
from llc_core.references.nuts import nuts_draws
from llc_core.results import Estimate
from llc_core.studies.papers.claims import Claim, Measured, agree, at_least
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register
from llc_core.studies.papers.tables import grouped
from llc_core.theory.quadrature import one_sided_posterior, posterior
from llc_core.types import LearningCoefficient

WIDEST = 0.3
"""A tolerance above this comes from chains that were thrown far, and everything would agree with them."""
SLACK = 0.04
"""What a finite step may add to λ̂: +.03 at 5e-4."""
CHAIN_STEPS = 2.5e5
"""Steps of one chain in a second of one core."""
BOX = 5.0
"""Half side of the box that the paper's own long chains have in place of a Gaussian prior."""
PRINTED_ERROR = 0.005
"""Of a number with two digits behind the point."""
TRAJECTORY = 0.015
"""Seconds of one core for a step of NUTS, of ten or of a hundred chains side by side: 60 to 250 gradients."""


def within(values: np.ndarray, exact: float) -> tuple[float, float, bool]:
    """Mean, sd, and whether the mean is within 3 sd/√R + SLACK of `exact`, and that says something."""
    values = values[np.isfinite(values)]
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    return mean, sd, abs(mean - exact) < 3 * sd / math.sqrt(len(values)) + SLACK < WIDEST


def finish(config: RunConfig, problem: Any) -> list[Estimate]:
    current = Run(config, problem)
    for _ in current:
        pass
    return current.estimates()


def crossing_row(
    k: Sequence[int],
    h: Sequence[int],
    sampler: str,
    repeats: int,
    steps: int,
    seed: int,
    members: int,
    step_sizes: Sequence[float] = (5e-4, 1e-4),
) -> list[dict[str, Any]]:
    """λ̂ and ν̂ of `repeats` data sets beside quadrature, a row for each step size.

    ρ = w₁^k₁·w₂^k₂, prior |w₁|^h₁·|w₂|^h₂.  members: chains of each data set.
    """
    problem = planar_landscape("normal_crossing", k=list(k), h=list(h), data_sets=repeats, seed=seed)
    config = RunConfig(
        sampler={"name": sampler},
        grid={"step_size": tuple(step_sizes)},
        chains=repeats * members,
        steps=steps,
        burn_in=0,
        functional_variance=20,
        localization=1.0,
        seed=seed,
        dtype="float64",
    )
    exact, side = posterior(problem), one_sided_posterior(problem)
    rows = []
    for result in finish(config, problem):
        truth = side if sampler == "ProximalSGLD" else exact
        mean, sd, fine = within(result.per_chain[::members], truth.llc.mean())
        # ν of one data set varies too: its standard error over chains is in the estimate
        allowed = 3 * result.singular_fluctuation_se + SLACK
        ends = sorted([exact.singular_fluctuation.mean(), side.singular_fluctuation.mean()])
        nu = result.singular_fluctuation
        rows.append(
            {
                "mean": mean,
                "median": float(np.nanmedian(result.per_chain[::members])),
                "sd": sd,
                "fine": fine,
                "dead": int(np.isnan(result.per_chain[::members]).sum()),
                "nu": nu,
                "nu_fine": ends[0] - allowed < nu < ends[1] + allowed and allowed < WIDEST,
                "exact": exact.llc.mean(),
                "exact_sd": exact.llc.std(),
                "side": side.llc.mean(),
                "side_nu": side.singular_fluctuation.mean(),
                "exact_nu": exact.singular_fluctuation.mean(),
                "truth": known(problem.learning_coefficient),
            }
        )
    return rows


def long_chains(
    k: Sequence[int], h: Sequence[int], data_sets: int, steps: int, warmup: int, seed: int
) -> dict[str, Any]:
    """λ̂ and ν̂ of each data set by one chain of NUTS, less quadrature of the same data set and posterior: lists [data_sets].

    `_off` is less that of both sides of walls, where the prior vanishes, `_side` less that of the side where chains begin.
    """
    problem = planar_landscape("normal_crossing", k=list(k), h=list(h), data_sets=data_sets, seed=seed)
    draws = nuts_draws(problem, chains=data_sets, steps=steps, warmup=warmup, localization=1.0, seed=seed)
    exact, side, n_beta = posterior(problem), one_sided_posterior(problem), problem.n_beta
    rho = np.stack([problem.features(list(places.T)) for places in draws.places.transpose(1, 0, 2)])
    covariance = np.array([np.cov(each) for each in rho])
    # as `Posterior` has it, by the covariance of ρ and ρ² over the draws
    nu = n_beta / problem.n / 2 * (problem.data.square_sum * covariance).sum(axis=(1, 2))
    llc = n_beta * draws.losses.mean(axis=0)
    return {
        "llc": llc.tolist(),
        "nu": nu.tolist(),
        "llc_off": (llc - exact.llc).tolist(),
        "nu_off": (nu - exact.singular_fluctuation).tolist(),
        "llc_side": (llc - side.llc).tolist(),
        "nu_side": (nu - side.singular_fluctuation).tolist(),
        "divergences": draws.divergences,
    }


@dataclass(frozen=True)
class Entry(Settings):
    """A row of the printed table. k, h: exponents of ρ and of the prior.  llc: printed λ̂ of long chains, then of SGLD at each step
    size.  nu: printed ν̂ of long chains; None: not known here."""

    what = "row"

    k: tuple[float, ...] = hyper((1, 1), read=numbers("two exponents"))
    h: tuple[float, ...] = hyper((0, 0), read=numbers("two exponents"))
    llc: tuple[float, ...] = hyper((), read=numbers("the printed numbers"))
    nu: float | None = hyper(None)

    @property
    def name(self) -> str:
        k, h = ([f"{each:g}" for each in pair] for pair in (self.k, self.h))
        return f"{','.join(k)} | {','.join(h)}"


def read_entries(label: str, value: Any) -> tuple[Entry, ...]:
    if not is_list(value) or not len(value):
        raise ValueError(f"{label} is {short(value)}; give a list of tables with k, h and the printed numbers.")
    return tuple(Entry.read_from(label, each) for each in value)


def read_steps(label: str, value: Any) -> tuple[float, ...]:
    return tuple(number(label, each, above=0) for each in numbers("a list of step sizes")(label, value))


@register
@dataclass(frozen=True)
class Crossings(Study):
    """λ̂ and ν̂ row by row, beside quadrature (with the Gaussian prior of SGLD's runs, and in the box of the long chains') and beside
    what is printed.

    repeats: data sets.  members: chains of each.  printed_repeats: data sets of the paper, for the error of its means.
    long_sets, long_steps, long_warmup: data sets of NUTS, one chain each, and its steps; long_sets 0: without it.
    against: "rows" draws λ̂ in a place for each row, "truth" against λ.
    """

    rows: tuple[Entry, ...] = hyper((), read=read_entries)
    step_sizes: tuple[float, ...] = hyper((5e-4, 1e-4), read=read_steps)
    repeats: int = hyper(200, 2, 10_000)
    members: int = hyper(4, 1, 100)
    steps: int = hyper(10_000, 10, 10_000_000)
    seed: int = hyper(0, 0, 2**31)
    printed_repeats: int = hyper(10, 2, 10_000)
    long_sets: int = hyper(0, 0, 10_000)
    long_steps: int = hyper(400, 10, 1_000_000)
    long_warmup: int = hyper(200, 10, 1_000_000)
    against: str = hyper("rows", choices=("rows", "truth"))

    def agree(self) -> None:
        for row in self.rows:
            if len(row.llc) not in (0, 1 + len(self.step_sizes)):
                raise ValueError(f"llc of {row.name} has {len(row.llc)} numbers; give {1 + len(self.step_sizes)}.")

    def cost(self) -> Cost:
        chains = self.repeats * self.members * len(self.step_sizes)
        long = (self.long_steps + self.long_warmup) * TRAJECTORY if self.long_sets else 0.0
        processor = len(self.rows) * (self.steps * max(chains / CHAIN_STEPS, 2.5e-4) + 3 + long)
        words = f"{len(self.rows)} rows, {self.repeats} data sets, {self.members} chain(s) of {self.steps:,} steps each"
        if self.long_sets:
            words += f", and {self.long_sets} chains of {self.long_steps:,} steps of NUTS"
        return Cost(on_cores(processor, 1), 500, words)

    def run(self, at: Place) -> Found:
        found = [self._row(row, at) for row in self.rows]
        long = [self._long(row, at) for row in self.rows] if self.long_sets else []
        numbers: dict[str, Any] = {row.name: cells for row, cells in zip(self.rows, found, strict=True)}
        claims = self._judged(found)
        if long:
            numbers |= {f"{row.name}, NUTS": each for row, each in zip(self.rows, long, strict=True)}
            claims += self._judged_long(found, long)
        return Found(claims, numbers, lambda: self._figure(found, long), self._table(found, long))

    def _table(self, found: list[list[dict[str, Any]]], long: list[Mapping[str, Any]]) -> list[str]:
        """A line for each row, under the names of the columns and of their groups; then what some of the names mean."""

        def printed(values: Iterable[float | None]) -> list[str]:
            return ["–" if value is None else f"{value:.2f}" for value in values]

        def with_errors(values: Iterable[Measured]) -> list[str]:
            return [f"{value.value:.3f}±{value.se:.3f}" for value in values]

        def quadrature(ends: str, value: str, names: Sequence[float | None]) -> dict[str, list[str]]:
            keys = {"both": f"exact{ends}", "side": f"side{ends}", "box": f"box{ends}"}
            own = {name: [f"{cells[0][key]:.3f}" for cells in found] for name, key in keys.items()}
            nuts = {"NUTS ± s.e.": with_errors(Measured.of(row[value]) for row in long)} if long else {}
            return {**own, "print": printed(names), **nuts}

        groups = {
            "": {"k | h": [row.name for row in self.rows], "λ": [f"{cells[0]['truth']:.3f}" for cells in found]},
            "λ̂": quadrature("", "llc", [row.llc[0] if row.llc else None for row in self.rows]),
        }
        for i, step in enumerate(self.step_sizes):
            groups[f"SGLD, ε = {step:g}"] = {
                "λ̂ ± s.e.": with_errors(Measured(cells[i]["mean"], self._se(cells[i])) for cells in found),
                "print": printed(row.llc[1 + i] if row.llc else None for row in self.rows),
                "ν̂": [f"{np.array(cells[i]['nu'], float):.3f}" for cells in found],
            }
        groups["ν̂"] = quadrature("_nu", "nu", [row.nu for row in self.rows])
        lines = [
            *grouped(groups),
            "both, side: quadrature on both sides of walls of the prior, and on that where chains begin; box: in the paper's box; print: as printed.",
        ]
        if long:
            cut = ", ".join(str(each["divergences"]) for each in long)
            lines.append(f"Trajectories of NUTS that were cut off, row by row: {cut}.")
        return lines

    def _long(self, row: Entry, at: Place) -> Mapping[str, Any]:
        k, h = ([int(each) for each in pair] for pair in (row.k, row.h))
        size = self.long_sets, self.long_steps, self.long_warmup, self.seed
        return at.part(["long chains", k, h, *size], partial(long_chains, k, h, *size), f"row {row.name}, NUTS")

    def _judged_long(self, found: list[list[dict[str, Any]]], long: list[Mapping[str, Any]]) -> list[Claim]:
        claims = []
        for name, words in (("llc", "λ̂"), ("nu", "ν̂")):
            apart = []
            for row, each in zip(self.rows, long, strict=True):
                both, side = (Measured.of(each[f"{name}_{end}"]) for end in ("off", "side"))
                near = min(abs(one.value) - 3 * one.se for one in (both, side)) <= SLACK
                if not near and both.value * side.value > 0:
                    apart.append(row.name)
            told = f"{len(long) - len(apart)} of {len(long)}{self._named(apart)}"
            text = f"{words} of NUTS is that of quadrature, of one side of walls to both (rows within 3 s.e. + {SLACK})"
            claims.append(Claim(text, not apart, told))
        apart = []
        for row, cells in zip(self.rows, found, strict=True):
            # where the prior vanishes on an axis, their long chains had a box and no Gaussian
            exact = Measured(cells[0]["box" if any(row.h) else "exact"])
            theirs = Measured(row.llc[0], cells[0]["exact_sd"] / self.printed_repeats**0.5)
            if not agree(exact, theirs, PRINTED_ERROR):
                apart.append(row.name)
        told = f"{len(long) - len(apart)} of {len(long)}{self._named(apart)}"
        text = "the printed means of long chains come out of quadrature (rows within 2 s.e.)"
        return [*claims, Claim(text, len(apart) <= 0.05 * len(long) + 1, told)]

    def _row(self, row: Entry, at: Place) -> list[dict[str, Any]]:
        k, h = ([int(each) for each in pair] for pair in (row.k, row.h))

        def make() -> dict[str, Any]:
            cells = crossing_row(k, h, "SGLD", self.repeats, self.steps, self.seed, self.members, self.step_sizes)
            problem = planar_landscape("normal_crossing", k=k, h=h, data_sets=self.repeats, seed=self.seed)
            boxed = posterior(problem, localization=0.0, box=BOX)
            own = {"box": float(boxed.llc.mean()), "box_nu": float(boxed.singular_fluctuation.mean())}
            return {"cells": [{name: plain(value) for name, value in {**cell, **own}.items()} for cell in cells]}

        asked = ["crossing", k, h, self.repeats, self.steps, self.seed, self.members, list(self.step_sizes)]
        cells: list[dict[str, Any]] = at.part(asked, make, f"row {row.name}")["cells"]
        return cells

    def _se(self, cell: Mapping[str, Any], repeats: int | None = None) -> float:
        count = repeats or self.repeats - cell["dead"]
        return float(cell["sd"] / max(count, 1) ** 0.5)

    def _judged(self, found: list[list[dict[str, Any]]]) -> list[Claim]:
        claims, every = [], list(zip(self.rows, found, strict=True))
        for i, step in enumerate(self.step_sizes):
            fine = [cells[i]["fine"] for _, cells in every]
            text = f"SGLD at ε = {step:g} gives the exact posterior mean (rows within 3 s.e. + {SLACK})"
            off = [row.name for (row, _), each in zip(every, fine, strict=True) if not each]
            claim = at_least(text, Measured(sum(fine)), len(fine))
            claims.append(Claim(claim.text, claim.holds, f"{sum(fine)} of {len(fine)}{self._named(off)}"))
            apart = []
            for row, cells in every:
                if row.llc:
                    ours = Measured(cells[i]["mean"], self._se(cells[i]))
                    theirs = Measured(row.llc[1 + i], self._se(cells[i], self.printed_repeats))
                    if not agree(ours, theirs, PRINTED_ERROR):
                        apart.append(row.name)
            known = sum(bool(row.llc) for row, _ in every)
            if known:
                text = f"the printed means of SGLD at ε = {step:g} come out (rows within 2 s.e.)"
                # one row in twenty is further off by chance
                claims.append(
                    Claim(text, len(apart) <= 0.05 * known + 1, f"{known - len(apart)} of {known}{self._named(apart)}")
                )
        truth = np.array([cells[-1]["truth"] for _, cells in every])
        order = [np.array([cells[i]["median"] for _, cells in every]) for i in range(len(self.step_sizes))]
        for step, medians in zip(self.step_sizes, order, strict=True):
            spread = Measured.resampled(partial(rank_correlation, truth, medians), len(truth))
            if len(truth) > 3:
                claims.append(at_least(f"λ̂ at ε = {step:g} orders the rows as λ does (rank correlation)", spread, 0.8))
        return claims

    def _named(self, rows: list[str]) -> str:
        return f"; not {'; '.join(rows)}" if rows else ""

    def _figure(self, found: list[list[dict[str, Any]]], long: list[Mapping[str, Any]]) -> Any:
        """Of rows λ̂ and below it ν̂, of which SGLD's has no error here; against the truth λ̂ alone."""
        from llc_core.plots.kinds import curves, in_places
        from llc_core.plots.style import beside_each_other, diagonal

        means = [np.array([cells[i]["mean"] for cells in found]) for i in range(len(self.step_sizes))]
        errors = [np.array([self._se(cells[i]) for cells in found]) for i in range(len(self.step_sizes))]
        truth, exact = (np.array([cells[0][name] for cells in found]) for name in ("truth", "exact"))
        ways: dict[str, tuple[np.ndarray, ...]] = {
            f"SGLD, ε = {step:g}": (mean, error)
            for step, mean, error in zip(self.step_sizes, means, errors, strict=True)
        }
        if self.against == "rows":
            nus: dict[str, tuple[np.ndarray, ...]] = {
                name: (np.array([cells[i]["nu"] for cells in found], float),) for i, name in enumerate(ways)
            }
            if long:
                for way, name in ((ways, "llc"), (nus, "nu")):
                    each = [Measured.of(row[name]) for row in long]
                    way["NUTS"] = np.array([one.value for one in each]), np.array([one.se for one in each])
            names, axis = [row.name for row in self.rows], "exponents k | h of ρ and of the prior"
            usual: dict[str, Any] = {
                "xrotation": 35, "xlabel": axis, "height": 420, "legend_position": "top", "logy": True,
                "yticks": [(each, f"{each:g}") for each in (0.05, 0.1, 0.2, 0.5, 1, 2, 5)], "ylim": (0.05, 8),
            }  # fmt: skip
            sides = {"quadrature, both sides": "exact", "quadrature, one side": "side"}
            ends = [
                {name: np.array([cells[0][key + end] for cells in found]) for name, key in sides.items()}
                for end in ("", "_nu")
            ]
            return beside_each_other(
                in_places(names, ways, {**ends[0], "λ": truth}, ylabel="λ̂ ± 2 s.e.", **usual),
                in_places(names, nus, ends[1], ylabel="ν̂ (± 2 s.e.)", **usual),
                columns=1,
            )
        named = {name: (truth, *way) for name, way in ways.items()}
        named["quadrature"] = (truth, exact, np.zeros(len(exact)))
        return curves(
            named, ground=[diagonal(truth, truth)], lines=False, xlabel="true λ", ylabel="λ̂ ± 2 s.e.", width=480, height=440,
            ylim=(0, 1.4), legend_position="top_left",
        )  # fmt: skip


def plain(value: Any) -> Any:
    """A number or truth value that JSON can hold; nothing for nan."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def known(coefficient: LearningCoefficient | None) -> float:
    """Of a landscape whose λ is a formula."""
    assert coefficient is not None
    return float(coefficient)


def rank_correlation(truth: np.ndarray, found: np.ndarray, some: np.ndarray) -> float:
    """Spearman's correlation of some entries; ties have the mean of their ranks."""
    from scipy.stats import spearmanr

    return float(spearmanr(truth[some], found[some]).statistic) if len(np.unique(truth[some])) > 1 else math.nan
