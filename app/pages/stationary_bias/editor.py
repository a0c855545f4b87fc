"""The target on the page "Stationary bias": a named law, points dragged on a plot or typed, or a formula."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, PointDrawTool, Range1d
from bokeh.plotting import figure

from app.controls.fields import ChoiceField
from app.style import theme
from app.style.figures import nice_above
from app.style.formula import displayable
from app.style.layout import complaint, plotted, prose
from llc_core.fields import Hyper
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.line.named import LANDSCAPES

POINTS, EXPRESSION = "points", "expression"
FIRST_POINTS = [[-3.0, 0.01], [-1.6, 0.42], [-0.4, 0.08], [1.0, 0.3], [2.0, 0.18], [3.4, 0.01]]
FIRST_EXPRESSION = "exp(-x^4/4) + 0.5*exp(-2*(x-2)^2)"
MOST_POINTS = 60
FAINT = 1e-3
"""A point dragged to the axis or below gets this part of the highest density: a density must be positive."""


class TargetEditor(pn.viewable.Viewer):
    """`target` is the last valid description; bad input leaves it as it was and shows a sentence beside the entry.

    `listener` is called when the user has made another valid target.
    """

    def __init__(self, target: Mapping[str, Any]):
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.target: dict[str, Any] = dict(target)
        self._quiet = False
        labels = {name: landscape(name).label for name in LANDSCAPES}
        labels |= {POINTS: "Draw your own", EXPRESSION: "Write your own"}
        self.choice = ChoiceField(
            "target",
            Hyper(choices=tuple(labels), help="The law that the chains should have."),
            "normal",
            labels,
            label="Target",
        )
        self.choice.listener = self._on_choice
        self.formula = pn.pane.LaTeX("", renderer="katex", sizing_mode="stretch_width", margin=(4, 0, 0, 0))
        self.about = prose(margin=(4, 0, 0, 0))
        self.message = complaint(margin=0)
        self._own = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self._view = pn.Column(
            self.choice, self._own, self.message, self.formula, self.about, sizing_mode="stretch_width", margin=0
        )
        self._points: _PointsEditor | None = None
        self._expression: _ExpressionEditor | None = None
        self.show(target)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

    def show(self, target: Mapping[str, Any]) -> None:
        """Set the entries to a target, without reporting a change."""
        kind = POINTS if POINTS in target else EXPRESSION if EXPRESSION in target else target["name"]
        self.target = dict(target)
        self.choice.set(kind)
        self._arrange(kind)
        if kind == POINTS:
            self._editor(kind).show(target[POINTS])
        elif kind == EXPRESSION:
            self._editor(kind).show(target[EXPRESSION], target.get("of", "density"))
        self._describe(landscape(self.target))

    def _editor(self, kind: str) -> Any:
        """Made when it is first wanted: the page loads sooner."""
        if kind == POINTS:
            if self._points is None:
                self._points = _PointsEditor(self._on_own)
            return self._points
        if self._expression is None:
            self._expression = _ExpressionEditor(self._on_own)
        return self._expression

    def _arrange(self, kind: str) -> None:
        own = kind in (POINTS, EXPRESSION)
        self._own.visible = own
        self._own.objects = [self._editor(kind).view] if own else []
        self._complain("")

    def _on_choice(self) -> None:
        kind = self.choice.value
        self._arrange(kind)
        if kind in (POINTS, EXPRESSION):
            self._on_own()
        else:
            self._take({"kind": "landscape", "name": kind})

    def _on_own(self) -> None:
        try:
            self._take(self._editor(self.choice.value).read())
        except ValueError as error:
            self._complain(str(error))

    def _take(self, target: dict[str, Any]) -> None:
        made = landscape(target)
        self._complain("")
        self._describe(made)
        if target != self.target:
            self.target = target
            self.listener()

    def _describe(self, made: Landscape) -> None:
        self.formula.object = displayable(made.formula) if made.formula else ""
        self.about.object = f'<p class="small muted">{escape(made.about)}</p>'

    def _complain(self, message: str) -> None:
        self.message.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))


class _ExpressionEditor:
    """A formula of the density or of the energy."""

    def __init__(self, listener: Callable[[], None]):
        self._listener, self._quiet = listener, False
        self.of = pmui.RadioButtonGroup(
            options={"density": "density", "energy U": "energy"},
            value="density",
            size="small",
            sizing_mode="stretch_width",
            margin=(4, 0, 10, 0),
        )
        self.entry = pmui.TextInput(
            label="Formula in x",
            value=FIRST_EXPRESSION,
            placeholder=FIRST_EXPRESSION,
            size="small",
            sizing_mode="stretch_width",
            margin=(4, 0),
        )
        hint = pn.pane.HTML(
            '<p class="small muted">+ − * / ^, exp log sqrt sin cos tanh abs cosh, pi and e. The density need not be '
            "normalised.</p>",
            sizing_mode="stretch_width",
            margin=(2, 0),
            stylesheets=[theme.TEXT],
        )
        self.view = pn.Column(self.of, self.entry, hint, sizing_mode="stretch_width", margin=0)
        for widget in (self.of, self.entry):
            widget.param.watch(self._on_change, "value")

    def show(self, expression: str, of: str) -> None:
        self._quiet = True
        self.entry.value, self.of.value = expression, of
        self._quiet = False

    def read(self) -> dict[str, Any]:
        return {"kind": "landscape", "expression": self.entry.value.strip(), "of": self.of.value}

    def _on_change(self, event: Any) -> None:
        if not self._quiet:
            self._listener()


class _PointsEditor:
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
