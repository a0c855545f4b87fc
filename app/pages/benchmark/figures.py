"""The figures of a sweep as HoloViews objects (Bokeh): for the page "Benchmark", notebooks and the report.

A figure has the same few renderers whatever is shown (HoloViews takes a tenth of a second for each), so that `Shown` can put
other curves into it without drawing it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import holoviews as hv
import holoviews.plotting.bokeh  # registers the backend
from bokeh.core.property.vectorization import Field
from bokeh.models import (
    BooleanFilter,
    CDSView,
    ColumnDataSource,
    CustomJS,
    FixedTicker,
    HoverTool,
    Legend,
    LegendItem,
    NoOverlap,
    NumeralTickFormatter,
    Range1d,
    TapTool,
)
from bokeh.plotting import figure

from app.pages.benchmark.columns import (
    DASHES,
    Shape,
    bands,
    error_frame,
    error_ticks,
    label,
    lines,
    look,
    place,
    points,
    sd_frame,
    sd_ticks,
    squeeze,
    step_frame,
    step_ticks,
)
from app.style import theme
from app.style.figures import house_style
from llc_core.sweeps.series import CLOSE, GRADIENTS, Curve

HEIGHT, LOW_HEIGHT, SQUARE_HEIGHT = 380, 240, 500
MOST_ACROSS = 7
"""Tick labels that stand beside each other."""
ERROR = Shape(lambda c: c.step_size, lambda c: squeeze(c.mean), bands=True)
NAN = Shape(lambda c: c.step_size, lambda c: c.nan)
SPREAD = Shape(lambda c: squeeze(c.mean), lambda c: squeeze(c.sd))
ORDER = Shape(lambda c: c.step_size, lambda c: c.order)
SHAPES = {"relative_error": ERROR, "nan_share": NAN, "mean_against_sd": SPREAD, "order_preservation": ORDER}
_TIPS = [
    ("", "@name"),
    ("step size", "@step"),
    ("relative error", "@error{+0.0%} ± @sd{0.0%}"),
    ("problems with λ̂", "@count of @total"),
    ("dead chains", "@dead{0%}"),
    ("right order", "@order{0.0%} of @pairs pairs"),
]
# Switches the curve of a legend entry on and off: its rows are left out of every renderer, and its mark is pale.
_TOGGLE = """
const hidden = legend.tags[0] ?? [], key = cb_obj.item.name
const now = hidden.includes(key) ? hidden.filter((k) => k !== key) : [...hidden, key]
legend.tags = [now]
for (const renderer of renderers) {
  renderer.view.filter.booleans = Array.from(renderer.data_source.data.key, (k) => !now.includes(k))
}
marks.data = {...marks.data, alpha: Array.from(marks.data.key, (k) => now.includes(k) ? 0.2 : 1)}
"""


def relative_error(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Mean relative error by step size, with a band of one standard deviation over the problems."""
    close = place(CLOSE)
    ground = [
        hv.HSpan(-close, close).opts(color=theme.GLOBAL, alpha=0.13, line_alpha=0),
        hv.HLine(0).opts(color=theme.EXPECTED, line_width=2, line_dash="dotted"),
    ]
    return _overlay("relative_error", found, ground, spread, legend).opts(
        xlabel="step size ε", ylabel="relative error of λ̂", logx=True, height=HEIGHT
    )


