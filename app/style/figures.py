"""Bokeh figures in the house's style: no frame, the page's own background, tools that appear when they are wanted."""

from __future__ import annotations

from typing import Any

from bokeh.plotting import figure

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
    house_style(plot)
    return plot


def house_style(plot: figure) -> None:
    """What all figures have in common, put on one that was made elsewhere."""
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.background_fill_alpha = plot.border_fill_alpha = 0
    plot.outline_line_color = None  # not its alpha: the dark theme draws every outline that has a colour
    plot.xgrid.grid_line_color = None
    plot.ygrid.grid_line_alpha = 0.5
