"""Bokeh figures in the house's style: no frame, the page's own background, tools that appear when they are wanted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Bokeh looks for pandas whenever it streams. A run's thread that is importing it just then would leave it half made.
import pandas  # noqa: F401
from bokeh.models import (
    AllIndices,
    BoxAnnotation,
    ColumnDataSource,
    CustomJSTickFormatter,
    GlyphRenderer,
    Label,
    NumeralTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure

from app.runs.history import MAX_ROWS
from app.style import theme
from llc_core.plots.style import plain

LEFT_BORDER = 62
"""Room for numbers and label of the y axis: figures below each other then begin at the same place."""


def house_figure(name: str, height: int, **options: Any) -> figure:
    """An empty figure. name: by which tests and exports find it.  options: of `bokeh.plotting.figure`."""
    usual: dict[str, Any] = {
        "sizing_mode": "stretch_width",
        "tools": "pan,box_zoom,wheel_zoom,reset,save",
        # A page must scroll when the pointer happens to be over a figure.
        "active_scroll": None,
        "active_drag": None,
        "toolbar_location": "right",
        "min_border": 6,
        "min_border_left": LEFT_BORDER,
    }
    plot = figure(name=name, height=height, **{**usual, **options})
    plain(plot)
    return plot


def lean(plot: figure) -> figure:
    """The figure with fewer models: a page opens the sooner the fewer it has.

    No figure here has marks that are selected or muted, nor glyphs of them. What says that all rows are drawn, and how
    selections of several marks are united, keeps nothing of its own: one for all marks will do. Ask again after marks were added.
    """
    marks = [renderer for renderer in plot.renderers if isinstance(renderer, GlyphRenderer)]
    every = next((each.view.filter for each in marks if type(each.view.filter) is AllIndices), None)
    for renderer in marks:
        renderer.update(nonselection_glyph=None, muted_glyph=None)
        if type(renderer.view.filter) is AllIndices:
            renderer.view.filter = every
        renderer.data_source.selection_policy = marks[0].data_source.selection_policy
    return plot


HEIGHT = 276


_NICE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def nice_above(value: float) -> float:
    """The next round number at or above a positive value."""
    if not (value > 0 and math.isfinite(value)):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((n * power for n in _NICE if n * power >= value * (1 - 1e-9)), 10 * power)


class GrowingRange:
    """A range that only ever grows, in round steps, so that the picture does not tremble."""

    def __init__(self) -> None:
        self.range = Range1d(0, 1)

    def reset(self, low: float, high: float) -> None:
        self.range.update(start=low, end=high, reset_start=low, reset_end=high)

    def cover(self, low: float, high: float) -> None:
        start, end = float(self.range.start), float(self.range.end)
        if math.isfinite(high) and high > end:
            end = nice_above(high * 1.15)
        if math.isfinite(low) and low < start:
            start = -nice_above(-low * 1.15) if low < 0 else 0.0
        if (start, end) != (self.range.start, self.range.end):
            self.reset(start, end)


def signed_percent() -> CustomJSTickFormatter:
    """Ticks as +20%, 0% and −0.5%, with a minus and no hyphen, and told apart where they lie close."""
    code = "const n = Number((100 * tick).toFixed(2)); return `${n > 0 ? '+' : n < 0 ? '\u2212' : ''}${Math.abs(n)}%`"
    return CustomJSTickFormatter(code=code)


def run_figure(y_label: str, y_range: Any, name: str, **options: Any) -> figure:
    """An empty figure in the house's style over the steps of a run."""
    plot = house_figure(
        name,
        HEIGHT,
        x_range=Range1d(0, 1),
        y_range=y_range,
        x_axis_label="steps of each chain",
        y_axis_label=y_label,
        **options,
    )
    plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]a")
    plot.xaxis.ticker.desired_num_ticks = 5  # type: ignore[attr-defined]
    plot.yaxis.ticker.desired_num_ticks = 6  # type: ignore[attr-defined]
    return plot


def add(source: ColumnDataSource, columns: dict[str, np.ndarray], again: bool) -> None:
    """Show new rows. again: they replace all others.

    To empty the source and then stream would draw the rows twice, because both go to the browser in one message.
    """
    if again:
        source.data = columns
    else:
        source.stream(columns, rollover=MAX_ROWS + 2)


class RunFigure:
    """x from 0 to the run's last step, burn-in shaded; lines of truths, which are sent to the browser unless they are withheld."""

    def __init__(self, y_label: str, name: str, **options: Any):
        self._truths: dict[str, tuple[Span, float | None]] = {}
        self._told = True
        self.y = GrowingRange()
        self.plot = run_figure(y_label, self.y.range, name, **options)
        self._shade = BoxAnnotation(
            left=None, right=0, fill_color="#8a8f98", fill_alpha=0.13, line_alpha=0, level="underlay"
        )
        self._word = Label(
            x=0,
            y=4,
            y_units="screen",
            x_offset=-6,
            text="burn-in",
            text_align="right",
            text_color="#8a8f98",
            text_font_size="12px",
        )
        self.plot.add_layout(self._shade)
        self.plot.add_layout(self._word)

    def frame(self, total_steps: int, burn_in: int) -> None:
        """Make room for so many steps. What is drawn stays."""
        self.plot.x_range.update(start=0, end=total_steps, reset_start=0, reset_end=total_steps)
        self._shade.right = self._word.x = burn_in
        share = burn_in / total_steps
        self._word.visible = self._shade.visible = share > 0.08
        # In a narrow strip the word stands upright: it would be cut off otherwise.
        upright = share < 0.25
        self._word.update(
            angle=math.pi / 2 if upright else 0,
            text_align="left" if upright else "right",
            x_offset=-1 if upright else -6,
        )

    def _line(self, kind: str, color: str) -> Span:
        span = Span(dimension="width", location=None, line_color=color, line_width=2, line_dash=theme.DASHES[kind])
        self.plot.add_layout(span)
        self._truths[kind] = span, None
        return span

    @property
    def truths(self) -> list[Span]:
        """The lines of truths, in the order in which they were made."""
        return [span for span, _ in self._truths.values()]

    def _tell(self, kind: str, value: float | None) -> None:
        """Draw a truth where it is, or keep it back while answers are hidden: what is sent can be read, seen or not."""
        span = self._truths[kind][0]
        self._truths[kind] = span, value
        span.location = value if self._told else None

    def show_answers(self, visible: bool) -> None:
        """Draw the truths, or take them back."""
        self._told = visible
        for kind, (_, value) in list(self._truths.items()):
            self._tell(kind, value)