def nan_share(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Share of problems without an estimate by step size."""
    return _overlay("nan_share", found, [], spread, legend).opts(
        xlabel="step size ε", ylabel="without λ̂", logx=True, height=LOW_HEIGHT
    )


def order_preservation(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Share of pairs of problems that estimate and truth order alike, by step size; chance gives a half."""
    chance = [hv.HLine(0.5).opts(color=theme.RECENT, line_width=1.5, line_dash="dashed")]
    return _overlay("order_preservation", found, chance, spread, legend).opts(
        xlabel="step size ε", ylabel="pairs in order", logx=True, height=LOW_HEIGHT
    )


def mean_against_sd(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Mean against standard deviation of the relative error: the best step sizes lie at the foot, in the middle."""
    close = place(CLOSE)
    middle = [
        hv.VSpan(-close, close).opts(color=theme.GLOBAL, alpha=0.13, line_alpha=0),
        hv.VLine(0).opts(color=theme.EXPECTED, line_width=2, line_dash="dotted"),
    ]
    return _overlay("mean_against_sd", found, middle, spread, legend).opts(
        xlabel="mean relative error", ylabel="standard deviation", height=SQUARE_HEIGHT
    )


FIGURES: dict[str, Callable[..., hv.Overlay]] = {
    "relative_error": relative_error,
    "nan_share": nan_share,
    "mean_against_sd": mean_against_sd,
    "order_preservation": order_preservation,
}


@dataclass
class Shown:
    """A figure on the screen. `show` puts other curves into it; `on_tap` is called with (key of the curve, index)."""

    name: str

    def __post_init__(self) -> None:
        self.plot: figure = hv.render(FIGURES[self.name]([], legend=False), backend="bokeh")
        self.on_tap: Callable[[str, int], None] = lambda key, index: None
        self._points = _renderers(self.plot)["points"].data_source
        self._points.selected.on_change("indices", self._on_indices)

    def show(self, found: Sequence[Curve], spread: bool = True) -> None:
        _fill(self.plot, self.name, found, spread)

    def _on_indices(self, attribute: str, old: list[int], new: list[int]) -> None:
        if new:
            self._points.selected.indices = []  # so that the same point can be chosen again
            data = self._points.data
            if new[0] < len(data["key"]):
                self.on_tap(data["key"][new[0]], int(data["index"][new[0]]))


# -- parts -------------------------------------------------------------------------------------------------------------


def _overlay(name: str, found: Sequence[Curve], ground: list[Any], spread: bool, legend: bool) -> hv.Overlay:
    shape = SHAPES[name]
    parts = list(ground)
    if shape.bands:
        rings = bands(found, spread)
        data = [
            {"x": x[0][0], "y": y[0][0], "color": color, "key": key}
            for x, y, color, key in zip(*rings.values(), strict=True)
        ]
        polygons = hv.Polygons(data or [_nowhere()], ["x", "y"], ["color", "key"])
        parts.append(polygons.opts(color=hv.dim("color"), alpha=0.11, line_alpha=0, hooks=[_named("bands")]))
    for gradient in GRADIENTS:
        rows = lines(found, shape, gradient)
        data = [{"x": x, "y": y, "color": c, "key": k} for x, y, c, k in zip(*rows.values(), strict=True)]
        path = hv.Path(data or [_nowhere()], ["x", "y"], ["color", "key"])
        parts.append(
            path.opts(
                color=hv.dim("color"), hooks=[_named(gradient)],
                line_width=1.2 if name == "mean_against_sd" else 2.4,
                alpha=0.55 if name == "mean_against_sd" else 1.0,
            )
        )  # fmt: skip
    columns = points(found, shape)
    dots = hv.Points(columns, ["x", "y"], [n for n in columns if n not in ("x", "y")])
    parts.append(dots.opts(size=9, hooks=[_named("points")]))
    return hv.Overlay(parts).opts(
        responsive=True, show_grid=True, show_legend=False, xlim=_ends(name, found, spread)[0], ylim=_ends(name, found, spread)[1], default_tools=["pan", "box_zoom", "reset", "save"], active_tools=[],
        hooks=[_finish(name, found, spread, legend)],
    )  # fmt: skip


def _nowhere() -> dict[str, Any]:
    """A row where there is none, until `_fill` takes it out: HoloViews does not draw empty lists of lines."""
    return {"x": [1.0, 1.0, 1.0], "y": [0.0, 0.0, 0.0], "color": "#000000", "key": ""}


def _named(name: str) -> Callable[[Any, Any], None]:
    def hook(plot: Any, element: Any) -> None:
        plot.handles["glyph_renderer"].name = name

    return hook


def _renderers(plot: figure) -> dict[str, Any]:
    return {r.name: r for r in plot.renderers if getattr(r, "name", None) and hasattr(r, "data_source")}


def _finish(name: str, found: Sequence[Curve], spread: bool, legend: bool) -> Callable[[Any, Any], None]:
    """Puts what was drawn into the house's style, with styles that follow the columns whatever is put in later."""

    def hook(drawn: Any, element: Any) -> None:
        plot = drawn.handles["plot"]
        plot.name = name
        house_style(plot)
        for kind, renderer in _renderers(plot).items():
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
        _fill(plot, name, found, spread)
        if legend and found:
            _add_legend(plot, found)

    return hook


def _fill(plot: figure, name: str, found: Sequence[Curve], spread: bool) -> None:
    """Data, ends and ticks of a figure."""
    shape = SHAPES[name]
    for kind, renderer in _renderers(plot).items():
        if kind == "points":
            columns = points(found, shape)
        elif kind == "bands":
            columns = bands(found, spread)
        else:
            columns = lines(found, shape, kind)
        renderer.data_source.data = columns
    x, y = _ends(name, found, spread)
    if name == "mean_against_sd":
        _tick(plot.xaxis[0], error_ticks(*x, most=MOST_ACROSS))
        plot.xaxis[0].major_label_policy = NoOverlap(min_distance=6)  # on a phone −5% and +5% would touch
        _tick(plot.yaxis[0], sd_ticks(y[1]))
    elif name == "relative_error":
        _tick(plot.yaxis[0], error_ticks(*y))
    else:
        plot.yaxis[0].formatter = NumeralTickFormatter(format="0%")
        plot.yaxis[0].ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
    if name != "mean_against_sd":
        shown, between = step_ticks(*x)
        plot.xaxis[0].ticker = FixedTicker(ticks=shown, minor_ticks=between)
    plot.ygrid[0].ticker = plot.yaxis[0].ticker
    _range(plot, "x_range", x)
    _range(plot, "y_range", y)


def _ends(name: str, found: Sequence[Curve], spread: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of both axes."""
    if name == "mean_against_sd":
        return error_frame(found, False), sd_frame(found)
    return step_frame(found), error_frame(found, spread) if name == "relative_error" else (-0.04, 1.04)


def _tick(axis: Any, ticks: list[tuple[float, str]]) -> None:
    axis.ticker = FixedTicker(ticks=[at for at, _ in ticks])
    axis.major_label_overrides = dict(ticks)


def _range(plot: figure, which: str, ends: tuple[float, float]) -> None:
    start, end = ends
    shown = getattr(plot, which)
    if not isinstance(shown, Range1d):
        setattr(plot, which, Range1d(start, end, reset_start=start, reset_end=end))
    elif (shown.reset_start, shown.reset_end) != ends:
        shown.update(start=start, end=end, reset_start=start, reset_end=end)


def _add_legend(plot: figure, found: Sequence[Curve]) -> None:
    """A legend below, whose entries switch their curve."""
    renderers = _renderers(plot)
    looks = [look(c.sampler) for c in found]
    marks = ColumnDataSource(
        {
            "x": [float("nan")] * len(found), "y": [float("nan")] * len(found), "key": [c.key for c in found],
            "color": [color for color, _ in looks], "marker": [marker for _, marker in looks],
            "alpha": [1.0] * len(found),
        }
    )  # fmt: skip
    swatches = plot.scatter("x", "y", source=marks, color="color", marker="marker", alpha="alpha", size=9)
    items = [
        LegendItem(label=label(c.sampler, c.gradient), renderers=[swatches], index=i, name=c.key)
        for i, c in enumerate(found)
    ]
    legend = Legend(
        items=items, orientation="horizontal", ncols=3, border_line_alpha=0, background_fill_alpha=0, tags=[[]],
        label_text_font_size="13px", margin=4, padding=4, click_policy="none",
    )  # fmt: skip
    for renderer in renderers.values():
        renderer.view = CDSView(filter=BooleanFilter([True] * len(renderer.data_source.data["key"])))
    args = {"legend": legend, "renderers": list(renderers.values()), "marks": marks}
    legend.js_on_event("legend_item_click", CustomJS(args=args, code=_TOGGLE))
    plot.add_layout(legend, "below")
