"""Figures of a sweep: relative error with error bars over the values of a field, and the share of diverged chains below."""

from __future__ import annotations

import math

import numpy as np
from bokeh.models import (
    BoxAnnotation,
    ColumnDataSource,
    HoverTool,
    LinearScale,
    LogScale,
    NoOverlap,
    NumeralTickFormatter,
    Range1d,
    Span,
    TapTool,
    Whisker,
)
from bokeh.models.axes import LinearAxis, LogAxis
from bokeh.plotting import figure

from app.pages.local_geometry.panels.sweep.points import SweepPoints
from app.style import theme
from app.style.figures import house_figure, nice_above, signed_percent
from app.style.numbers import number_text

HEIGHT, DEAD_HEIGHT = 250, 96
TICK_GAP = 6
"""Least pixels between two numbers of an axis. Without a gap, 2 and 2.5 read as 22.5 on a phone."""
LARGEST_SHOWN = 1.0
"""Larger relative errors are drawn at the edge of the frame, since all others would look flat beside them."""
LEAST_SHOWN = 0.05
FAINT, CLEAR = 0.35, 1.0
COLUMNS = ("value", "shown", "low", "high", "text", "error", "llc", "expected", "dead", "verdict", "alpha")
FAR = ("value", "edge", "text", "error", "llc", "expected", "dead", "verdict")


