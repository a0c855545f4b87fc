"""Puts curves into a figure that is drawn: its data, the ends of its axes, their ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import FixedTicker, NoOverlap, NumeralTickFormatter, Range1d
from bokeh.plotting import figure

from app.pages.benchmark.columns import (
    Axes,
    bands,
    error_frame,
    error_ticks,
    lines,
    points,
    sd_frame,
    sd_ticks,
    squeeze,
    step_frame,
    step_ticks,
)
from llc_core.sweeps.series import Curve

MOST_ACROSS = 7
"""Tick labels that stand beside each other."""
AXES_OF = {
    "relative_error": Axes(lambda c: c.step_size, lambda c: squeeze(c.mean), bands=True),
    "nan_share": Axes(lambda c: c.step_size, lambda c: c.nan),
    "mean_against_sd": Axes(lambda c: squeeze(c.mean), lambda c: squeeze(c.sd)),
    "order_preservation": Axes(lambda c: c.step_size, lambda c: c.order),
}
"""By the names of the figures."""


def renderers(plot: figure) -> dict[str, Any]:
    """The renderers of a figure by name: "points", "bands", and the lines of each gradient."""
    return {r.name: r for r in plot.renderers if getattr(r, "name", None) and hasattr(r, "data_source")}


def fill(plot: figure, name: str, found: Sequence[Curve], spread: bool) -> None:
    """Data, ends and ticks of a figure."""
    axes = AXES_OF[name]
    for kind, renderer in renderers(plot).items():
        if kind == "points":
            columns = points(found, axes)
        elif kind == "bands":
            columns = bands(found, spread)
        else:
            columns = lines(found, axes, kind)
        renderer.data_source.data = columns
    x, y = axis_ends(name, found, spread)
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


def axis_ends(name: str, found: Sequence[Curve], spread: bool) -> tuple[tuple[float, float], tuple[float, float]]:
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
