"""The four figures of a sweep as HoloViews overlays, for notebooks, scripts and the report. The extra "plots" brings what it needs.
Long, since the figures, their ticks and their legend are read together.

All curves of one gradient are one element, and so are all points: a figure of twenty curves has as few models as one of two.
The figures are those of Hitchcock & Hoogland; the app draws the same numbers as small multiples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.plots.style import GOOD, QUIET, bokeh_models, finished, holoviews, line_at
from llc_core.sweeps.scales import (
    AXES_OF,
    DASHES,
    Axes,
    axis_ends,
    error_ticks,
    label,
    look,
    place,
    sd_ticks,
    squeeze,
    step_ticks,
)
from llc_core.sweeps.series import CLOSE, GRADIENTS, Curve, with_few_missing

HEIGHT, LOW_HEIGHT, SQUARE_HEIGHT = 380, 240, 500
MOST_ACROSS = 7
"""Tick labels that stand beside each other."""
TIPS = [
    ("", "@name"),
    ("step size", "@step"),
    ("relative error", "@error{+0.0%} ± @sd{0.0%}"),
    ("problems with λ̂", "@count of @total"),
    ("diverged chains", "@dead{0%}"),
    ("right order", "@order{0.0%} of @pairs pairs"),
]


def relative_error(found: Sequence[Curve], spread: bool = True, legend: bool = True, **options: Any) -> Any:
    """Mean relative error by step size. The axis is linear within ±5% and logarithmic beyond.

    found: of `llc_core.sweeps.series.curves`.  spread: whether there are bands of one standard deviation over the problems.
    legend: whether there is one, a click on which switches a curve.  options: of HoloViews.
    """
    close = holoviews().HSpan(-place(CLOSE), place(CLOSE)).opts(color=GOOD, alpha=0.13, line_alpha=0)
    return _figure("relative_error", found, [close, *line_at(0)], spread, legend, options)


def nan_share(found: Sequence[Curve], spread: bool = True, legend: bool = True, **options: Any) -> Any:
    """Share of problems without an estimate by step size. Arguments: as of `relative_error`."""
    return _figure("nan_share", found, [], spread, legend, options)


def mean_against_sd(
    found: Sequence[Curve], spread: bool = True, legend: bool = True, nan_filter: bool = True, **options: Any
) -> Any:
    """Mean against standard deviation of the relative error: the best step sizes lie at the foot, in the middle.

    nan_filter: whether step sizes at which a tenth of the problems or more have no estimate are left out, as in Hitchcock &
    Hoogland.  Other arguments: as of `relative_error`.
    """
    close = holoviews().VSpan(-place(CLOSE), place(CLOSE)).opts(color=GOOD, alpha=0.13, line_alpha=0)
    shown = with_few_missing(found) if nan_filter else found
    return _figure("mean_against_sd", shown, [close, *line_at(0, upright=True)], spread, legend, options)


def order_preservation(found: Sequence[Curve], spread: bool = True, legend: bool = True, **options: Any) -> Any:
    """Share of pairs of problems that estimate and truth order alike, by step size; chance gives a half.

    Arguments: as of `relative_error`.
    """
    return _figure("order_preservation", found, line_at(0.5, QUIET, "dashed"), spread, legend, options)


FIGURES: dict[str, Callable[..., Any]] = {
    "relative_error": relative_error,
    "nan_share": nan_share,
    "mean_against_sd": mean_against_sd,
    "order_preservation": order_preservation,
}
_LABELS = {
    "relative_error": ("step size ε", "relative error of λ̂", HEIGHT),
    "nan_share": ("step size ε", "without λ̂", LOW_HEIGHT),
    "mean_against_sd": ("mean relative error", "standard deviation", SQUARE_HEIGHT),
    "order_preservation": ("step size ε", "pairs in order", LOW_HEIGHT),
}


def _figure(
    name: str, found: Sequence[Curve], ground: list[Any], spread: bool, legend: bool, options: dict[str, Any]
) -> Any:
    hv, axes, parts = holoviews(), AXES_OF[name], list(ground)
    if spread and axes.bands and (rings := _bands(found)):
        parts.append(hv.Polygons(rings, ["x", "y"]).opts(alpha=0.11, line_alpha=0, hooks=[_columns(rings)]))
    looks = {"line_width": 1.2, "alpha": 0.55} if name == "mean_against_sd" else {"line_width": 2.4}
    for gradient in GRADIENTS:
        if lines := _lines(found, axes, gradient):
            hooks = [_columns(lines, line_dash=DASHES[gradient])]
            parts.append(hv.Path(lines, ["x", "y"]).opts(hooks=hooks, **looks))
    if rows := _points(found, axes):
        parts.append(hv.Points(rows, ["x", "y"], []).opts(size=9, hooks=[_columns(rows, marker="marker"), _told]))
    x, y = axis_ends(name, found, spread)
    xlabel, ylabel, height = _LABELS[name]
    usual: dict[str, Any] = {
        "responsive": True, "show_legend": False, "xlim": x, "ylim": y, "logx": name != "mean_against_sd",
        "xlabel": xlabel, "ylabel": ylabel, "height": height, "default_tools": ["pan", "box_zoom", "reset", "save"],
    }  # fmt: skip
    hooks = [_ticked(name, x, y), *([_legend(found)] if legend and found else [])]
    return finished(hv.Overlay(parts or [hv.Curve([])]), *hooks, **{**usual, **options})


def _points(found: Sequence[Curve], axes: Axes) -> list[dict[str, Any]]:
    """One row for each curve and step size that can be drawn; `index` is the place of the step size in its curve."""
    rows = []
    for c in found:
        color, marker = look(c.sampler)
        for i, (x, y) in enumerate(zip(axes.x(c).tolist(), axes.y(c).tolist(), strict=True)):
            if math.isfinite(x) and math.isfinite(y):
                rows.append(
                    {
                        "x": x, "y": y, "key": c.key, "index": i, "color": color, "marker": marker,
                        "name": label(c.sampler, c.gradient), "step": f"{c.step_size[i]:.3g}",
                        "error": float(c.mean[i]), "sd": float(c.sd[i]), "count": int(c.count[i]),
                        "total": int(c.total[i]), "dead": float(c.dead[i]), "order": float(c.order[i]),
                        "pairs": int(c.pairs[i]),
                    }
                )  # fmt: skip
    return rows


def _lines(found: Sequence[Curve], axes: Axes, gradient: str) -> list[dict[str, Any]]:
    """The curves of a gradient; those of unknown gradients are drawn like the last one."""
    mine = [c for c in found if (c.gradient if c.gradient in GRADIENTS else GRADIENTS[-1]) == gradient]
    return [{"x": axes.x(c), "y": axes.y(c), "color": look(c.sampler)[0], "key": c.key} for c in mine]


def _bands(found: Sequence[Curve]) -> list[dict[str, Any]]:
    """Outlines of mean ± one standard deviation."""
    rings = []
    for c in found:
        there = np.isfinite(c.mean)
        if there.sum() > 1:
            x, mean, sd = c.step_size[there], c.mean[there], np.nan_to_num(c.sd[there])
            y = np.concatenate([squeeze(mean - sd), squeeze(mean + sd)[::-1]])
            rings.append({"x": np.concatenate([x, x[::-1]]), "y": y, "color": look(c.sampler)[0], "key": c.key})
    return rings


Hook = Callable[[Any, Any], None]


def _columns(rows: Sequence[dict[str, Any]], **looks: Any) -> Hook:
    """Gives a source what HoloViews does not draw: the colour of each row, whose curve it is, and the numbers of tips.

    HoloViews cuts a path whose colour is a column into its segments. looks: of the glyph besides.
    """
    columns = [name for name, value in rows[0].items() if not isinstance(value, np.ndarray) and name not in ("x", "y")]

    def hook(drawn: Any, element: Any) -> None:
        drawn.handles["source"].data.update({name: [row[name] for row in rows] for name in columns})
        renderer = drawn.handles["glyph_renderer"]
        for other in ("nonselection_glyph", "selection_glyph", "muted_glyph", "hover_glyph"):
            setattr(renderer, other, None)
        colors = {"line_color", "fill_color"} & renderer.glyph.properties()
        renderer.glyph.update(**dict.fromkeys(colors, "color"), **looks)

    return hook


def _told(drawn: Any, element: Any) -> None:
    """Numbers of a point under the pointer, and a name by which scripts find the points."""
    points = drawn.handles["glyph_renderer"]
    points.name = "points"
    drawn.handles["plot"].add_tools(bokeh_models().HoverTool(renderers=[points], tooltips=TIPS))


def _ticked(name: str, x: tuple[float, float], y: tuple[float, float]) -> Hook:
    """Names the figure, and puts few and round ticks on its axes."""
    models = bokeh_models()

    def put(axis: Any, ticks: list[tuple[float, str]]) -> None:
        axis.ticker, axis.major_label_overrides = models.FixedTicker(ticks=[at for at, _ in ticks]), dict(ticks)

    def hook(drawn: Any, element: Any) -> None:
        plot = drawn.handles["plot"]
        plot.name, across, up = name, plot.xaxis[0], plot.yaxis[0]
        if name == "mean_against_sd":
            put(across, error_ticks(*x, most=MOST_ACROSS))
            across.major_label_policy = models.NoOverlap(min_distance=6)  # on a phone −5% and +5% would touch
            put(up, sd_ticks(y[1]))
        else:
            shown, between = step_ticks(*x)
            across.ticker = models.FixedTicker(ticks=shown, minor_ticks=between)
            if name == "relative_error":
                put(up, error_ticks(*y))
            else:
                up.formatter, up.ticker = (
                    models.NumeralTickFormatter(format="0%"),
                    models.FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1]),
                )
        plot.ygrid[0].ticker = up.ticker

    return hook


def _legend(found: Sequence[Curve]) -> Hook:
    """A legend below, whose entries switch their curves on and off."""
    models = bokeh_models()

    def hook(drawn: Any, element: Any) -> None:
        plot = drawn.handles["plot"]
        curves = [
            each for each in plot.renderers if "key" in getattr(each, "data_source", models.ColumnDataSource()).data
        ]
        looks = [look(c.sampler) for c in found]
        nowhere = [math.nan] * len(found)
        marks = models.ColumnDataSource(
            {
                "x": nowhere, "y": nowhere, "key": [c.key for c in found], "color": [color for color, _ in looks],
                "marker": [marker for _, marker in looks], "alpha": [1.0] * len(found),
            }
        )  # fmt: skip
        swatches = plot.scatter("x", "y", source=marks, color="color", marker="marker", alpha="alpha", size=9)
        items = [
            models.LegendItem(label=label(c.sampler, c.gradient), renderers=[swatches], index=i, name=c.key)
            for i, c in enumerate(found)
        ]
        legend = models.Legend(
            items=items, orientation="horizontal", ncols=3, border_line_alpha=0, background_fill_alpha=0, tags=[[]],
            label_text_font_size="13px", margin=4, padding=4, click_policy="none",
        )  # fmt: skip
        for each in curves:
            each.view = models.CDSView(filter=models.BooleanFilter([True] * len(each.data_source.data["key"])))
        script = Path(__file__).with_name("legend_switch.js").read_text(encoding="utf-8")
        args = {"legend": legend, "renderers": curves, "marks": marks}
        legend.js_on_event("legend_item_click", models.CustomJS(args=args, code=script))
        plot.add_layout(legend, "below")

    return hook
