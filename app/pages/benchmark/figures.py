"""Small multiples of a sweep: one chart for each sampler, all with the same axes, as plain data for `app.components.drawings.multiples`.

Places are shares of a chart's frame, from the left and from the foot: the browser only draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from app.pages.benchmark.table import percent
from app.style import theme
from app.style.numbers import number_text
from llc_core.sweeps.scales import (
    AXES_OF,
    DASHES,
    SHORT,
    Axes,
    axis_ends,
    error_ticks,
    label,
    place,
    sd_ticks,
    squeeze,
    step_ticks,
)
from llc_core.sweeps.series import CLOSE, GRADIENTS, Curve, with_few_missing

MOST_POINTS = 200
"""Points of one curve that are drawn: a store of a visitor may have any number of step sizes."""
MOST_TICKS = 5
"""Of errors across a chart: their labels stand beside each other."""
DIRECTIONS = {
    "relative_error": "Up: relative error of λ̂. Across: step size ε.",
    "mean_against_sd": "Up: standard deviation over the problems. Across: mean relative error. The best step sizes lie at the foot, in the middle.",
    "order_preservation": "Up: pairs of problems that λ̂ puts in the right order (half by chance). Across: step size ε.",
    "nan_share": "Up: problems without an estimate. Across: step size ε.",
}
"""What the axes of each measure are."""
Scale = Callable[[Any], np.ndarray]


def multiples(
    found: Sequence[Curve], measure: str, truth: str, spread: bool, nan_filter: bool = True
) -> dict[str, Any]:
    """What the charts show. measure: a key of DIRECTIONS.  truth: what errors are relative to, which says how its line is drawn.

    spread: whether there are bands of one standard deviation over the problems.  nan_filter: whether mean against sd is drawn
    `with_few_missing` alone; which step size is the best, and the tips, are of all.
    """
    drawn = with_few_missing(found) if nan_filter and measure == "mean_against_sd" else found
    ends_x, ends_y = axis_ends(measure, drawn, spread)
    by_step = measure != "mean_against_sd"
    x, y = _scale(ends_x, np.log10 if by_step else np.asarray), _scale(ends_y, np.asarray)
    samplers = list(dict.fromkeys(c.sampler for c in found))
    pairs = list(zip(found, drawn, strict=True))
    charts = [
        _chart([pair for pair in pairs if pair[0].sampler == sampler], measure, x, y, spread) for sampler in samplers
    ]
    return {
        "charts": charts,
        "x": _ticks(x, ends_x, _step_labels(*ends_x) if by_step else error_ticks(*ends_x, most=MOST_TICKS)),
        "y": _ticks(y, ends_y, _labels_up(measure, ends_y)),
        **_ground(measure, truth, x, y),
        "colors": {"line": theme.ESTIMATE, "truth": theme.TRUTH, "close": theme.GOOD, "chosen": theme.PINNED},
    }


def _scale(ends: tuple[float, float], to: Scale) -> Scale:
    """A value → its share of the frame."""
    low, high = float(to(ends[0])), float(to(ends[1]))

    def share(values: Any) -> np.ndarray:
        return np.round((to(np.asarray(values, dtype=float)) - low) / (high - low), 4)

    return share


def _ticks(share: Scale, ends: tuple[float, float], labels: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    return [(float(share(at)), text) for at, text in labels if ends[0] <= at <= ends[1]]


def _step_labels(low: float, high: float) -> list[tuple[float, str]]:
    shown, _ = step_ticks(low, high)
    return [(at, f"1e{round(math.log10(at))}".replace("-", "−")) for at in shown]


def _labels_up(measure: str, ends: tuple[float, float]) -> list[tuple[float, str]]:
    if measure == "relative_error":
        return error_ticks(*ends)
    if measure == "mean_against_sd":
        return sd_ticks(ends[1])
    return [(share, f"{share:.0%}") for share in (0, 0.5, 1)]


def _ground(measure: str, truth: str, x: Scale, y: Scale) -> dict[str, Any]:
    """What lies under every chart: the true value, the strip around it that is close enough, the line of chance."""
    close, dash = place(CLOSE), theme.DASHES[truth]
    if measure == "relative_error":
        return {"truth": {"y": float(y(0.0)), "dash": dash}, "close": {"y": y([-close, close]).tolist()}}
    if measure == "mean_against_sd":
        return {"truth": {"x": float(x(0.0)), "dash": dash}, "close": {"x": x([-close, close]).tolist()}}
    return {"chance": float(y(0.5))} if measure == "order_preservation" else {}


def _chart(pairs: Sequence[tuple[Curve, Curve]], measure: str, x: Scale, y: Scale, spread: bool) -> dict[str, Any]:
    """pairs: the curves, and what is drawn of each."""
    mine = [c for c, _ in pairs]
    lines = [_line(c, drawn, AXES_OF[measure], x, y) for c, drawn in pairs]
    bands = [_band(c, x, y) for c in mine] if spread and measure == "relative_error" else []
    return {
        "name": label(mine[0].sampler),
        "lines": lines,
        "bands": [band for band in bands if band],
        "said": "; ".join(map(_said, mine)),
    }


def _line(c: Curve, drawn: Curve, axes: Axes, x: Scale, y: Scale) -> dict[str, Any]:
    """points: place across, place up, index of the step size, whether it is the best one, words of the tip."""
    across, up = axes.x(drawn), axes.y(drawn)
    there = np.flatnonzero(np.isfinite(across) & np.isfinite(up))
    if len(there) > MOST_POINTS:
        there = there[np.unique(np.linspace(0, len(there) - 1, MOST_POINTS).round().astype(int))]
    places = zip(there.tolist(), x(across[there]).tolist(), y(up[there]).tolist(), strict=True)
    gradient = c.gradient if c.gradient in GRADIENTS else GRADIENTS[-1]
    return {
        "key": c.key,
        "dash": DASHES[gradient],
        "points": [[across, up, i, i == c.best, _tip(c, i)] for i, across, up in places],
    }


def _band(c: Curve, x: Scale, y: Scale) -> list[list[float]]:
    """The outline of mean ± one standard deviation; empty where it has no width."""
    there = np.isfinite(c.mean)
    if there.sum() < 2:
        return []
    across, mean, sd = x(c.step_size[there]), c.mean[there], np.nan_to_num(c.sd[there])
    low, high = np.clip(y(squeeze(mean - sd)), -1, 2), np.clip(y(squeeze(mean + sd)), -1, 2)
    outline = [*zip(across, low, strict=True), *zip(across[::-1], high[::-1], strict=True)]
    return [[float(at), float(up)] for at, up in outline]


def _tip(c: Curve, i: int) -> str:
    gradient = SHORT.get(c.gradient, c.gradient)
    lines = [
        f"ε = {number_text(float(c.step_size[i]))}, {gradient}",
        f"relative error {percent(float(c.mean[i]), True)} ± {percent(float(c.sd[i]))}",
        f"{int(c.count[i])} of {int(c.total[i])} problems have a λ̂",
        f"diverged chains {percent(float(c.dead[i]))}",
        f"right order {percent(float(c.order[i]))} of {int(c.pairs[i])} pairs",
    ]
    return "\n".join(lines)


def _said(c: Curve) -> str:
    name, best = label(c.sampler, c.gradient), c.best
    if best is None:
        return f"{name} has no estimate"
    error = percent(float(c.mean[best]), True)
    return f"{name} is {error} off at its best step size, {number_text(float(c.step_size[best]))}"
