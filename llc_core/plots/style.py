"""Colours and sizes of all figures, and HoloViews itself, which is imported when a figure is asked for."""

from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

import numpy as np

from llc_core.extras import needs

ESTIMATE, TRUTH, GOOD, MARK, QUIET = "#1583C9", "#D55E00", "#009E73", "#B5649B", "#8a8f98"
"""As in `app.style.theme`: Okabe & Ito's colours, which colour-blind people can tell apart."""
CHAINS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C", "#B8A800")
WIDTH, HEIGHT = 720, 260
ROW, LEAST = 900, 220
"""Pixels of figures beside each other, and of the narrowest one."""
CLOSE = 0.07
"""Ticks are at least this share of the axis apart."""


def holoviews() -> Any:
    """The library with its Bokeh backend; in a notebook what it takes to show a figure is loaded too."""
    with needs("plot()", extra="plots"):
        import holoviews as hv
        import holoviews.plotting.bokeh
    _prepare(hv)
    return hv


def bokeh_models() -> Any:
    """For hooks: what HoloViews has no option for."""
    with needs("plot()", extra="plots"):
        from bokeh import models
    return models


@cache
def _prepare(hv: Any) -> None:
    """Once in a process."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        hv.extension("bokeh", inline=True, logo=False)
    hv.Store.set_current_backend("bokeh")


def finished(figure: Any, *hooks: Any, **options: Any) -> Any:
    """The figure in the style of all. hooks: of HoloViews, called after those of the style.  options: of HoloViews."""
    usual = {
        **({} if options.get("responsive") else {"width": WIDTH}),
        "height": HEIGHT,
        "show_grid": True,
        "padding": 0.03,
        "active_tools": [],
        "hooks": [_plain, *hooks],
    }
    return figure.opts(**{**usual, **options})


def below_each_other(*figures: Any) -> Any:
    """With axes of their own: HoloViews links those of the same name."""
    return holoviews().Layout(figures).cols(1).opts(shared_axes=False, toolbar=None)


def beside_each_other(*figures: Any, columns: int = 2) -> Any:
    """In rows, with axes of their own; each is as wide as a row has room for."""
    width = max(ROW // min(columns, len(figures)), LEAST)
    drawn = [figure.opts(width=width) for figure in figures]
    return holoviews().Layout(drawn).cols(columns).opts(shared_axes=False, toolbar=None)


def ticks_at(values: Any) -> dict[str, Any]:
    """Options of a logarithmic axis with ticks at the values, but for those that would run into each other as Bokeh's do."""
    found = sorted({float(each) for each in values})
    ticks = found[:1]
    for each in found[1:]:
        if math.log(each / ticks[-1]) > CLOSE * math.log(found[-1] / found[0]):
            ticks.append(each)
    return {"logx": True, "xticks": [(each, f"{each:.2g}") for each in ticks]}


def line_at(value: float | None, color: str = TRUTH, dash: str = "dotted", upright: bool = False) -> list[Any]:
    """A line through the figure, none where the value is not known."""
    if value is None:
        return []
    hv = holoviews()
    return [(hv.VLine if upright else hv.HLine)(value).opts(color=color, line_width=2, line_dash=dash)]


def diagonal(x: Any, y: Any, color: str = QUIET) -> Any:
    """The line on which both numbers are equal, from the least to the largest of them."""
    ends = [function([function(each) for each in (x, y)]) for function in (min, max)]
    return holoviews().Curve((ends, ends), label="equal").opts(color=color, line_dash="dashed", line_width=2)


def area(x: Any, low: Any, high: Any, color: str = ESTIMATE, alpha: float = 0.2, label: str = "") -> Any:
    """What lies between two curves [N]."""
    drawn = holoviews().Area((x, low, high), vdims=["low", "high"], label=label)
    return drawn.opts(color=color, alpha=alpha, line_alpha=0)


def bars(x: Any, y: Any, error: Any, color: str = ESTIMATE, lying: bool = False) -> Any:
    """Bars of two standard errors [N] about y, or where they are lying about x; none where an error is not known."""
    drawn = holoviews().ErrorBars((x, y, 2 * np.nan_to_num(np.asarray(error, dtype=float))), horizontal=lying)
    return drawn.opts(line_color=color, upper_head=None, lower_head=None)


def with_errors(x: Any, y: Any, error: Any, label: str = "", color: str = ESTIMATE, line: bool = True) -> list[Any]:
    """Dots with bars of two standard errors, and a line through them."""
    hv = holoviews()
    parts = [hv.Curve((x, y), label=label).opts(color=color, line_width=2)] if line else []
    return [*parts, bars(x, y, error, color), hv.Scatter((x, y), label=label).opts(color=color, size=7)]


def hollow(x: np.ndarray, y: np.ndarray, doubted: Any, color: str) -> Any:
    """White dots over those that are not trusted."""
    where = np.asarray(doubted, dtype=bool) & np.isfinite(y)
    return holoviews().Scatter((x[where], y[where])).opts(color="white", line_color=color, size=7)


def plain(figure: Any) -> None:
    """A Bokeh figure as all are, those of the app too: no logo, no frame, the page's ground, tools that appear when wanted."""
    figure.toolbar.logo, figure.toolbar.autohide = None, True
    figure.outline_line_color = None  # not by its alpha: the dark theme draws every outline that has a colour
    figure.background_fill_alpha = figure.border_fill_alpha = 0
    figure.xgrid.grid_line_color = None
    figure.ygrid.grid_line_alpha = 0.5
    for axis in figure.axis:
        if hasattr(axis.formatter, "power_limit_low"):
            # 0.002 and not 2.000e-3, which bokeh writes on all ticks as soon as 0.001 is among them
            axis.formatter.power_limit_low = -4


def _plain(plot: Any, element: Any) -> None:
    """`plain`, with letters as large as the app's, and a legend that hides nothing."""
    figure = plot.handles["plot"]
    plain(figure)
    for axis in figure.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size, axis.major_label_text_font_size = "14px", "13px"
    for legend in figure.legend:
        legend.background_fill_alpha, legend.border_line_alpha = 0.4, 0
        legend.spacing = 12 if legend.orientation == "horizontal" else 0
        legend.padding, legend.label_text_font_size = 4, "12px"
        # Outside of the frame HoloViews puts it so many pixels from the foot.
        if not isinstance(legend.location, str):
            legend.location, legend.margin = "top_left", 0
