"""Kinds of figures of plain numbers by name: curves, densities, and values with errors beside truths."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llc_core.plots.style import (
    CHAINS,
    ESTIMATE,
    GOOD,
    MARK,
    TRUTH,
    area,
    bars,
    finished,
    holoviews,
)

BESIDE = ((TRUTH, "solid"), (GOOD, "dashed"), (MARK, "dotted"))
"""Colours and dashes of the densities that lie beside what was drawn at random."""
PALE = np.array([0x5B, 0xA9, 0xDF])
"""The darkest colour of a heat map, on which dark letters can still be read."""


def curves(
    named: Mapping[str, Sequence[Any]],
    ground: Sequence[Any] = (),
    colors: Sequence[str] = CHAINS,
    dashes: Sequence[str] = ("solid",),
    dots: bool = False,
    lines: bool = True,
    **options: Any,
) -> Any:
    """Several curves, each with its name in the legend.

    named: x [N] and y [N] of each; third, where it is known, the standard errors of y [N], drawn as bars of two, or the low and
    the high end of a band [2, N]. What is not finite is left out.  ground: elements under all curves, as of `line_at`.
    colors, dashes: of the curves in turn.  dots: a dot at every point too; bars always have one.  options: of HoloViews.
    Raises ValueError where a curve has not as many x as y.
    """
    hv, parts = holoviews(), list(ground)
    for (name, given), color, dash in zip(
        named.items(), itertools.cycle(colors), itertools.cycle(dashes), strict=False
    ):
        x, y, *spread = (np.asarray(each, dtype=float) for each in given)
        if x.shape != y.shape:
            raise ValueError(f"The curve {name!r} has {len(x)} x and {len(y)} y; give as many of both.")
        there = np.isfinite(x) & np.isfinite(y)
        x, y = x[there], y[there]
        error = [each[..., there] for each in spread]
        if error and error[0].ndim == 2:
            low, high = error[0]
            parts.append(area(x, low, high, color, 0.15))
        if lines:
            parts.append(hv.Curve((x, y), label=name).opts(color=color, line_width=2, line_dash=dash))
        if error and error[0].ndim == 1:
            parts.append(bars(x, y, error[0], color))
        if dots or not lines or (error and error[0].ndim == 1):
            parts.append(hv.Scatter((x, y), label=name).opts(color=color, size=7))
    return finished(hv.Overlay(parts), **{"xlabel": "x", "ylabel": "y", **options})


def densities(edges: Any, heights: Mapping[str, Any], beside: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Histograms by name, beside curves by name.

    edges: of the bins [B + 1].  heights: [B] each.  beside: [B] at the bins' centres each, or a pair of x [N] and y [N]; the
    first one is the target's.  options: of HoloViews.
    """
    hv, edges = holoviews(), np.asarray(edges, dtype=float)
    colors = (ESTIMATE, *(color for color in CHAINS[1:]))
    drawn = [
        hv.Histogram((edges, np.asarray(height)), label=name).opts(color=color, alpha=0.4, line_alpha=0)
        for (name, height), color in zip(heights.items(), colors, strict=False)
    ]
    centers = (edges[1:] + edges[:-1]) / 2
    for (name, given), (color, dash) in zip((beside or {}).items(), itertools.cycle(BESIDE), strict=False):
        points = given if isinstance(given, tuple) else (centers, given)
        drawn.append(hv.Curve(points, label=name).opts(color=color, line_dash=dash, line_width=2))
    return finished(hv.Overlay(drawn), **{"xlabel": "w", "ylabel": "density", **options})


def in_places(
    names: Sequence[str],
    found: Mapping[str, Sequence[Any]],
    truths: Mapping[str, Any] | None = None,
    ground: Sequence[Any] = (),
    colors: Sequence[str] = CHAINS,
    lying: bool = False,
    **options: Any,
) -> Any:
    """Values in a place for each name, the answers of several ways beside each other in it.

    names: of the K places.  found: by the name of the way, values [K] and where they are known standard errors [K], drawn as
    bars of two; ways without any are crosses.  truths: values [K] by name, drawn as strokes.  ground: elements under all, as of
    `line_at`.  colors: of the ways in turn.  lying: the names stand on the vertical axis, the first one above.  options: of
    HoloViews.
    """
    hv, parts = holoviews(), list(ground)
    places, width = np.arange(len(names), dtype=float), 0.6 / max(len(found), 1)
    if lying:
        places = places[::-1]

    def at(where: Any, values: Any) -> tuple[Any, Any]:
        values = np.asarray(values, dtype=float)
        return (values, where) if lying else (where, values)

    for (name, values), color in zip((truths or {}).items(), (TRUTH, GOOD, MARK), strict=False):
        strokes = hv.Scatter(at(places, values), label=name)
        parts.append(strokes.opts(color=color, marker="dash", angle=90 if lying else 0, size=26, line_width=2.5))
    for k, ((name, (values, *error)), color) in enumerate(zip(found.items(), itertools.cycle(colors), strict=False)):
        x, y = at(places + (k - (len(found) - 1) / 2) * width, values)
        parts += [bars(x, y, each, color, lying) for each in error]
        named = {"label": name} if len(found) > 1 or truths else {}
        parts.append(hv.Scatter((x, y), **named).opts(color=color, size=8, marker="circle" if error else "x"))
    ticks = [(float(place), name) for place, name in zip(places, names, strict=True)]
    ends = (-0.6, len(names) - 0.4)
    axis = {"yticks": ticks, "ylim": ends, "ylabel": ""} if lying else {"xticks": ticks, "xlim": ends, "xlabel": ""}
    return finished(hv.Overlay(parts), **{**axis, **options})


def heat(
    values: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    texts: Sequence[Sequence[str]],
    ends: tuple[float, float] | None = None,
    colors: Sequence[str] = (),
    **options: Any,
) -> Any:
    """A field for each row and column: the darker, the larger its value, with its text in it.

    values: [R, K]; those that are not finite stay white.  texts: [R, K].  ends: values of the lightest and the darkest colour; None:
    the least and the largest.  colors: from the one to the other, in place of shades of blue.  options: of HoloViews.
    """
    hv, values = holoviews(), np.asarray(values, dtype=float)
    known = values[np.isfinite(values)]
    low, high = ends or ((known.min(), known.max()) if known.size else (0.0, 1.0))
    fields = [(column, row, values[i, k]) for i, row in enumerate(rows) for k, column in enumerate(columns)]
    words = [(column, row, texts[i][k]) for i, row in enumerate(rows) for k, column in enumerate(columns)]
    share = np.linspace(0, 1, 64)[:, None]
    tones = (255 + share * (PALE - 255)).round().astype(int)
    blues = ["#" + "".join(f"{part:02x}" for part in tone) for tone in tones]
    field = hv.HeatMap(fields, ["x", "y"], "value").opts(
        cmap=list(colors) or blues,
        clim=(low, high if high > low else low + 1.0),
        clipping_colors={"NaN": "white"},
        invert_yaxis=True,
    )
    labels = hv.Labels(words, ["x", "y"], "text").opts(text_color="#1a1a1a", text_font_size="12px")
    usual = {"xlabel": "", "ylabel": "", "show_grid": False, "height": 80 + 32 * len(rows)}
    return finished(field * labels, **{**usual, **options})