class SweepFigure:
    """`plot` and `dead_plot` share their x axis. A tap on a point puts its index into `points.selected.indices`."""

    def __init__(self) -> None:
        self._x, self._y = Range1d(1e-3, 1.0), Range1d(-0.5, 0.5)
        self.points = ColumnDataSource({name: [] for name in COLUMNS}, name="sweep")
        self.far = ColumnDataSource({name: [] for name in FAR}, name="sweep_far")
        self._marks: dict[str, list[Span]] = {"default": [], "limit": [], "current": []}
        self._shades: list[BoxAnnotation] = []
        self.plot = self._figure(HEIGHT, self._y, "relative error of λ̂", "sweep_figure")
        self.dead_plot = self._figure(DEAD_HEIGHT, Range1d(0, 1.08), "diverged", "sweep_dead")
        self._draw_errors()
        self._draw_dead()

    # -- drawing ------------------------------------------------------------------------------------------------------

    def _figure(self, height: int, y: Range1d, y_label: str, name: str) -> figure:
        plot = house_figure(
            name,
            height,
            x_axis_type="log",
            x_range=self._x,
            y_range=y,
            y_axis_label=y_label,
            tools="save",
            min_border=4,
        )
        plot.xaxis.major_label_policy = NoOverlap(min_distance=TICK_GAP)
        shade = BoxAnnotation(left=None, right=None, fill_color=theme.MARK, fill_alpha=0.1, line_alpha=0)
        shade.visible = False
        plot.add_layout(shade)
        self._shades.append(shade)
        for kind, color, dash in (
            ("limit", theme.MARK, []),
            ("default", theme.GOOD, [10, 5]),
            ("current", theme.ESTIMATE, [2, 4]),
        ):
            span = Span(dimension="height", location=None, line_color=color, line_width=2, line_dash=dash)
            plot.add_layout(span)
            self._marks[kind].append(span)
        return plot

    def _draw_errors(self) -> None:
        plot = self.plot
        plot.xaxis.visible = False
        plot.yaxis.formatter = signed_percent()
        plot.yaxis.ticker.desired_num_ticks = 6  # type: ignore[attr-defined]
        plot.add_layout(Span(dimension="width", location=0, line_color=theme.EXPECTED, line_width=2, line_dash=[2, 4]))
        whisker = Whisker(
            base="value", lower="low", upper="high", source=self.points, line_color=theme.ESTIMATE, line_width=2
        )
        for head in (whisker.upper_head, whisker.lower_head):
            head.update(size=8, line_color=theme.ESTIMATE, line_width=2)
        plot.add_layout(whisker)
        plot.line("value", "shown", source=self.points, line_color=theme.ESTIMATE, line_width=1.5, line_alpha=0.6)
        circles = plot.scatter(
            "value", "shown", source=self.points, size=11, color=theme.ESTIMATE, fill_alpha="alpha", name="points"
        )
        far = plot.scatter(
            "value", "edge", source=self.far, size=13, marker="triangle", color=theme.ESTIMATE, fill_alpha=0.5
        )
        circles.nonselection_glyph = circles.selection_glyph = None  # type: ignore[assignment]
        tips = [
            ("value", "@text"),
            ("λ̂", "@llc{0.000}"),
            ("expected", "@expected{0.000}"),
            ("relative error", "@error{+0.0%}"),
            ("diverged chains", "@dead{0%}"),
            ("verdict", "@verdict"),
        ]
        plot.add_tools(HoverTool(renderers=[circles, far], tooltips=tips), TapTool(renderers=[circles]))

    def _draw_dead(self) -> None:
        plot = self.dead_plot
        plot.yaxis.formatter = NumeralTickFormatter(format="0%")
        plot.yaxis.ticker = [0, 0.5, 1]
        plot.line("value", "dead", source=self.points, line_color=theme.RECENT, line_width=2)
        dots = plot.scatter("value", "dead", source=self.points, size=8, color=theme.RECENT)
        plot.add_tools(HoverTool(renderers=[dots], tooltips=[("value", "@text"), ("diverged chains", "@dead{0%}")]))

    # -- data ---------------------------------------------------------------------------------------------------------

    def reset(self, label: str) -> None:
        """Empty both for a new sweep of a field with this label."""
        self.points.data = {name: np.zeros(0) for name in COLUMNS}
        self.far.data = {name: np.zeros(0) for name in FAR}
        self.points.selected.indices = []
        self.dead_plot.xaxis.axis_label = label
        self._y.update(start=-0.5, end=0.5)
        self._mark_at({})

    def show(self, found: SweepPoints) -> None:
        if not len(found.values):
            return
        for plot in (self.plot, self.dead_plot):
            _scale(plot, found.log)
        self._frame(found)
        error, spread = found.error, 2 * np.nan_to_num(found.error_se)
        near = np.abs(error) <= LARGEST_SHOWN
        low, high = self._room(error[near], spread[near])
        if (self._y.start, self._y.end) != (low, high):
            self._y.update(start=low, end=high)
        texts = [number_text(float(value)) for value in found.values]
        self.points.data = {
            "value": found.values,
            "shown": np.where(near, error, math.nan),
            "low": np.where(near, np.maximum(error - spread, low), math.nan),
            "high": np.where(near, np.minimum(error + spread, high), math.nan),
            "text": texts,
            "error": error,
            "llc": found.llc,
            "expected": found.expected,
            "dead": found.dead,
            "verdict": list(found.verdicts),
            "alpha": np.full(len(error), CLEAR if found.averaging else FAINT),
        }
        off = np.flatnonzero(np.isfinite(error) & ~near)
        self.far.data = {
            "value": found.values[off],
            "edge": np.where(error[off] > 0, high - 0.03 * (high - low), low + 0.03 * (high - low)),
            "text": [texts[i] for i in off],
            "error": error[off],
            "llc": found.llc[off],
            "expected": found.expected[off],
            "dead": found.dead[off],
            "verdict": [found.verdicts[i] for i in off],
        }

    def mark(self, found: SweepPoints, current: float | None) -> None:
        """Lines at the engine's value, the stability limit and the present setting (None: not marked)."""
        values = {"default": found.default, "limit": found.limit, "current": math.nan if current is None else current}
        self._mark_at({kind: value for kind, value in values.items() if math.isfinite(value)})

    def _mark_at(self, values: dict[str, float]) -> None:
        for kind, spans in self._marks.items():
            for span in spans:
                span.location = values.get(kind)
        limit = values.get("limit")
        for shade in self._shades:
            shade.update(left=limit, visible=limit is not None)

    def _frame(self, found: SweepPoints) -> None:
        first, last = float(found.values[0]), float(found.values[-1])
        room = (last / first) ** 0.04 if found.log else 0.04 * (last - first)
        start, end = (first / room, last * room) if found.log else (first - room, last + room)
        if (self._x.start, self._x.end) != (start, end):
            self._x.update(start=start, end=end)

    @staticmethod
    def _room(error: np.ndarray, spread: np.ndarray) -> tuple[float, float]:
        """Round ends that hold the points, and error bars up to a limit."""
        if not len(error):
            return -0.5, 0.5
        bar = np.minimum(spread, LARGEST_SHOWN / 2)
        low, high = float(np.min(error - bar)), float(np.max(error + bar))
        return -nice_above(1.15 * max(-low, LEAST_SHOWN)), nice_above(1.15 * max(high, LEAST_SHOWN))


def _scale(plot: figure, log: bool) -> None:
    """Make the x axis logarithmic or not."""
    if isinstance(plot.x_scale, LogScale) == log:
        return
    old = plot.xaxis[0]
    axis = LogAxis() if log else LinearAxis()
    axis.update(axis_label=old.axis_label, visible=old.visible, major_label_policy=old.major_label_policy)
    plot.x_scale = LogScale() if log else LinearScale()
    plot.below = [axis]
