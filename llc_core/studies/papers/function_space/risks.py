"""Risk of MALA and of gradient descent on semi-synthetic tables, by iteration, width and depth (paper 004, section 3.2: Tables 1, 2
and 3, Figures 3, 5 and 6).  Long, since tables and figures are shows of the same runs, with claims of their own.

Inputs are those of a table; the targets are drawn from networks of the prior. All losses are plain, (y − ŷ)² under normal noise and
|y − ŷ| under Laplace noise, and their mean over the noise is taken exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.fields import choice, hyper, is_list, short, whole
from llc_core.networks.data.tables import SHOWN, TABULAR, UCI, Table, tabular, uci
from llc_core.potentials.bayesian.likelihoods import LIKELIHOODS
from llc_core.potentials.bayesian.passes import Layout
from llc_core.references.functions.mixture import SETTLED
from llc_core.studies.papers.claims import Claim, Measured, at_most, near
from llc_core.studies.papers.study import Cost, Found, Place, Study, register, rising
from llc_core.studies.risk.comparison import DESCENT
from llc_core.studies.risk.courses import EXACT_CHAINS, LOSS_ALONE, MALA, TRIAL_CHAINS, WANTED, courses, nearest_step
from llc_core.studies.risk.predictors import LONGER
from llc_core.studies.risk.task import SemiSynthetic, semi_synthetic

TEST_SHARE = 0.2
NO_FILES = (
    "This item needs tables of the UCI repository; give the folder of their files with --uci, or take --size small."
)
NEAREST = 0.1
"""How far from the wanted acceptance that of the chosen step may be: half of what a factor √2 of the step does to it."""
RATIO = 1.5
"""By so much the distances from the Bayes risk of two widths may differ, in geometric mean over the looks."""
PRODUCTS, SOLVED, UNITS, NORMALS, CALL, MOVE = 2.5e10, 5e9, 3e7, 7e7, 1e-3, 2.5e-3
"""Of one core: operations in products and where equations are solved, values of units, and normal numbers, all a second; seconds
of a step, and of a move of the exact chains, besides."""
FOLLOWED = (MALA, DESCENT, LOSS_ALONE)


@dataclass(frozen=True)
class Case:
    """What has a step size of its own.  hidden: widths of the hidden layers."""

    table: str
    likelihood: str
    hidden: tuple[int, ...]

    @property
    def network(self) -> str:
        return f"H = {self.hidden[0]}, L = {len(self.hidden)}"

    @property
    def data(self) -> str:
        return f"{SHOWN.get(self.table, self.table)}, {self.likelihood}"

    def __str__(self) -> str:
        return f"{self.data}, {self.network}"


def names_of(options: Sequence[str]) -> Any:
    """What reads a list of some of these."""

    def read(label: str, value: Any) -> tuple[str, ...]:
        found = tuple(choice(label, each, tuple(options)) for each in value) if is_list(value) else ()
        if not found or len(set(found)) < len(found):
            raise ValueError(f"{label} is {short(value)}; give some of {', '.join(options)}, each once.")
        return found

    return read


def shapes(label: str, value: Any) -> tuple[tuple[int, ...], ...]:
    if not is_list(value) or not len(value) or not all(is_list(each) and len(each) for each in value):
        raise ValueError(f"{label} is {short(value)}; give lists of the hidden layers' widths, as [[50, 50]].")
    found = tuple(tuple(whole(label, width, 1) for width in each) for each in value)
    if any(len(set(each)) > 1 for each in found):
        raise ValueError(f"{label} is {short(value)}; give all hidden layers of a network the same width.")
    return found


@register
@dataclass(frozen=True)
class RiskCourses(Study):
    """show: "risks", a table of risks; "steps", one of step sizes and acceptance; "courses", risks by iteration, as a figure.

    tables: of scikit-learn or, by their names, of the UCI repository.  hidden: widths of the hidden layers of each network.
    networks: θ₀ that make targets, each a task.  rows: of a table, at most; a fifth is held out.  chains: of every way.
    looks: numbers of iterations, the last one is that of a run.  grid: values of η, where the step is η/(2nH), of which a table
    takes the one with acceptance nearest .7 in so many iterations as `trial`, on its first task.
    exact_up_to: the most rows to learn from with which the Bayes risk is worked out.  moves: of the chains behind it.
    close: by how much two risks may differ that are called equal.
    """

    show: str = hyper("risks", choices=("risks", "steps", "courses"))
    tables: tuple[str, ...] = hyper(("diabetes",), read=names_of((*TABULAR, *UCI)))
    likelihoods: tuple[str, ...] = hyper(("gaussian",), read=names_of(tuple(LIKELIHOODS)))
    hidden: tuple[tuple[int, ...], ...] = hyper(((20, 20),), read=shapes)
    networks: int = hyper(8, 2, 1000)
    rows: int = hyper(60, 10, 12_000)
    chains: int = hyper(50, 2, 10_000)
    looks: tuple[float, ...] = hyper((1, 10, 100, 600), read=rising("numbers of iterations", 2, low=1))
    grid: tuple[float, ...] = hyper((0.05, 0.07, 0.1, 0.14), read=rising("values of η", 2, above=0))
    trial: int = hyper(100, 2, 1_000_000)
    exact_up_to: int = hyper(0, 0, 12_000)
    moves: int = hyper(400, 100, 1_000_000)
    close: float = hyper(0.003, 0.0, 10.0, open_low=True)

    @property
    def cases(self) -> list[Case]:
        return [Case(*each) for each in product(self.tables, self.likelihoods, self.hidden)]

    @property
    def iterations(self) -> list[int]:
        return [round(look) for look in self.looks]

    def cost(self) -> Cost:
        last, seconds, megabytes = self.iterations[-1], 0.0, 0.0
        for case in self.cases:
            rows, columns = _shape(case.table)
            n, widths = round((1 - TEST_SHARE) * min(rows, self.rows)), (columns, *case.hidden, 1)
            weights = Layout(widths).dim
            steps = self.chains * last * self.networks
            # MALA and two ways of gradient descent; each try of a step is of half the length at most
            gradients = 3 * steps + TRIAL_CHAINS * self.trial * math.log2(len(self.grid))
            each = n * (6.0 * weights / PRODUCTS + sum(case.hidden) / UNITS)
            seconds += each * gradients + weights * steps / NORMALS + 3 * last * self.networks * CALL
            if n <= self.exact_up_to:
                regression = n**2 * (2.0 * case.hidden[-1] + n / 3) / SOLVED
                seconds += LONGER * self.moves * self.networks * (EXACT_CHAINS * (each + regression) + MOVE)
            megabytes = max(megabytes, 8e-6 * self.chains * (4 * n * (sum(widths) + 1) + 10 * weights))
        words = (
            f"{listed(self.tables)} with {' and '.join(self.likelihoods)} noise, {len(self.hidden)} shapes of networks and "
            f"{self.networks} θ₀ each; {self.chains} chains of {last:,} iterations, and as many of gradient descent"
        )
        return Cost(seconds, 300 + megabytes, words)

    def in_place_of(self, printed: Study) -> str:
        theirs = printed.tables if isinstance(printed, RiskCourses) else self.tables
        return "" if set(theirs) == set(self.tables) else f"{listed(self.tables)} in place of {listed(theirs)}"

    def run(self, at: Place) -> Found:
        if at.uci is None and any(name in UCI for name in self.tables):
            raise ValueError(NO_FILES)
        tables = {name: _table(name, at.uci) for name in self.tables}
        rows = {case: self._rows(case, tables[case.table], at) for case in self.cases}
        seen = {case: CaseRisks(self, found) for case, found in rows.items()}
        claims = [claim for case, each in seen.items() for claim in self._claims(case, each)]
        if self.show == "courses":
            claims += [claim for pair in combinations(seen, 2) for claim in self._compared(*pair, seen)]
        numbers = {str(case): {"step η": found[0]["eta"], "networks": found} for case, found in rows.items()}
        table = [f"{case}: {each.told(self.show)}" for case, each in seen.items()]
        draw = (lambda: self._figure(seen)) if self.show == "courses" else None
        return Found(claims, numbers, draw, table)

    def _rows(self, case: Case, table: Table, at: Place) -> list[Mapping[str, Any]]:
        """Of each θ₀."""

        def task(seed: int) -> SemiSynthetic:
            options: dict[str, Any] = {"rows": self.rows, "test_share": TEST_SHARE, "likelihood": case.likelihood}
            return semi_synthetic(table, case.hidden, seed=seed, **options)

        def step() -> Mapping[str, Any]:
            return {"eta": nearest_step(task(0).problem, self.grid, self.trial, 0)}

        about = [case.table, case.likelihood, case.hidden, self.rows]
        eta = at.part(["nearest step", *about, self.grid, self.trial], step, f"{case}: step size")["eta"]

        def of(seed: int) -> Mapping[str, Any]:
            def make() -> Mapping[str, Any]:
                one = task(seed)
                moves = self.moves if one.problem.n <= self.exact_up_to else 0
                found = courses(one, eta, self.chains, self.iterations, moves, seed)
                told = {"eta": eta, "noise": one.noise, "acceptance": found.acceptance}
                told |= {
                    name: {way: each.tolist() for way, each in getattr(found, name).items()}
                    for name in ("risks", "gaps")
                }
                return told | ({"bayes": found.bayes, "r_hat": found.r_hat} if moves else {})

            asked = ["risk courses", *about, eta, self.chains, self.iterations, self.exact_up_to, self.moves, seed]
            return at.part(asked, make, f"{case}: network {seed + 1} of {self.networks}")

        return [of(seed) for seed in range(self.networks)]

    def _claims(self, case: Case, seen: CaseRisks) -> Iterator[Claim]:
        if self.show == "steps":
            text = f"{case}: a step of the grid has an acceptance near {WANTED:g}"
            yield near(text, seen.acceptance, WANTED, NEAREST, "wanted")
            return
        for way in (DESCENT, LOSS_ALONE):
            place = seen.best(way)
            stopped = "the end of the run" if place == len(self.looks) - 1 else f"iteration {self.iterations[place]}"
            over = Measured.of(seen.values[MALA][:, -1] - seen.values[way][:, place])
            text = f"{case}: MALA's risk is at most {self.close:g} above that of {way} at its best stopping, {stopped}"
            yield at_most(text, over, self.close)
        if seen.exact:
            gap = at_most(f"{case}: MALA's risk is within {self.close:g} of the Bayes risk", seen.last, self.close)
            # chains that do not agree make the gap too large, so that it bounds the right one from above
            holds = gap.holds or (False if gap.holds is False and seen.r_hat < SETTLED else None)
            yield Claim(gap.text, holds, f"{gap.found}, R-hat of the exact chains {seen.r_hat:.2f}")

    def _compared(self, one: Case, other: Case, seen: Mapping[Case, CaseRisks]) -> Iterator[Claim]:
        """Of two networks that differ in their width alone, or in their depth alone."""
        if (one.table, one.likelihood) != (other.table, other.likelihood):
            return
        wider, deeper = one.hidden[0] != other.hidden[0], len(one.hidden) != len(other.hidden)
        if wider == deeper:
            return
        what = f"{one.data}: {other.network} and {one.network}"
        text = f"{what} end equally far above the {seen[one].floor}"
        yield near(text, seen[other].last - seen[one].last, 0.0, self.close, "equal")
        if wider:
            ratio = seen[other].distance - seen[one].distance
            text = f"{what} come as near to the {seen[one].floor} by iteration (log ratio of their distances)"
            yield near(text, ratio, 0.0, math.log(RATIO), "equal")

    def _figure(self, seen: Mapping[Case, CaseRisks]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS, QUIET, beside_each_other, line_at

        drawn = []
        for table, likelihood in product(self.tables, self.likelihoods):
            here = {case: each for case, each in seen.items() if (case.table, case.likelihood) == (table, likelihood)}
            named: dict[str, tuple[Any, ...]] = {}
            for case, each in here.items():
                mean, error = each.risks[MALA].mean(axis=0), _errors(each.risks[MALA])
                named[f"{MALA}, {case.network}"] = (self.iterations, mean, np.stack([mean - error, mean + error]))
                named[f"{DESCENT}, {case.network}"] = (self.iterations, each.risks[DESCENT].mean(axis=0))
            noise = next(iter(here.values())).noise
            colors = [color for color in CHAINS for _ in range(2)]
            top = 1.1 * max(float(np.max(curve[1])) for curve in named.values())
            shown: dict[str, Any] = {"logx": True, "logy": True, "ylim": (0.9 * noise, top), "height": 380}
            axes: dict[str, Any] = {
                "xlabel": "iterations",
                "ylabel": "risk (dotted: noise)",
                "title": f"{next(iter(here)).data} noise",
                "legend_position": "top_right",
            }
            floor = line_at(noise, QUIET, "dotted")
            drawn.append(curves(named, floor, colors, ("solid", "dashed"), **shown, **axes))
        return beside_each_other(*drawn)


class CaseRisks:
    """Of one case, over its R networks: risks, way → [R, K] at the looks; values: the same of gaps where they are known."""

    def __init__(self, study: RiskCourses, rows: Sequence[Mapping[str, Any]]):
        self.study, self.exact = study, "bayes" in rows[0]
        self.risks = {way: np.array([row["risks"][way] for row in rows]) for way in FOLLOWED}
        self.values = self.risks
        if self.exact:
            self.values = {way: np.array([row["gaps"][way] for row in rows]) for way in FOLLOWED}
            self.bayes = Measured.of([row["bayes"] for row in rows])
            self.r_hat = max(row["r_hat"] for row in rows)
        self.noise, self.eta = rows[0]["noise"], rows[0]["eta"]
        self.acceptance = Measured.of([row["acceptance"] for row in rows])
        self.floor = "Bayes risk" if self.exact else "noise"

    def best(self, way: str) -> int:
        """The look of the least risk, averaged over the networks and, where that is known, over the posterior of each task."""
        return int(self.values[way].mean(axis=0).argmin())

    @property
    def above(self) -> np.ndarray:
        """[R, K], of MALA: above the Bayes risk, or where it is not known above the noise."""
        return self.values[MALA] if self.exact else self.values[MALA] - self.noise

    @property
    def last(self) -> Measured:
        return Measured.of(self.above[:, -1])

    @property
    def distance(self) -> Measured:
        """Mean logarithm over the looks; what is far below `close` counts as no distance."""
        return Measured.of(np.log(np.maximum(self.above, 0) + self.study.close).mean(axis=1))

    def told(self, show: str) -> str:
        if show == "steps":
            return f"η {self.eta:g}, acceptance {self.acceptance}"
        parts = [f"{MALA} {_printed(self.risks[MALA][:, -1])}"]
        for way, short_name in ((DESCENT, "descent"), (LOSS_ALONE, "of the loss alone")):
            place = self.best(way)
            parts.append(
                f"{short_name} {_printed(self.risks[way][:, place])} (stopped at {self.study.iterations[place]:,})"
            )
        parts += [f"Bayes {_printed_mean(self.bayes)}"] if self.exact else []
        return ", ".join([*parts, f"noise {self.noise:.3f}"])


def _printed(values: np.ndarray) -> str:
    return _printed_mean(Measured.of(values))


def _printed_mean(found: Measured) -> str:
    return f"{found.value:.4f} ± {found.se:.4f}"


def _errors(values: np.ndarray) -> np.ndarray:
    """Standard errors [K] of means over [R, K]."""
    return np.asarray(values.std(axis=0, ddof=1) / len(values) ** 0.5)


def listed(tables: Sequence[str]) -> str:
    """Names as a reader sees them: "a, b and c"."""
    *first, last = [SHOWN.get(name, name) for name in tables]
    return f"{', '.join(first)} and {last}" if first else last


def _table(name: str, folder: Path | None) -> Table:
    return tabular(name) if folder is None or name in TABULAR else uci(name, folder)


def _shape(name: str) -> tuple[int, int]:
    """Rows and columns of the inputs."""
    if name in UCI:
        return UCI[name].rows, UCI[name].columns - UCI[name].targets
    rows, columns = tabular(name).values.shape
    return rows, columns
