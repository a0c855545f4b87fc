"""The two figures that move: Bokeh sources fed by `stream`, ranges that grow in steps instead of jumping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, Span

from app.runs.history import NewRows
from app.style import theme
from app.style.figures import RunFigure, add, nice_above


class LossFigure(RunFigure):
    """nβ·ΔL of every chain."""

    def __init__(self) -> None:
        super().__init__("nβ (L(w) − L(w₀)), no unit", "losses")
        self._expected = self._line("expected", theme.EXPECTED)
        self.source = ColumnDataSource({"step": []}, name="losses")
        self._chains = 0

    @property
    def answers(self) -> list[Span]:
        return [self._expected]

    def reset(self, chains: int, total_steps: int, burn_in: int, scale: float, expected: float | None) -> None:
        """Empty the figure for a new run. scale: a λ that sets the first range."""
        self.source.data = {"step": np.zeros(0), **{f"c{i}": np.zeros(0) for i in range(chains)}}
        if chains != self._chains:
            self._chains = chains
            self.plot.renderers = []
            alpha = 0.8 if chains <= 4 else 0.4
            for i in range(chains):
                color = theme.CHAINS[i % len(theme.CHAINS)]
                self.plot.line("step", f"c{i}", source=self.source, line_width=1, line_alpha=alpha, line_color=color)
        self.frame(total_steps, burn_in)
        self._expected.location = expected
        high = nice_above(scale + 4 * math.sqrt(max(scale, 0.25)))
        self.y.reset(-0.02 * high, high)

    def expect(self, value: float | None) -> None:
        """Show the expected λ̂, which has just become known."""
        self._expected.location = value

    def stream(self, rows: NewRows) -> None:
        if not len(rows.steps) and not rows.again:
            return
        columns = {f"c{i}": rows.losses[:, i] for i in range(self._chains)}
        add(self.source, {"step": rows.steps.astype(float), **columns}, rows.again)
        finite = rows.losses[np.isfinite(rows.losses)]
        if len(finite):
            # A single spike may lie outside the frame, a lasting level may not.
            low, high = np.quantile(finite, [0.01, 0.99])
            self.y.cover(low if low < 0 else math.inf, high)


class EstimateFigure(RunFigure):
    """Running λ̂ with its error band, the moving average, and the exact values as lines."""

    def __init__(self) -> None:
        super().__init__("λ̂, no unit", "estimates")
        self.recent = ColumnDataSource({"step": [], "recent": []}, name="recent")
        self.source = ColumnDataSource({"step": [], "llc": [], "low": [], "high": []}, name="estimates")
        self.plot.line("step", "recent", source=self.recent, line_width=1.5, line_color=theme.RECENT)
        self._lines = {
            "local": self._line("local", theme.LOCAL),
            "global": self._line("global", theme.GLOBAL),
            "expected": self._line("expected", theme.EXPECTED),
        }
        self.pinned = ColumnDataSource({"step": [], "llc": [], "low": [], "high": []}, name="pinned")
        self.plot.varea("step", "low", "high", source=self.pinned, fill_color=theme.PINNED, fill_alpha=0.22)
        self.plot.line("step", "llc", source=self.pinned, line_width=3, line_color=theme.PINNED, line_dash=[6, 3])
        self.plot.varea("step", "low", "high", source=self.source, fill_color=theme.ESTIMATE, fill_alpha=0.28)
        self.plot.line("step", "llc", source=self.source, line_width=3, line_color=theme.ESTIMATE)

    @property
    def answers(self) -> list[Span]:
        return list(self._lines.values())

    def reset(
        self,
        total_steps: int,
        burn_in: int,
        values: dict[str, float | None],
        around: Sequence[float] | None = None,
    ) -> None:
        """Empty the figure. values: "local", "global", "expected" where known.  around: what the first range holds, if not these."""
        self.recent.data = {"step": np.zeros(0), "recent": np.zeros(0)}
        self.source.data = {name: np.zeros(0) for name in ("step", "llc", "low", "high")}
        self.frame(total_steps, burn_in)
        for name, span in self._lines.items():
            span.location = values.get(name)
        known = around or [v for v in values.values() if v is not None] or [1.0]
        self.y.reset(*first_range(known))

    def expect(self, value: float | None) -> None:
        """Show the expected λ̂, which has just become known."""
        self._lines["expected"].location = value
        if value is not None and self._lines["expected"].visible:  # else the range would tell
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
            # The moving average starts at 0 and rises into the frame. The frame must only follow it upwards.
            self.y.cover(math.inf, float(np.nanmax(rows.recent)))

    def curve(self) -> RunningEstimate:
        """The running estimate as it is now."""
        data = self.source.data
        return RunningEstimate(*(np.array(data[name], dtype=float) for name in ("step", "llc", "low", "high")))

    def show_pinned(self, curve: RunningEstimate | None) -> None:
        """Lay another run's estimate under this one's; None takes it away. Call after `reset`."""
        empty = np.zeros(0)
        one = curve if curve is not None else RunningEstimate(empty, empty, empty, empty)
        self.pinned.data = {"step": one.at, "llc": one.llc, "low": one.low, "high": one.high}
        finite = one.llc[len(one.llc) // 4 :]
        finite = finite[np.isfinite(finite)]
        if len(finite):
            self.y.cover(float(finite.min()), float(finite.max()))
            if float(one.at[-1]) > float(self.plot.x_range.end):
                self.plot.x_range.update(end=float(one.at[-1]), reset_end=float(one.at[-1]))


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
