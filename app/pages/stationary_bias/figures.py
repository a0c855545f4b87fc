"""Figures of the page "Stationary bias": small sources that are replaced whole, and frames that stay where they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

from app.pages.stationary_bias.scene import Prediction, Scene
from app.style import theme
from app.style.figures import GrowingRange, RunFigure, house_figure, nice_above
from app.style.numbers import number
from llc_core.bins import Bins

LAW_HEIGHT, METRIC_HEIGHT, DISTANCE_HEIGHT = 228, 104, 292
LOWEST = 1e-4
"""Lower end of a logarithmic axis of distances."""
TALL_LAW = """:host { flex: none !important; height: clamp(228px, calc(100vh - 443px), 420px) !important; }
@media (max-width: 1199px) { :host { height: clamp(228px, calc(100vh - 500px), 420px) !important; } }
@media (max-width: 899px) { :host { height: 228px !important; } } :host(.lab-full) { height: var(--whole) !important; }"""
"""The histogram is as high as leaves its verdict on the first screen. --whole: where it is alone, see full_screen.js."""
DISTANCES = ("left_target", "left_predicted", "right_target", "right_predicted", "floor")


class Frame:
    """Axes that both sides share, so that they can be compared by eye."""

    def __init__(self) -> None:
        self.x, self.y = Range1d(-4, 4), GrowingRange()

    def reset(self, scene: Scene, shown: bool = True) -> None:
        """shown: whether the distributions of the samplers are drawn; else the range must not tell how high they are."""
        low, high = scene.bins.low, scene.bins.high
        self.x.update(start=low, end=high, reset_start=low, reset_end=high)
        laws = (scene.density, scene.left.density, scene.right.density) if shown else (scene.density,)
        tops = [_top(values) for values in laws]
        self.y.reset(0, nice_above(1.12 * max(tops)))


def _top(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else 0.0


def _line_figure(height: int, x: Range1d, y: Range1d, y_label: str, name: str, **options: Any) -> figure:
    return house_figure(name, height, x_range=x, y_range=y, y_axis_label=y_label, min_border=4, **options)


class DistributionFigure:
    """Histogram, target, predicted distribution and exact distribution at this step size, of one side."""

    def __init__(self, side: str, frame: Frame):
        self.side, self._frame = side, frame
        self._told = True
        self._laws = [np.zeros(0)] * 3
        self._finite = np.zeros(0), np.zeros(0)
        self.plot = _line_figure(LAW_HEIGHT, frame.x, frame.y.range, "density", f"law_{side}")
        self.plot.stylesheets = [TALL_LAW]
        self.plot.yaxis.ticker.desired_num_ticks = 5  # type: ignore[attr-defined]
        self.histogram = ColumnDataSource({"left": [], "right": [], "top": []}, name=f"histogram_{side}")
        self.curves = ColumnDataSource({"x": [], "target": [], "predicted": []}, name=f"laws_{side}")
        self.finite = ColumnDataSource({"x": [], "exact": []}, name=f"exact_{side}")
        bars = self.plot.quad(
            left="left",
            right="right",
            top="top",
            bottom=0,
            source=self.histogram,
            fill_color=theme.HISTOGRAM,
            fill_alpha=0.42,
            line_color=theme.HISTOGRAM,
            line_alpha=0.55,
            line_width=1,
        )
        self._renderers = {"histogram": [bars]}
        for kind, color in (("target", theme.TARGET), ("predicted", theme.PREDICTED), ("exact", theme.EXACT)):
            source = self.finite if kind == "exact" else self.curves
            line = self.plot.line(
                "x", kind, source=source, line_color=color, line_width=2.5, line_dash=theme.DASHES[kind]
            )
            self._renderers[kind] = [line]

    def reset(self, scene: Scene) -> None:
        """Show the distributions of a new scene and an empty histogram."""
        side = scene.side(self.side)
        self._laws = [scene.x, scene.density, side.density]
        self._send_distributions()
        self.histogram.data = _bars(scene.bins, np.zeros(scene.bins.count))
        self.show_exact(np.zeros(0), np.zeros(0))

    def show_counts(self, bins: Bins, counts: np.ndarray) -> None:
        density = bins.density(counts)
        if np.isfinite(density).all():
            self.histogram.patch({"top": [(slice(0, bins.count), density)]})
            # While there are few samples a single bin may be cut off; the shape of the histogram must not.
            self._frame.y.cover(0, float(np.quantile(density, 0.97)))

    def show_exact(self, x: np.ndarray, density: np.ndarray) -> None:
        self._finite = x, density
        shown = self._finite if self._told else (np.zeros(0), np.zeros(0))
        self.finite.data = {"x": shown[0], "exact": shown[1]}

    def show_answers(self, visible: bool) -> None:
        """The distributions that the sampler has, or only the one that it should have: what is sent can be read, seen or not."""
        self._told = visible
        self._send_distributions()
        self.show_exact(*self._finite)

    def _send_distributions(self) -> None:
        x, target, predicted = self._laws
        self.curves.data = {"x": x, "target": target, "predicted": predicted if self._told else np.full(len(x), np.nan)}

    def summary(self) -> str:
        """The histogram beside the distributions that are drawn, in a sentence; empty before anything is counted."""
        bars = self.histogram.data
        middles = (np.asarray(bars["left"], float) + np.asarray(bars["right"], float)) / 2
        counted = _moments(middles, np.asarray(bars["top"], float))
        if not counted:
            return ""
        said = [f"The histogram has {counted}"]
        laws = self.curves.data
        for name, x, density in (
            ("the target", laws["x"], laws["target"]),
            ("the prediction", laws["x"], laws["predicted"]),
            ("the exact distribution at this step size", self.finite.data["x"], self.finite.data["exact"]),
        ):
            known = _moments(np.asarray(x, float), np.asarray(density, float))
            said += [f"{name} {known}"] if known else []
        return ", ".join(said) + "."

    def show_only(self, kinds: list[str]) -> None:
        for kind, renderers in self._renderers.items():
            for renderer in renderers:
                renderer.visible = kind in kinds


def _moments(x: np.ndarray, density: np.ndarray) -> str:
    """Mean and standard deviation of a density at evenly spaced places, in words; empty where it is unknown or nothing."""
    total = float(density.sum()) if len(density) else math.nan
    if not (math.isfinite(total) and total > 0):
        return ""
    mean = float((x * density).sum() / total)
    sd = math.sqrt(max(float((np.square(x - mean) * density).sum() / total), 0.0))
    return f"mean {number(round(mean, 3) + 0.0, 3)} and standard deviation {number(sd, 3)}"


def _place(x: float) -> str:
    return number(round(float(x), 2) + 0.0, 3)


def _bars(bins: Bins, top: np.ndarray) -> dict[str, np.ndarray]:
    return {"left": bins.edges[:-1], "right": bins.edges[1:], "top": top}


class MetricFigure:
    """G(θ), by which steps are multiplied, under the distribution of the same side."""

    def __init__(self, side: str, frame: Frame):
        self.side, self._y, self._high = side, Range1d(0, 1), 1.0
        self.plot = _line_figure(METRIC_HEIGHT, frame.x, self._y, "G(θ)", f"metric_figure_{side}", x_axis_type=None)
        self.plot.yaxis.ticker.desired_num_ticks = 3  # type: ignore[attr-defined]
        self.plot.min_border_bottom = 8  # room for half the height of a number
        self.source = ColumnDataSource({"x": [], "metric": []}, name=f"metric_{side}")
        self.plot.varea("x", y1=0, y2="metric", source=self.source, fill_color=theme.RECENT, fill_alpha=0.25)
        self.plot.line("x", "metric", source=self.source, line_width=2, line_color=theme.RECENT)

    def reset(self, scene: Scene) -> None:
        side: Prediction = scene.side(self.side)
        metric = side.metric
        known = metric[np.isfinite(metric)]
        # Shampoo's metric is infinite at the mode: show what is below some times its usual size.
        high = min(_top(metric), 20 * float(np.median(known))) if len(known) else 1.0
        high = nice_above(1.1 * high) if high > 0 else 1.0
        self._y.update(start=0, end=high, reset_start=0, reset_end=high)
        self.source.data = {"x": scene.x, "metric": np.minimum(np.nan_to_num(metric, posinf=2 * high), 2 * high)}
        self._high = high

    def summary(self) -> str:
        """The figure in a sentence; empty while there is nothing to see."""
        x, metric = (np.asarray(self.source.data[name], float) for name in ("x", "metric"))
        if not len(metric) or not np.isfinite(metric).all():
            return ""
        least, most = int(metric.argmin()), int(metric.argmax())
        if metric[most] - metric[least] <= 1e-3 * abs(metric[most]):
            return f"G is {number(float(metric[most]), 3)} everywhere."
        above = metric[most] > self._high
        top = f"goes above {number(self._high, 3)}" if above else f"is highest, {number(float(metric[most]), 3)},"
        return f"G {top} at {_place(x[most])} and is lowest, {number(float(metric[least]), 3)}, at {_place(x[least])}."


class DistanceFigure(RunFigure):
    """Total variation of both histograms to the target and to their predictions, with what chance alone leaves."""

    def __init__(self) -> None:
        super().__init__("total variation", "distances", y_axis_type="log")
        self.plot.height = DISTANCE_HEIGHT
        self.source = ColumnDataSource({"step": [], **{name: [] for name in DISTANCES}}, name="distances")
        self.plot.line("step", "floor", source=self.source, line_width=1.5, line_color=theme.RECENT, line_dash=[2, 4])
        for side, color in theme.SIDES.items():
            for kind in ("target", "predicted"):
                self.plot.line(
                    "step",
                    f"{side}_{kind}",
                    source=self.source,
                    line_width=2.5,
                    line_color=color,
                    line_dash=theme.DASHES[kind],
                )

    def reset(self, total_steps: int, burn_in: int) -> None:
        self._last = np.zeros(0)
        self.source.data = {"step": np.zeros(0), **{name: np.zeros(0) for name in DISTANCES}}
        self.frame(total_steps, burn_in)
        self.y.reset(2e-3, 1.0)

    def summary(self) -> str:
        """The figure in a sentence; empty while there is nothing to see."""
        if not len(self._last):
            return ""
        step, left, left_own, right, right_own, floor = (float(value) for value in self._last)
        return (
            f"At step {step:,.0f} the left histogram is {number(left, 2)} from the target and {number(left_own, 2)} from its "
            f"prediction. The right one is {number(right, 2)} and {number(right_own, 2)} away. Chance alone leaves {number(floor, 2)}."
        )

    def stream(self, rows: np.ndarray) -> None:
        """rows: [T, 6], see `DistanceLog`."""
        if not len(rows):
            return
        self.source.stream({"step": rows[:, 0], **{name: rows[:, i + 1] for i, name in enumerate(DISTANCES)}})
        self._last = rows[-1]
        values = rows[:, 1:]
        smallest = float(np.nanmin(np.where(values > 0, values, np.nan)))
        if math.isfinite(smallest) and smallest < self.y.range.start:
            low = max(LOWEST, 10.0 ** math.floor(math.log10(smallest)))
            self.y.reset(low, 1.0)
