"""Tiles of the presets, and the three gauges."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from app.components.tiles import item
from app.pages.functions.cases import CASES
from app.pages.functions.config import DEEP, KIND, network_of
from app.pages.functions.presets import FunctionsPreset
from app.style import theme
from app.style.numbers import UNKNOWN
from app.style.tile_plot import TilePlot, svg
from llc_core.potentials.bayesian.data import wave

AGREE, ALMOST = 1.05, 1.2
"""R-hat below which chains are taken to agree, and below which they nearly do."""
GAUGES = """
.gauge { display: grid; grid-template-columns: 5.125rem minmax(0, 1fr) 4rem; gap: 10px; align-items: center; margin: 0 0 7px; }
.gauge .name { font-weight: 700; font-size: .875rem; }
.gauge .track { position: relative; height: 16px; border-radius: 8px; overflow: hidden;
  background: color-mix(in srgb, currentColor 13%, transparent); }
.gauge .bar { position: absolute; inset: 0 auto 0 0; border-radius: 8px; }
.gauge .limit { position: absolute; top: 0; bottom: 0; width: 2px; background: currentColor; opacity: .7; }
.gauge .value { font-size: 1.25rem; font-weight: 700; font-variant-numeric: tabular-nums; text-align: right; }
.scale { display: grid; grid-template-columns: 5.125rem minmax(0, 1fr) 4rem; gap: 10px; font-size: .875rem; opacity: .85; margin: 0 0 2px; }
.scale .marks { position: relative; height: 1.2em; }
.scale .marks span { position: absolute; transform: translateX(-50%); }
.note { font-size: .875rem; margin: 2px 0 0; opacity: .85; }
"""
"""Style sheet of `draw_gauges`."""
NOTE = f"R-hat is 1 where all chains say the same. Left of the mark, {AGREE:g}, they agree."
GAUGE_ROWS = (
    ("weights", "Weights", "R-hat of single weights: the median over all of them, or over 48 evenly spaced ones"),
    ("loss", "Loss", "R-hat of the loss of the data"),
    ("functions", "Functions", "R-hat of f(x): the largest over the inputs of the figure"),
)
CURVES = {
    "same": ((1.0, 0.0), (1.0, 0.04), (1.0, -0.04)),
    "paper": ((1.0, 0.0), (0.6, 0.5), (1.2, -0.5)),
    "figure4": ((1.0, 0.0), (0.7, 0.4), (1.15, -0.4)),
    "wider": ((1.0, 0.0), (0.85, 0.15), (0.7, 0.3)),
    "printed": ((0.0, 0.6), (0.15, -0.3), (-0.2, 0.1)),
}
"""On tiles: factors and shifts of the curve behind the data."""
TICKS = (1.01, 1.05, 1.2, 2.0)


def place(r_hat: float) -> float:
    """Where R-hat lies on a gauge, from 0 to 1: even in log(R-hat − 1), from 1.003 to 4."""
    if math.isnan(r_hat):
        return 0.0
    low, high = math.log(0.003), math.log(3.0)
    return min(max((math.log(max(r_hat - 1, 1e-9)) - low) / (high - low), 0.0), 1.0)


def written(r_hat: float) -> str:
    if math.isnan(r_hat):
        return UNKNOWN
    return f"{r_hat:.3f}" if r_hat < 10 else "> 10"


def draw_gauges(values: dict[str, float]) -> str:
    """HTML. values: R-hat by the keys of GAUGE_ROWS, nan where it is not known."""
    rows = []
    for key, name, tip in GAUGE_ROWS:
        value = values.get(key, math.nan)
        color = theme.GOOD if value < AGREE else theme.PINNED if value < ALMOST else theme.LOCAL
        share, text = max(place(value), 0.02) if not math.isnan(value) else 0.0, written(value)
        role = 'role="img"'
        if not math.isnan(value):  # a meter must have a value
            role = f'role="meter" aria-valuemin="1" aria-valuemax="4" aria-valuenow="{min(max(value, 1), 4):.3f}"'
            role += f' aria-valuetext="{escape(text)}"'
        rows.append(
            f'<div class="gauge" title="{escape(tip)}"><span class="name">{name}</span>'
            f'<div class="track" {role} aria-label="{escape(tip)}"><div class="bar" style="width:{100 * share:.1f}%;background:{color}"></div>'
            f'<div class="limit" style="left:{100 * place(AGREE):.1f}%"></div></div>'
            f'<span class="value" data-key="r_hat_{key}">{text}</span></div>'
        )
    marks = "".join(f'<span style="left:{100 * place(tick):.1f}%">{tick:g}</span>' for tick in TICKS)
    scale = (
        f'<div class="scale" aria-hidden="true"><span>R-hat</span><div class="marks">{marks}</div><span></span></div>'
    )
    return "".join(rows) + scale + f'<p class="note">{escape(NOTE)}</p>'


def tile(preset: FunctionsPreset) -> dict[str, str]:
    return item(preset, draw_preset(preset))


def draw_preset(preset: FunctionsPreset) -> str:
    """SVG: the data, and curves beside the one that made them."""
    problem = preset.config.problem
    data_x, data_y, x, curves = _network_curves(preset) if problem["kind"] == KIND else _case_curves(problem["kind"])
    values = np.concatenate([*curves, data_y])
    plot = TilePlot((x[0], x[-1]), (values.min(), values.max()))
    lines = [plot.line(zip(x, curve, strict=True), theme.CHAINS[i]) for i, curve in enumerate(curves)]
    return svg([*lines, plot.dots(zip(data_x, data_y, strict=True), "currentColor")], "data and curves")


def _network_curves(preset: FunctionsPreset) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    data = network_of(preset.config.problem).data
    x = np.linspace(data.x.min(), data.x.max(), 36)
    return data.x[:, 0], data.y, x, [scale * wave(x) + lift for scale, lift in CURVES.get(preset.name, ((1.0, 0.0),))]


def _case_curves(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Three functions near the data: coordinates moved a little."""
    if kind == DEEP:  # weights go on wandering, and λ̂ has settled
        x = np.linspace(0.0, 1.0, 36)
        settled = 1 - np.exp(-9 * x)
        return np.zeros(0), np.zeros(0), x, [settled, 0.5 + 0.35 * np.sin(9 * x), 0.5 - 0.4 * np.sin(6 * x)]
    case = CASES[kind]()
    if kind == "linear":
        return case.x, case.y, case.inputs, [case.y, case.y + 0.3, case.y - 0.3]
    first = np.array([0.0]) if kind == "torus" else np.array([0.6, 1.2, 2.0])
    return case.x, case.y, case.inputs, [case.curve(first + shift) for shift in (0.0, 0.07, -0.07)]
