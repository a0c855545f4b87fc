"""nβ·ΔL along the chains: how they lie together, one of them, the others on demand, and how often each value occurs.

Ten noisy curves over each other are a slab of colour. The figure draws their median and the band of their middle 80%.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.events import MouseEnter, MouseLeave, Tap
from bokeh.models import ColumnDataSource

from app.runs.history import NewRows
from app.style import theme
from app.style.figures import RunFigure, add, nice_above
from app.style.numbers import number

BLOCK = 8
"""Rows of all chains that one point of the band is made of."""
QUANTILES = (0.1, 0.5, 0.9)
BINS = 44
STRIP = (1.04, 1.3)
"""Where the histogram stands on the axis of steps, in lengths of the run."""
SHOWN_CHAIN = 0
"""The chain that is drawn on its own: any would do, and the first is there in every run."""


class LossFigure(RunFigure):
    """The pointer over the figure, or a tap, shows all chains."""

    def __init__(self) -> None:
        super().__init__("excess loss × nβ", "losses")
        self._line("expected", theme.EXPECTED)
        self.source = ColumnDataSource({"step": []}, name="losses")
        self.band = ColumnDataSource(_table(np.zeros((0, 4))), name="band")
        self.marginal = ColumnDataSource(_bars(np.zeros(0), np.zeros(0), 1), name="marginal")
        self.mean = ColumnDataSource({"x": [], "y": []}, name="marginal_mean")
        self.gamma = ColumnDataSource({"x": [], "y": []}, name="gamma")
        self._chains, self._burn_in, self._total = 0, 0, 1
        self._waiting = np.zeros((0, 1))
        self._others: list[Any] = []
        self._draw()
        self.plot.on_event(MouseEnter, lambda event: self.show_chains(True))
        self.plot.on_event(MouseLeave, lambda event: self.show_chains(False))
        self.plot.on_event(Tap, lambda event: self.show_chains(not any(line.visible for line in self._others)))

    def _draw(self) -> None:
        plot = self.plot
        one = f"c{SHOWN_CHAIN}"
        plot.line("step", one, source=self.source, line_width=1, line_alpha=0.4, line_color=theme.ONE_CHAIN)
        plot.varea("step", "low", "high", source=self.band, fill_color=theme.ESTIMATE, fill_alpha=0.35)
        plot.line("step", "median", source=self.band, line_width=2.5, line_color=theme.ESTIMATE)
        plot.quad(
            "left", "right", "top", "bottom", source=self.marginal, fill_color=theme.ESTIMATE, fill_alpha=0.4,
            line_color=None,
        )  # fmt: skip
        plot.line("x", "y", source=self.mean, line_width=2.5, line_color=theme.ESTIMATE)
        plot.line(
            "x", "y", source=self.gamma, line_width=2, line_color=theme.PREDICTED, line_dash=theme.DASHES["predicted"]
        )

    def reset(self, chains: int, total_steps: int, burn_in: int, scale: float, expected: float | None) -> None:
        """Empty the figure for a new run. scale: a λ that sets the first range."""
        if chains != self._chains:
            self.plot.renderers = [r for r in self.plot.renderers if r not in self._others]
            self._others = []
        self._chains = chains
        self.source.data = {"step": np.zeros(0), **{f"c{i}": np.zeros(0) for i in range(chains)}}
        self.band.data = _table(np.zeros((0, 4)))
        self._waiting = np.zeros((0, 1 + chains))
        self._empty_histogram()
        self.frame(total_steps, burn_in)
        self._tell("expected", expected)
        high = nice_above(scale + 4 * math.sqrt(max(scale, 0.25)))
        self.y.reset(-0.02 * high, high)

    def frame(self, total_steps: int, burn_in: int) -> None:
        super().frame(total_steps, burn_in)
        self._total, self._burn_in = total_steps, burn_in
        end = STRIP[1] * total_steps
        self.plot.x_range.update(end=end, reset_end=end)
        self.plot.xaxis.bounds = (0, total_steps)

    def expect(self, value: float | None) -> None:
        """Show the expected λ̂, which has just become known."""
        self._tell("expected", value)

    def show_chains(self, wanted: bool) -> None:
        """Draw every chain, or only the one. They are made when they are first asked for: a page then opens sooner."""
        if wanted and not self._others:
            self._others = [
                self.plot.line(
                    "step", f"c{i}", source=self.source, line_width=1, line_alpha=0.55,
                    line_color=theme.CHAINS[i % len(theme.CHAINS)],
                )
                for i in range(self._chains) if i != SHOWN_CHAIN
            ]  # fmt: skip
        for line in self._others:
            line.visible = wanted

    def stream(self, rows: NewRows) -> None:
        if len(rows.steps) or rows.again:
            columns = {f"c{i}": rows.losses[:, i] for i in range(self._chains)}
            steps = rows.steps.astype(float)
            add(self.source, {"step": steps, **columns}, rows.again)
            self._add_band(np.column_stack([steps, rows.losses]), rows.again)
            finite = rows.losses[np.isfinite(rows.losses)]
            if len(finite):
                # A single spike may lie outside the frame, a lasting level may not.
                low, high = np.quantile(finite, [0.01, 0.99])
                self.y.cover(low if low < 0 else math.inf, high)
        if len(rows.at):
            self._draw_histogram(float(rows.llc[-1]))

    def summary(self) -> str:
        """The figure in a sentence; empty while there is nothing to see."""
        if not len(self.band.data["step"]):
            return ""
        low, middle, high = (number(float(self.band.data[name][-1])) for name in ("low", "median", "high"))
        step = int(self.band.data["step"][-1])
        return f"At step {step:,} the median of nβ times the excess loss is {middle}. 80% of the values lie between {low} and {high}."

    def _add_band(self, rows: np.ndarray, again: bool) -> None:
        """rows [T, 1 + C]: step and losses. Whole blocks are drawn; the rest waits."""
        waiting = rows if again else np.concatenate([self._waiting, rows])
        count = len(waiting) // BLOCK
        self._waiting = waiting[count * BLOCK :]
        blocks = waiting[: count * BLOCK].reshape(count, BLOCK, waiting.shape[1])
        points = np.column_stack(
            [blocks[:, :, 0].mean(1), _quantiles(blocks[:, :, 1:].reshape(count, BLOCK * self._chains))]
        )
        if count or again:
            add(self.band, _table(points), again)

    def counted(self) -> np.ndarray:
        """The values that the histogram counts, [K]: after burn-in, of the chains that are alive."""
        data = self.source.data
        late = np.asarray(data["step"]) >= self._burn_in
        table = np.column_stack([np.asarray(data[f"c{i}"]) for i in range(self._chains)])[late]
        living = table[:, np.isfinite(table).all(0)]
        return living.ravel()

    def _draw_histogram(self, llc: float) -> None:
        edges = np.linspace(float(self.y.range.start), float(self.y.range.end), BINS + 1)
        counts, _ = np.histogram(self.counted(), edges)
        self.marginal.data = _bars(counts, edges, self._total)
        self.gamma.data = _gamma(llc, counts, edges, self._total)
        ends = [STRIP[0] * self._total, STRIP[1] * self._total]
        self.mean.data = {"x": ends, "y": [llc, llc]}

    def _empty_histogram(self) -> None:
        self.marginal.data = _bars(np.zeros(0), np.zeros(0), 1)
        self.mean.data = self.gamma.data = {"x": [], "y": []}


def _quantiles(values: np.ndarray) -> np.ndarray:
    """[K, 3] of values [K, R]; nan where no chain lives."""
    if not len(values):
        return np.zeros((0, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanquantile(np.where(np.isfinite(values), values, np.nan), QUANTILES, axis=1).T


def _table(points: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(("step", "low", "median", "high"), points.T, strict=True))


def _bars(counts: np.ndarray, edges: np.ndarray, total: int) -> Mapping[str, np.ndarray]:
    """Bars that lie, the longest as long as the strip."""
    there = counts > 0
    left = STRIP[0] * total
    lengths = (STRIP[1] - STRIP[0]) * total * counts[there] / max(float(counts.max(initial=0)), 1.0)
    low, high = (edges[:-1][there], edges[1:][there]) if len(edges) else (counts, counts)
    return {"left": np.full(len(low), left), "right": left + lengths, "bottom": low, "top": high}


def _gamma(llc: float, counts: np.ndarray, edges: np.ndarray, total: int) -> Mapping[str, np.ndarray]:
    """What a settled chain of this λ̂ would count: nβ·ΔL has a Gamma(λ, 1) distribution as n grows, whatever the landscape.

    Source: Watanabe 2009, where the posterior density of K near w0 is of order K^(λ−1)·exp(−nβK). Nothing where λ̂ is not above 0.
    """
    if not (llc > 0 and counts.any()):
        return {"x": np.zeros(0), "y": np.zeros(0)}
    y = np.linspace(max(float(edges[0]), 0.0), float(edges[-1]), 120)[1:]
    density = np.exp((llc - 1) * np.log(y) - y - math.lgamma(llc))
    expected = counts.sum() * (edges[1] - edges[0]) * density
    length = np.minimum(expected / counts.max(), 1.15)  # below λ = 1 it has no largest value
    return {"x": (STRIP[0] + (STRIP[1] - STRIP[0]) * length) * total, "y": y}
