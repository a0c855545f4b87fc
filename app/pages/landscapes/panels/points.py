"""The panel "U against V": λ̂ of many data sets at two points of one landscape, figure 1 of Lau, Murfet & Wei."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d, Span

from app.pages.landscapes.texts import with_sd
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
AT = ("U", "V")
COLORS = {"U": theme.ESTIMATE, "V": "#E69F00"}
TRUTH = {"U": 0.5, "V": 0.25}
EDGES = np.linspace(-0.1, 1.3, 43)
STEP = 1e-4
SETS, LENGTHS, SPRINGS = (100, 200, 500), (5_000, 40_000), (0.2, 1.0, 5.0)
FEW = 32
"""Steps before which there is nothing to draw."""
DRAW_TICKS = 4
_kept: dict[tuple[int, int, float], PointsProgress] = {}
"""The last values of comparisons that have ended, by data sets, steps and γ: there are few, and they are the same for everybody."""
INVITATION = (
    "One chain for each of many data sets: at U on the line, and at V, the singular point. SGLD takes steps of "
    "ε = 1e-4. The first 5,000 steps give the paper's figure."
)


@dataclass(frozen=True)
class PointsProgress:
    """λ̂ of every data set so far, [R] at U and at V."""

    steps: int
    total_steps: int
    llc: dict[str, np.ndarray]
    notes: tuple[str, ...] = ()


class PointsJob(NewestJob):
    """The same data sets at both points, all side by side."""

    def __init__(self, sets: int, steps: int, localization: float, seed: int = 0):
        self._runs = {}
        for at in AT:
            config = RunConfig(
                sampler={"name": "SGLD", "step_size": STEP},
                chains=sets,
                steps=steps,
                burn_in=0,
                localization=localization,
                seed=seed,
                dtype="float64",
            )
            self._runs[at] = Run(config, planar_landscape("line_and_point", at=at, data_sets=sets, seed=seed))

    @property
    def finished(self) -> bool:
        return all(run.finished for run in self._runs.values())

    def advance(self, steps: int) -> PointsProgress:
        last = {at: run.advance(steps) for at, run in self._runs.items()}
        return PointsProgress(last["U"].steps, last["U"].total_steps, {at: last[at].llc for at in AT})


class PointsPanel(JobPanel):
    """`found` holds the values of the last run. `arrive` fills the figure for a visitor who has pressed nothing yet."""

    stopped = ""
    described = "points_figure"

    def __init__(self) -> None:
        super().__init__("Run U and V", INVITATION, ticks=DRAW_TICKS, variant="outlined", margin=(8, 0, 0, 0))
        self.words.min_height = 44
        self.found: PointsProgress | None = None
        self._arrived = False
        self.plot = house_figure(
            "points_figure",
            HEIGHT,
            x_range=Range1d(float(EDGES[0]), float(EDGES[-1])),
            y_range=Range1d(0, 40),
            x_axis_label="λ̂ of one data set",
            y_axis_label="data sets",
        )
        self.sources: dict[str, ColumnDataSource] = {}
        self._means: dict[str, Span] = {}
        for at in AT:
            self._draw_bars(at)
        self.sets = one_of({f"{count} data sets": count for count in SETS}, 200)
        self.length = one_of({"5,000 steps": LENGTHS[0], "40,000": LENGTHS[1]}, LENGTHS[0])
        self.spring = one_of({f"γ = {value:g}": value for value in SPRINGS}, 1.0)
        self.view = card(
            legend(
                "U against V",
                [
                    (_block("U"), "U = (1, 0.3): λ = 1/2"),
                    (_block("V"), "V = (0, 0): λ = 1/4"),
                    ('<path d="M0 7h26" stroke="#8a8f98" stroke-width="2.5"/>', "λ"),
                    ('<path d="M0 7h26" stroke="#8a8f98" stroke-width="2.5" stroke-dasharray="3 4"/>', "mean"),
                ],
                "points_figure",
            ),
            plotted(self.plot),
            self.bar(self.sets, self.length, self.spring, margin=(4, 0, 0, 0)),
            self.words,
        )

    def _draw_bars(self, at: str) -> None:
        """The bars of one point, its λ and its mean."""
        source = ColumnDataSource(_bars(np.zeros(0)), name=f"points_{at}")
        self.plot.quad(
            left="left", right="right", top="top", bottom=0, source=source, fill_color=COLORS[at], fill_alpha=0.5,
            line_color=COLORS[at], line_width=1.5, hatch_pattern="right_diagonal_line" if at == "V" else None,
            hatch_color=COLORS[at], hatch_alpha=0.6, hatch_scale=8,
        )  # fmt: skip
        self.sources[at] = source
        truth = Span(location=TRUTH[at], dimension="height", line_color=COLORS[at], line_width=2.5)
        mean = Span(dimension="height", line_color=COLORS[at], line_width=2.5, line_dash=[3, 4], location=None)
        self.plot.add_layout(truth)
        self.plot.add_layout(mean)
        self._means[at] = mean

    def arrive(self, quiet: bool) -> None:
        """Show the comparison that the buttons describe, once; the first visitor's run of it is kept for those who come later.

        quiet: whether the page's own run has ended. Only then is one begun.
        """
        if self._arrived or self.found is not None or self._handle is not None:
            return
        kept = _kept.get((self.sets.value, self.length.value, self.spring.value))
        if kept is not None:
            self._arrived, self.found = True, kept
            self._scale()
            self._draw(kept)
        elif quiet:
            self._arrived = True
            self._on_button(None)

    def _scale(self) -> None:
        high = 0.2 * self.sets.value
        self.plot.y_range.update(start=0, end=high, reset_start=0, reset_end=high)

    def begin(self) -> Callable[[], Job]:
        self._scale()
        self._asked = self.sets.value, self.length.value, self.spring.value
        self.say("Starting.")
        return partial(PointsJob, self.sets.value, self.length.value, self.spring.value)

    def receive(self, state: State, items: list[Any]) -> None:
        if state.snapshot is not None and state.snapshot.steps >= FEW:
            self.found = state.snapshot
            if self.found.steps == self.found.total_steps:
                _kept[self._asked] = self.found
            self._draw(state.snapshot)

    def _draw(self, progress: PointsProgress) -> None:
        parts = [f"Step {progress.steps:,} of {progress.total_steps:,}."]
        top = 0.0
        for at in AT:
            values = progress.llc[at][np.isfinite(progress.llc[at])]
            bars = _bars(values)
            self.sources[at].data = bars
            top = max(top, float(bars["top"].max()))
            mean, se, sd = summary(values)
            self._means[at].location = mean if math.isfinite(mean) else None
            dead = len(progress.llc[at]) - len(values)
            parts.append(with_sd(at, mean, se, sd) + (f" ({dead} chains overflowed)" if dead else "") + ".")
        # During the first steps all values lie in one high bar, and an axis that follows it would be too high afterwards.
        if top > float(self.plot.y_range.end) and 5 * progress.steps > progress.total_steps:
            self.plot.y_range.update(end=1.15 * top, reset_end=1.15 * top)
        gap, error, _ = summary(progress.llc["U"] - progress.llc["V"])
        parts.append(f"On the same data U is above V by {gap:.3f} ± {error:.3f}.")
        self.say(" ".join(parts))


def summary(values: np.ndarray) -> tuple[float, float, float]:
    """Mean, its standard error, and standard deviation, of what is finite."""
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return math.nan, math.nan, math.nan
    sd = float(values.std(ddof=1))
    return float(values.mean()), sd / math.sqrt(len(values)), sd


def points_csv(found: PointsProgress) -> str:
    """One row for each data set: λ̂ at U and at V."""
    rows = zip(range(len(found.llc["U"])), found.llc["U"].tolist(), found.llc["V"].tolist(), strict=True)
    return table_csv(["data_set", "llc_U", "llc_V"], rows)


def _bars(values: np.ndarray) -> dict[str, np.ndarray]:
    """Counts of the values in each bin; values outside the frame are counted in the outermost bars."""
    width = (EDGES[1] - EDGES[0]) / 2
    counts, _ = np.histogram(np.clip(values, EDGES[0] + width, EDGES[-1] - width), EDGES)
    return {"left": EDGES[:-1], "right": EDGES[1:], "top": counts.astype(float)}


def _block(at: str) -> str:
    color = COLORS[at]
    return f'<rect y="1" width="26" height="12" fill="{color}" fill-opacity=".5" stroke="{color}"/>'
