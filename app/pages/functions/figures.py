"""The figure of the page "Weights and functions": bands over the inputs, a few functions, and the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, Range1d

from app.pages.functions.config import FunctionsConfig
from app.pages.functions.job import DRAWN, Band
from app.pages.functions.scene import Posterior, Scene
from app.style import theme
from app.style.figures import house_figure
from app.style.numbers import number

HEIGHT = 344
TALL = theme.high(f"clamp({HEIGHT}px, 100vh - 264px, 560px)", f"clamp({HEIGHT}px, 100vh - 390px, 640px)", wide=1200)
"""The slider below it stays on the first screen."""
ROOM = 0.45
"""Above and below the data, as a share of their height."""
DEEP_REACH = 0.0025
"""Of the entries of a deep linear network's product, to both sides of those at w0."""
EMPTY = np.zeros(0)


class FunctionsFigure:
    """on_tap: called with the coordinates of a click."""

    def __init__(self) -> None:
        self.on_tap: Callable[[float, float], None] = lambda x, y: None
        self._x, self._y = Range1d(-3, 2.5), Range1d(-2, 2)
        self.plot = house_figure(
            "functions",
            HEIGHT,
            x_range=self._x,
            y_range=self._y,
            x_axis_label="input x",
            y_axis_label="f(x)",
            min_border=4,
        )
        self.plot.stylesheets = [TALL]
        self.limit, self.exact, self.live = (
            ColumnDataSource({"x": EMPTY, "mean": EMPTY, "low": EMPTY, "high": EMPTY}, name=name)
            for name in ("limit", "exact", "live")
        )
        self.lines = ColumnDataSource({"xs": [], "ys": [], "color": []}, name="lines")
        self.data = ColumnDataSource({"x": EMPTY, "y": EMPTY}, name="data")
        self._renderers = {
            "limit": self._area(self.limit, theme.RECENT, 0.24),
            "live": self._area(self.live, theme.ESTIMATE, 0.26),
            # One renderer for all of them: each brings five more models, and the page opens sooner with few.
            "lines": [
                self.plot.multi_line("xs", "ys", source=self.lines, line_color="color", line_width=1.2, line_alpha=0.75)
            ],
            "exact": [
                self.plot.line("x", name, source=self.exact, line_color=theme.LOCAL, line_width=width, line_dash=dash)
                for name, width, dash in (("low", 2, [8, 5]), ("high", 2, [8, 5]), ("mean", 1.5, [2, 4]))
            ],
        }
        self.plot.line("x", "mean", source=self.live, line_color=theme.ESTIMATE, line_width=2.5)
        self.plot.scatter("x", "y", source=self.data, size=11, fill_color="#111111", line_color="white", line_width=2)
        self.plot.on_event(Tap, self._on_tap)

    def _area(self, source: ColumnDataSource, color: str, alpha: float) -> list[Any]:
        return [self.plot.varea("x", "low", "high", source=source, fill_color=color, fill_alpha=alpha)]

    def reset(self, scene: Scene) -> None:
        """Another run: the data, and no bands."""
        x, y = scene.x, scene.y
        low, high = (float(y.min()), float(y.max())) if len(y) else (-DEEP_REACH, DEEP_REACH)
        self.plot.xaxis.axis_label = "input x" if len(y) else "entry of the product of the layers"
        self.plot.yaxis.axis_label = "f(x)" if len(y) else "entry, less that at w0"
        margin = 0.02 * float(np.ptp(scene.inputs))
        room = max(ROOM * (high - low), 0.5) if len(y) else 0.0
        for axis, start, end in (
            (self._x, float(scene.inputs[0]) - margin, float(scene.inputs[-1]) + margin),
            (self._y, low - room, high + room),
        ):
            axis.update(start=start, end=end, reset_start=start, reset_end=end)
        self.data.data = {"x": x, "y": y}
        self.lines.data = {"xs": [], "ys": [], "color": []}
        for source in (self.limit, self.exact, self.live):
            source.data = {"x": EMPTY, "mean": EMPTY, "low": EMPTY, "high": EMPTY}

    def show_posterior(self, name: str, scene: Scene, found: Posterior | None, share: float) -> None:
        """name: "exact" or "limit".  found: None where there is nothing to show."""
        source = self.exact if name == "exact" else self.limit
        if found is None:
            source.data = {"x": EMPTY, "mean": EMPTY, "low": EMPTY, "high": EMPTY}
            return
        source.data = {"x": scene.inputs, "mean": found.mean, "low": found.low[share], "high": found.high[share]}

    def show_band(self, scene: Scene, band: Band, config: FunctionsConfig) -> None:
        edges = band.edges[config.band]
        low, high = edges.low[config.share], edges.high[config.share]
        self.live.data = {"x": scene.inputs, "mean": edges.mean, "low": low, "high": high}
        drawn = [list(line) for line in band.lines[:DRAWN]]
        self.lines.data = {
            "xs": [list(scene.inputs)] * len(drawn),
            "ys": drawn,
            "color": list(theme.CHAINS[: len(drawn)]),
        }

    def summary(self) -> str:
        """The bands in a sentence, in the middle of the inputs; empty while there is nothing to see. What is hidden is not in it."""
        x = np.asarray(self.live.data["x"], float)
        if not len(x):
            return ""
        middle = len(x) // 2

        def ends(source: ColumnDataSource) -> str:
            return " to ".join(number(float(source.data[name][middle]), 3) for name in ("low", "high"))

        said = f"At {number(float(x[middle]), 3)} the band of the chains is from {ends(self.live)}"
        for name, source in (("the exact band", self.exact), ("that of the infinitely wide network", self.limit)):
            if len(source.data["x"]):
                said += f", {name} from {ends(source)}"
        width = np.asarray(self.live.data["high"], float) - np.asarray(self.live.data["low"], float)
        return f"{said}. The band of the chains is narrowest at {number(float(x[width.argmin()]), 3)} and widest at {number(float(x[width.argmax()]), 3)}."

    def show_only(self, kinds: list[str]) -> None:
        for kind, renderers in self._renderers.items():
            for renderer in renderers:
                renderer.visible = kind in kinds

    def _on_tap(self, event: Any) -> None:
        if event.x is not None and event.y is not None:
            self.on_tap(float(event.x), float(event.y))
