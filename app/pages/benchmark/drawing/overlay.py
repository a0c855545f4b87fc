"""A figure of a sweep as a HoloViews overlay, in the house's style.

Every figure has the same few renderers whatever is shown, so that `filling.fill` can put other curves into it: drawing it anew
takes HoloViews a tenth of a second for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import holoviews as hv
import holoviews.plotting.bokeh  # registers the backend
from bokeh.core.property.vectorization import Field
from bokeh.models import HoverTool, TapTool

from app.pages.benchmark.columns import DASHES, bands, lines, points
from app.pages.benchmark.drawing.filling import AXES_OF, axis_ends, fill, renderers
from app.pages.benchmark.drawing.legend import add_legend
from app.style.figures import house_style
from llc_core.sweeps.series import GRADIENTS, Curve

_TIPS = [
    ("", "@name"),
    ("step size", "@step"),
    ("relative error", "@error{+0.0%} ± @sd{0.0%}"),
    ("problems with λ̂", "@count of @total"),
    ("diverged chains", "@dead{0%}"),
    ("right order", "@order{0.0%} of @pairs pairs"),
]


def overlay(name: str, found: Sequence[Curve], ground: list[Any], spread: bool, legend: bool) -> hv.Overlay:
    """One of the four figures. ground: what lies under the curves.  spread: whether bands are drawn."""
    axes = AXES_OF[name]
    parts = list(ground)
    if axes.bands:
        rings = bands(found, spread)
        data = [
            {"x": x[0][0], "y": y[0][0], "color": color, "key": key}
            for x, y, color, key in zip(*rings.values(), strict=True)
        ]
        polygons = hv.Polygons(data or [_nowhere()], ["x", "y"], ["color", "key"])
        parts.append(polygons.opts(color=hv.dim("color"), alpha=0.11, line_alpha=0, hooks=[_named("bands")]))
    for gradient in GRADIENTS:
        rows = lines(found, axes, gradient)
        data = [{"x": x, "y": y, "color": c, "key": k} for x, y, c, k in zip(*rows.values(), strict=True)]
        path = hv.Path(data or [_nowhere()], ["x", "y"], ["color", "key"])
        parts.append(
            path.opts(
                color=hv.dim("color"), hooks=[_named(gradient)],
                line_width=1.2 if name == "mean_against_sd" else 2.4,
                alpha=0.55 if name == "mean_against_sd" else 1.0,
            )
        )  # fmt: skip
    columns = points(found, axes)
    dots = hv.Points(columns, ["x", "y"], [n for n in columns if n not in ("x", "y")])
    parts.append(dots.opts(size=9, hooks=[_named("points")]))
    x, y = axis_ends(name, found, spread)
    return hv.Overlay(parts).opts(
        responsive=True, show_grid=True, show_legend=False, xlim=x, ylim=y, active_tools=[],
        default_tools=["pan", "box_zoom", "reset", "save"], hooks=[_finish(name, found, spread, legend)],
    )  # fmt: skip


def _nowhere() -> dict[str, Any]:
    """A row where there is none, until `fill` takes it out: HoloViews does not draw empty lists of lines."""
    return {"x": [1.0, 1.0, 1.0], "y": [0.0, 0.0, 0.0], "color": "#000000", "key": ""}


def _named(name: str) -> Callable[[Any, Any], None]:
    def hook(plot: Any, element: Any) -> None:
        plot.handles["glyph_renderer"].name = name

    return hook


def _finish(name: str, found: Sequence[Curve], spread: bool, legend: bool) -> Callable[[Any, Any], None]:
    """Puts what was drawn into the house's style, with styles that follow the columns whatever is put in later."""

    def hook(drawn: Any, element: Any) -> None:
        plot = drawn.handles["plot"]
        plot.name = name
        house_style(plot)
        for kind, renderer in renderers(plot).items():
            renderer.nonselection_glyph = renderer.selection_glyph = None
            renderer.muted_glyph = renderer.hover_glyph = None
            color = Field("color")
            if kind == "points":
                renderer.glyph.update(fill_color=color, line_color=color, marker=Field("marker"))
                tools = [HoverTool(renderers=[renderer], tooltips=_TIPS), TapTool(renderers=[renderer])]
                plot.toolbar.tools = [t for t in plot.toolbar.tools if not isinstance(t, HoverTool | TapTool)] + tools
            elif kind == "bands":
                renderer.glyph.update(fill_color=color)
            else:
                renderer.glyph.update(line_color=color, line_dash=DASHES[kind])
        plot.toolbar.tools = [t for t in plot.toolbar.tools if type(t).__name__ != "WheelZoomTool"]
        for axis in (plot.xaxis, plot.yaxis):
            axis.axis_label_text_font_size, axis.major_label_text_font_size = "14px", "13px"
            axis.axis_label_text_font_style = "normal"
        fill(plot, name, found, spread)
        if legend and found:
            add_legend(plot, found)

    return hook
