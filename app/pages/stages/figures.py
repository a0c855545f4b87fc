"""The staircase: loss, λ and singular values over the time of the flow, one below the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, Range1d, Span, Whisker

from app.pages.stages.job import StagesProgress
from app.style import theme
from app.style.figures import house_figure, nice_above
from llc_core import Stages

HEIGHTS = {"loss": 110, "ladder": 240, "values": 150}
ROOM = "clamp(452px, 100vh - 262px, 640px)", "clamp(500px, 100vh - 390px, 760px)"
"""Of all three, so that they are seen at once."""
MOST_POINTS = 600


class Staircase:
    """Three figures over one axis of time."""

    def __init__(self) -> None:
        self.x = Range1d(0, 1)
        self.on_tap: Callable[[float], None] = lambda time: None
        """Called with the time at which a figure was clicked."""
        self._told = True
        self._scene: Stages | None = None
        self._minima_from = 0
        labels = {"loss": "loss", "ladder": "λ", "values": "singular values"}
        self.plots = {
            name: house_figure(
                f"stages_{name}", height, x_range=self.x, y_range=Range1d(0, 1), y_axis_label=labels[name]
            )
            for name, height in HEIGHTS.items()
        }
        for name, height in HEIGHTS.items():
            share = height / sum(HEIGHTS.values())
            self.plots[name].stylesheets = [theme.high(*(f"calc({share:g} * {room})" for room in ROOM))]
        self.plots["values"].xaxis.axis_label = "time of the training"
        for name in ("loss", "ladder"):
            self.plots[name].xaxis.visible = False
        self.loss = ColumnDataSource({"x": [], "y": []}, name="stages_loss")
        self.values = ColumnDataSource({"xs": [], "ys": [], "color": []}, name="stages_values")
        self.exact = ColumnDataSource({"x0": [], "x1": [], "y": []}, name="stages_exact")
        self.found = ColumnDataSource({"x": [], "y": [], "low": [], "high": []}, name="stages_found")
        self.plots["loss"].line("x", "y", source=self.loss, line_color=theme.ESTIMATE, line_width=2)
        self.plots["values"].multi_line("xs", "ys", source=self.values, line_color="color", line_width=2)
        ladder = self.plots["ladder"]
        ladder.segment(
            "x0", "y", "x1", "y", source=self.exact, line_color=theme.TRUTH, line_width=2.5, line_dash=[8, 5]
        )
        ladder.add_layout(
            Whisker(
                base="x",
                upper="high",
                lower="low",
                source=self.found,
                line_color=theme.ESTIMATE,
                upper_head=None,
                lower_head=None,
                line_width=3,
            )
        )
        ladder.scatter(
            "x", "y", source=self.found, size=11, fill_color=theme.ESTIMATE, line_color="white", line_width=1.5
        )
        self.here = [
            Span(dimension="height", location=0, line_color=theme.RECENT, line_dash="dotted") for _ in self.plots
        ]
        for plot, span in zip(self.plots.values(), self.here, strict=True):
            plot.add_layout(span)
            plot.on_event(Tap, self._on_tap)

    def reset(self, scene: Stages, minima_from: int = 0) -> None:
        """Another flow, or another run: nothing has been measured yet.  minima_from: the first rest that has an exact λ."""
        self._scene, self._minima_from = scene, minima_from
        end = float(scene.times[-1])
        self.x.update(start=-0.02 * end, end=1.04 * end, reset_start=-0.02 * end, reset_end=1.04 * end)
        kept = np.unique(np.linspace(0, len(scene.times) - 1, MOST_POINTS).astype(int))
        times = scene.times[kept]
        self.loss.data = {"x": times, "y": scene.loss[kept]}
        _top(self.plots["loss"].y_range, 0.0, nice_above(1.05 * float(scene.loss[0])))
        columns = scene.singular_values[kept].T
        self.values.data = {
            "xs": [times] * len(columns),
            "ys": list(columns),
            "color": [theme.CHAINS[k % len(theme.CHAINS)] for k in range(len(columns))],
        }
        _top(self.plots["values"].y_range, 0.0, nice_above(1.05 * float(scene.teacher[0])))
        _top(self.plots["ladder"].y_range, 0.0, nice_above(1.1 * max(float(stage.coefficient) for stage in scene)))
        self.found.data = {"x": [], "y": [], "low": [], "high": []}
        self.show_answers(self._told)

    def show_answers(self, visible: bool) -> None:
        """The exact steps, or nothing of them: what is sent can be read, seen or not."""
        self._told = visible
        scene = self._scene
        if scene is None:
            return
        learned = (scene.singular_values > scene.teacher / 2).sum(axis=1)
        shown = list(scene)[self._minima_from :] if visible else []
        ends = [scene.times[learned == stage.rank][[0, -1]] for stage in shown]
        self.exact.data = {
            "x0": [float(start) for start, _ in ends],
            "x1": [float(stop) for _, stop in ends[:-1]] + ([self.x.end] if ends else []),
            "y": [float(stage.coefficient) for stage in shown],
        }

    def show(self, seen: StagesProgress) -> None:
        scene = self._scene
        assert scene is not None
        there = np.flatnonzero(np.isfinite(seen.llc))
        y, error = seen.llc[there], 2 * np.nan_to_num(seen.llc_se[there])
        self.found.data = {
            "x": [scene[k].time for k in there],
            "y": y,
            "low": y - error,
            "high": y + error,
        }
        low, top = self.plots["ladder"].y_range.start, self.plots["ladder"].y_range.end
        if len(y) and (y - error).min() < low:
            self.plots["ladder"].y_range.start = -nice_above(-1.1 * float((y - error).min()))
        if len(y) and (y + error).max() > top:
            self.plots["ladder"].y_range.end = nice_above(1.05 * float((y + error).max()))

    def _on_tap(self, event: Tap) -> None:
        if self._scene is not None and event.x is not None:
            self.on_tap(min(max(float(event.x), 0.0), float(self.x.end)))

    def look_at(self, time: float) -> None:
        """The moment that is described."""
        for span in self.here:
            span.location = time


def _top(span: Range1d, low: float, high: float) -> None:
    span.update(start=low, end=high, reset_start=low, reset_end=high)
