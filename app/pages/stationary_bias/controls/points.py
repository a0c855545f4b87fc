"""A target that the visitor draws: points of its density, dragged on a small figure or typed as a list."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, PointDrawTool, Range1d
from bokeh.plotting import figure

from app.style import theme
from app.style.figures import nice_above
from app.style.layout import plotted
from llc_core.potentials.line.build import landscape

FIRST_POINTS = [[-3.0, 0.01], [-1.6, 0.42], [-0.4, 0.08], [1.0, 0.3], [2.0, 0.18], [3.4, 0.01]]
MOST_POINTS = 60
FAINT = 1e-3
"""A point dragged to the axis or below gets this part of the highest density: a density must be positive."""


class PointsEditor:
    """Points of a density: dragged on a small figure, or typed as a list."""

    def __init__(self, listener: Callable[[], None]):
        self._listener, self._quiet = listener, False
        self.source = ColumnDataSource({"x": [], "y": []}, name="target_points")
        self._curve = ColumnDataSource({"x": [], "y": []}, name="target_curve")
        self._x, self._y = Range1d(-5, 5), Range1d(0, 1)
        plot = figure(
            height=190,
            sizing_mode="stretch_width",
            x_range=self._x,
            y_range=self._y,
            tools="",
            toolbar_location=None,
            min_border=4,
            name="target_editor",
        )
        plot.background_fill_alpha = plot.border_fill_alpha = 0
        plot.outline_line_alpha = 0.2
        plot.xgrid.grid_line_color = None
        plot.yaxis.visible = False
        plot.line("x", "y", source=self._curve, line_width=2.5, line_color=theme.TARGET)
        dots = plot.scatter("x", "y", source=self.source, size=13, fill_color=theme.TARGET, line_color="white")
        draw = PointDrawTool(renderers=[dots], num_objects=MOST_POINTS)
        plot.add_tools(draw)
        plot.toolbar.active_tap = draw
        self.entry = pmui.TextAreaInput(
            label="Points: x, density",
            rows=4,
            max_rows=8,
            size="small",
            sizing_mode="stretch_width",
            margin=(8, 0, 4, 0),
        )
        hint = pn.pane.HTML(
            '<p class="small muted">Drag points; click to add one; click a point and press Backspace to remove it. Or '
            "type one point a line.</p>",
            sizing_mode="stretch_width",
            margin=(2, 0),
            stylesheets=[theme.TEXT],
        )
        self.view = pn.Column(
            plotted(plot),
            self.entry,
            hint,
            sizing_mode="stretch_width",
            margin=0,
        )
        self.show(FIRST_POINTS)
        self.source.on_change("data", self._on_drag)
        self.entry.param.watch(self._on_entry, "value")

    def show(self, points: Any) -> None:
        points = sorted([float(x), float(y)] for x, y in points)
        self._quiet = True
        try:
            x, y = np.array(points).T
            self.source.data = {"x": list(x), "y": list(y)}
            self.entry.value = "\n".join(f"{a:.4g}, {b:.3g}" for a, b in points)
            room = 0.25 * max(x.max() - x.min(), 1.0)
            self._x.update(start=float(x.min() - room), end=float(x.max() + room))
            self._y.update(start=0, end=nice_above(1.3 * float(y.max())))
        finally:
            self._quiet = False
        self._draw(points)

    def read(self) -> dict[str, Any]:
        return {"kind": "landscape", "points": parse_points(self.entry.value)}

    def _draw(self, points: list[list[float]]) -> None:
        """The density through the points, at their height."""
        try:
            made = landscape({"kind": "landscape", "points": points})
        except ValueError:
            return
        x = np.linspace(float(self._x.start), float(self._x.end), 241)
        highest = max(points, key=lambda point: point[1])
        scale = highest[1] / float(made.density(np.array([highest[0]]))[0])
        self._curve.data = {"x": x, "y": made.density(x) * scale}

    def _on_drag(self, attribute: str, old: Any, new: Any) -> None:
        if self._quiet:
            return
        pairs = zip(new["x"], new["y"], strict=True)
        points = [[float(a), float(b)] for a, b in pairs if a is not None and b is not None]
        if points:
            top = max(b for _, b in points)
            lowest = FAINT * top if top > 0 else FAINT
            self._redraw([[a, max(b, lowest)] for a, b in points])

    def _on_entry(self, event: Any) -> None:
        if self._quiet:
            return
        try:
            points = parse_points(self.entry.value)
        except ValueError:
            self._listener()
            return
        self._redraw(points)

    def _redraw(self, points: list[list[float]]) -> None:
        self.show(points)
        self._listener()


def parse_points(text: str) -> list[list[float]]:
    """Points of a density, "x, density" a line; ValueError with one sentence that quotes the line that is wrong."""
    points = []
    for line in re.split(r"[\n;]+", text):
        parts = [part for part in re.split(r"[\s,]+", line.replace("−", "-").strip()) if part]
        if not parts:
            continue
        try:
            x, y = map(float, parts)
        except ValueError:
            raise ValueError(
                f"“{line.strip()[:30]}” is not a point; write x and density, for example 0.5, 0.3."
            ) from None
        if not (math.isfinite(x) and math.isfinite(y)):
            raise ValueError(f"“{line.strip()[:30]}” is not a point; both numbers must be finite.")
        points.append([x, y])
    if len(points) > MOST_POINTS:
        raise ValueError(f"{len(points)} points are too many; write at most {MOST_POINTS}.")
    return sorted(points)
