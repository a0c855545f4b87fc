"""The running estimate: Bokeh sources fed by `stream`, ranges that grow in steps instead of jumping."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource

from app.runs.history import NewRows
from app.style import theme
from app.style.figures import RunFigure, add, lean
from app.style.numbers import number


class EstimateFigure(RunFigure):
    """Running λ̂ with its error band, the moving average, and the exact values as lines."""

    def __init__(self) -> None:
        super().__init__("estimate λ̂", "estimates")
        self.recent = ColumnDataSource({"step": [], "recent": []}, name="recent")
        self.source = ColumnDataSource({"step": [], "llc": [], "low": [], "high": []}, name="estimates")
        self.plot.line("step", "recent", source=self.recent, line_width=1.5, line_color=theme.RECENT)
        for kind in ("local", "global", "expected"):
            self._line(kind, theme.TRUTH)
        self.pinned: ColumnDataSource | None = None
        """Made when a run is first pinned: a page then opens sooner."""
        self.plot.varea("step", "low", "high", source=self.source, fill_color=theme.ESTIMATE, fill_alpha=0.28)
        self.plot.line("step", "llc", source=self.source, line_width=3, line_color=theme.ESTIMATE)

    def reset(
        self,
        total_steps: int,
        burn_in: int,
        values: Mapping[str, float | None],
        around: Sequence[float] | None = None,
    ) -> None:
        """Empty the figure. values: "local", "global", "expected" where known.  around: what the first range holds, if not these."""
        self.recent.data = {"step": np.zeros(0), "recent": np.zeros(0)}
        self.source.data = {name: np.zeros(0) for name in ("step", "llc", "low", "high")}
        self.frame(total_steps, burn_in)
        for kind in self._truths:
            # A second line over the first would only look like a fault.
            self._tell(kind, None if kind == "global" and one_truth(values) else values.get(kind))
        known = around or [v for v in values.values() if v is not None] or [1.0]
        self.y.reset(*first_range(known))

    def expect(self, value: float | None) -> None:
        """Show the expected λ̂, which has just become known."""
        self._tell("expected", value)
        if value is not None and self._told:  # else the range would tell
            self.y.cover(0.9 * value, 1.1 * value)

    def stream(self, rows: NewRows) -> None:
        if len(rows.steps) or rows.again:
            add(self.recent, {"step": rows.steps.astype(float), "recent": rows.recent}, rows.again)
        if len(rows.at) or rows.again:
            low, high = rows.llc - 2 * rows.se, rows.llc + 2 * rows.se
            add(self.source, {"step": rows.at, "llc": rows.llc, "low": low, "high": high}, rows.again)
        if len(rows.at):
            self.y.cover(float(np.nanmin(rows.llc)), float(np.nanmax(rows.llc)))
        if len(rows.recent) and np.isfinite(rows.recent).any():
            # The moving average starts at 0 and rises into the frame, which follows it only upwards, and below zero.
            least = float(np.nanmin(rows.recent))
            self.y.cover(least if least < 0 else math.inf, float(np.nanmax(rows.recent)))

    def newest(self) -> float:
        """The running λ̂ as it is drawn now, before there is one the moving average; nan before that."""
        for values in (self.source.data["llc"], self.recent.data["recent"]):
            seen = np.asarray(values, dtype=float)
            seen = seen[np.isfinite(seen)]
            if len(seen):
                return float(seen[-1])
        return math.nan

    def summary(self) -> str:
        """The figure in a sentence; empty while there is nothing to see."""
        if not len(self.source.data["step"]):
            return ""
        at, llc, high = (float(self.source.data[name][-1]) for name in ("step", "llc", "high"))
        known = [
            f"{name} is {number(float(line.location))}"
            for name, line in zip(("λ at w0", "the smallest λ", "the expected λ̂"), self.truths, strict=True)
            if line.location is not None
        ]
        error = number((high - llc) / 2)
        return ", ".join([f"At step {int(at):,} the running estimate is {number(llc)} ± {error}", *known]) + "."

    def curve(self) -> RunningEstimate:
        """The running estimate as it is now."""
        data = self.source.data
        return RunningEstimate(*(np.array(data[name], dtype=float) for name in ("step", "llc", "low", "high")))

    def _add_pinned(self) -> ColumnDataSource:
        source = ColumnDataSource({"step": [], "llc": [], "low": [], "high": []}, name="pinned")
        recent, *own = self.plot.renderers
        below = [
            self.plot.varea("step", "low", "high", source=source, fill_color=theme.PINNED, fill_alpha=0.22),
            self.plot.line("step", "llc", source=source, line_width=3, line_color=theme.PINNED, line_dash=[6, 3]),
        ]
        self.plot.renderers = [recent, *below, *own]
        lean(self.plot)
        return source

    def show_pinned(self, curve: RunningEstimate | None) -> None:
        """Lay another run's estimate under this one's; None takes it away. Call after `reset`."""
        if self.pinned is None:
            if curve is None:
                return
            self.pinned = self._add_pinned()
        empty = np.zeros(0)
        one = curve if curve is not None else RunningEstimate(empty, empty, empty, empty)
        self.pinned.data = {"step": one.at, "llc": one.llc, "low": one.low, "high": one.high}
        finite = one.llc[len(one.llc) // 4 :]
        finite = finite[np.isfinite(finite)]
        if len(finite):
            self.y.cover(float(finite.min()), float(finite.max()))
            if float(one.at[-1]) > float(self.plot.x_range.end):
                self.plot.x_range.update(end=float(one.at[-1]), reset_end=float(one.at[-1]))


def one_truth(values: Mapping[str, float | None]) -> bool:
    """Whether λ at w0 is the least of all: one line and one label will do."""
    return values.get("local") is not None and values.get("local") == values.get("global")


def first_range(known: Sequence[float]) -> tuple[float, float]:
    """A range around the exact values in which a difference of a few percent can be seen."""
    low, high = min(known), max(known)
    room = max(0.35 * high, 1.2 * (high - low))
    return max(0.0, low - room), high + 0.8 * room


@dataclass(frozen=True)
class RunningEstimate:
    """Running estimate: at, llc, low, high, each [K]."""

    at: np.ndarray
    llc: np.ndarray
    low: np.ndarray
    high: np.ndarray
