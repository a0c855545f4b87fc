"""The panel "λ̂ against λ": twelve landscapes whose λ is known, figure 7 of Lau, Murfet & Wei."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d, Slope

from app.pages.landscapes.panels.points import DRAW_TICKS, FEW, summary
from app.runs.job import Job, State
from app.runs.tasks import NewestJob
from app.session.job_panel import JobPanel
from app.style import theme
from app.style.figures import house_figure
from app.style.layout import card, one_of, plotted
from app.style.legend import legend
from llc_core import Run, RunConfig, planar_landscape
from llc_core.sweeps.csv_tables import table_csv

HEIGHT = 300
ROWS = (
    ((1, 3), (0, 0)),
    ((1, 2), (0, 0)),
    ((0, 1), (0, 0)),
    ((1, 0), (0, 0)),
    ((1, 1), (0, 0)),
    ((1, 3), (1, 0)),
    ((2, 3), (0, 4)),
    ((3, 1), (1, 1)),
    ((3, 1), (3, 3)),
    ((2, 1), (2, 3)),
    ((4, 1), (6, 3)),
    ((1, 1), (1, 1)),
)
"""Exponents k of ρ and h of the prior: the rows of both tables of the paper, as in lab/papers/001/figure-7.toml."""
SETS, STEPS = 10, 10_000
"""Data sets of each row, and steps of the one chain of each, as in print."""
STEP_SIZES = {"ε = 1e-4": 1e-4, "5e-4": 5e-4}
HIGHEST = 1.4
INVITATION = (
    "Twelve landscapes w₁^k₁·w₂^k₂, some with a prior that vanishes on an axis. One chain of SGLD runs on each of "
    f"{SETS} data sets."
)


@dataclass(frozen=True)
class MonomialsProgress:
    """Of each row: λ, the exact value at this n, [12] each, and λ̂ of every data set so far, [12, SETS]."""

    steps: int
    truth: np.ndarray
    exact: np.ndarray
    llc: np.ndarray
    notes: tuple[str, ...] = ()


class MonomialsJob(NewestJob):
    """All rows side by side."""

    def __init__(self, step_size: float, steps: int = STEPS, seed: int = 0):
        self._runs, truth, exact = [], [], []
        for k, h in ROWS:
            problem = planar_landscape("normal_crossing", k=list(k), h=list(h), data_sets=SETS, seed=seed)
            config = RunConfig(
                sampler={"name": "SGLD", "step_size": step_size},
                chains=SETS,
                steps=steps,
                burn_in=0,
                localization=1.0,
                seed=seed,
                dtype="float64",
            )
            self._runs.append(Run(config, problem))
            assert problem.learning_coefficient is not None
            truth.append(float(problem.learning_coefficient))
            exact.append(problem.one_sided_llc_at(problem.n_beta, 1.0))
        self._truth, self._exact = np.array(truth), np.array(exact, float)

    @property
    def finished(self) -> bool:
        return all(run.finished for run in self._runs)

    def advance(self, steps: int) -> MonomialsProgress:
        last = [run.advance(steps) for run in self._runs]
        return MonomialsProgress(last[0].steps, self._truth, self._exact, np.array([each.llc for each in last]))


class MonomialsPanel(JobPanel):
    """`found` holds the values of the last run."""

    stopped = ""
    described = "monomials_figure"

    def __init__(self) -> None:
        super().__init__("Run the twelve", INVITATION, ticks=DRAW_TICKS, variant="outlined", margin=(8, 0, 0, 0))
        self.found: MonomialsProgress | None = None
        self.plot = house_figure(
            "monomials_figure", HEIGHT, x_range=Range1d(0, 1.1), y_range=Range1d(0, HIGHEST), x_axis_label="true λ",
            y_axis_label="mean λ̂",
        )  # fmt: skip
        self.source = ColumnDataSource({name: [] for name in ("x", "y", "low", "high", "exact")}, name="monomials")
        self.plot.add_layout(Slope(gradient=1, y_intercept=0, line_color=theme.LOCAL, line_width=2))
        self.plot.scatter(
            "x", "exact", source=self.source, marker="dash", size=18, line_color=theme.EXPECTED, line_width=2.5
        )
        self.plot.segment("x", "low", "x", "high", source=self.source, line_color=theme.ESTIMATE, line_width=2.5)
        self.plot.scatter("x", "y", source=self.source, size=9, fill_color=theme.ESTIMATE, line_color="white")
        self.step = one_of(STEP_SIZES, 1e-4)
        entries = [
            (f'<path d="M13 0v14" stroke="{theme.ESTIMATE}" stroke-width="2.5"/><circle cx="13" cy="7" r="4" fill="{theme.ESTIMATE}"/>', "λ̂ ± 2 s.e."),
            (f'<path d="M4 7h18" stroke="{theme.EXPECTED}" stroke-width="2.5"/>', "exact at this n"),
            (f'<path d="M3 13L23 1" stroke="{theme.LOCAL}" stroke-width="2"/>', "λ̂ = λ"),
        ]  # fmt: skip
        self.view = card(
            legend("λ̂ against λ", entries, self.described),
            plotted(self.plot),
            self.bar(self.step, margin=(4, 0, 0, 0)),
            self.words,
        )

    def begin(self) -> Callable[[], Job]:
        self.say("Starting.")
        return partial(MonomialsJob, self.step.value)

    def receive(self, state: State, items: list[Any]) -> None:
        if state.snapshot is not None and state.snapshot.steps >= FEW:
            self.found = state.snapshot
            self._draw(state.snapshot)

    def _draw(self, found: MonomialsProgress) -> None:
        mean, se, _ = np.array([summary(row) for row in found.llc]).T
        self.source.data = {
            "x": found.truth, "y": mean, "low": mean - 2 * se, "high": mean + 2 * se, "exact": found.exact,
        }  # fmt: skip
        near = np.abs(mean - found.exact) <= 2 * se
        words = [
            f"Step {found.steps:,} of {STEPS:,}.",
            f"{near.sum()} of {len(ROWS)} means are within 2 s.e. of the exact value.",
        ]
        above = int((mean > HIGHEST).sum())
        if above:
            words.append(f"Means above the frame: {above}. There a step threw chains off the wall of a prior.")
        dead = int((~np.isfinite(found.llc)).sum())
        if dead:
            words.append(f"{dead} chains overflowed.")
        self.say(" ".join(words))


def monomials_csv(found: MonomialsProgress) -> str:
    """One row for each landscape: exponents, λ, the exact value at this n, and λ̂ of each data set."""
    rows = (
        [*k, *h, float(truth), float(exact), *llc.tolist()]
        for (k, h), truth, exact, llc in zip(ROWS, found.truth, found.exact, found.llc, strict=True)
    )
    head = ["k_1", "k_2", "h_1", "h_2", "llc", "exact", *(f"llc_hat_{i + 1}" for i in range(SETS))]
    return table_csv(head, rows)
