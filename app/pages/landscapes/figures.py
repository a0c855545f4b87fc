"""The figure that the page "Landscapes" is about: the plane, its loss or its posterior, and the chains on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, CustomJS, FreehandDrawTool, GlyphRenderer, LinearColorMapper, Range1d

from app.pages.landscapes.job import TRAIL
from app.pages.landscapes.scene import (
    GROUND,
    LOSS_LEVELS,
    POSTERIOR_LEVELS,
    WEIGHT_LEVELS,
    Window,
    loss_heights,
    true_parameters,
)
from app.style import theme
from app.style.figures import house_figure, lean
from app.style.numbers import number
from llc_core import Planar

LARGEST = 560
"""Width and height where there is room."""
ROOM = {"max-width": f"var(--whole, min({LARGEST}px, max(320px, calc(100vh - 290px))))", "flex": "100 1 320px"}
"""As large as fits below the choices without scrolling. --whole: its size where it is alone, see full_screen.js."""
DRAWN, DRAWN_EDGE = "#ffffff", "#111111"
"""Draws of NUTS: no chain and no ground has these colours, and one of them is seen on any."""
BORDERS = {"min_border_left": 50, "min_border_right": 8, "min_border_top": 10, "min_border_bottom": 48}
"""As much beside the frame as above and below it: in a square figure the frame is square, and the plane isometric."""


def _shades(color: str, count: int, rising: bool) -> list[str]:
    opacity = np.linspace(0.03, 0.82, count)
    return [f"{color}{round(255 * a):02x}" for a in (opacity if rising else opacity[::-1])]


LEVELS = {"loss": LOSS_LEVELS, "posterior": POSTERIOR_LEVELS, "weight": WEIGHT_LEVELS}
SHADES = {name: _shades(GROUND[name], len(levels) - 1, name != "loss") for name, levels in LEVELS.items()}


class PlaneFigure:
    """on_tap: called with the coordinates of a click.  on_stroke: with those of a stroke that was drawn, two lists."""

    def __init__(self) -> None:
        self.on_tap: Callable[[float, float], None] = lambda x, y: None
        self.on_stroke: Callable[[list[float], list[float]], None] = lambda x, y: None
        self.plot = house_figure(
            "plane", LARGEST, x_range=Range1d(-3, 3), y_range=Range1d(-3, 3), x_axis_label="w₁", y_axis_label="w₂",
            sizing_mode="scale_width", aspect_ratio=1, toolbar_location="above", **BORDERS,
        )  # fmt: skip
        self.plot.ygrid.grid_line_color = None
        self.plot.toolbar_inner = True
        self.images = {
            name: ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []}, name=name) for name in GROUND
        }
        self.grounds: dict[str, GlyphRenderer] = {}
        self._add_ground("loss")
        self.truth = ColumnDataSource({"xs": [], "ys": []}, name="truth_lines")
        self.points = ColumnDataSource({"x": [], "y": []}, name="truth_points")
        self.plot.multi_line("xs", "ys", source=self.truth, line_color=theme.LOCAL, line_width=2.5, line_dash=[8, 5])
        self.plot.scatter(
            "x", "y", source=self.points, marker="diamond", size=15, fill_color=theme.LOCAL, line_color="white"
        )
        self.center = ColumnDataSource({"x": [], "y": []}, name="center")
        self.draws = ColumnDataSource({"x": [], "y": []}, name="draws")
        self.trails = ColumnDataSource({"turn": []}, name="trails")
        self.heads = ColumnDataSource({"x": [], "y": [], "color": []}, name="heads")
        self.begin = ColumnDataSource({"x": [], "y": []}, name="start")
        self._lines: list[Any] = []
        self._add_marks()
        self._turn = 0
        self.plot.on_event(Tap, self._on_tap)
        self._add_pen()

    def _add_ground(self, name: str) -> None:
        """Below all marks. An image is faster than filled contours, and the browser paints it again whenever the chains move."""
        shades = SHADES[name]
        self.grounds[name] = self.plot.image(
            "image", "x", "y", "dw", "dh", source=self.images[name],
            color_mapper=LinearColorMapper(palette=shades, low=-0.5, high=len(shades) - 0.5),
        )  # fmt: skip
        *others, ground = self.plot.renderers
        self.plot.renderers = [*others[: len(self.grounds) - 1], ground, *others[len(self.grounds) - 1 :]]

    def _add_pen(self) -> None:
        """The browser draws while the pointer moves; what was drawn comes here when it is lifted."""
        self.stroke = ColumnDataSource({"xs": [], "ys": []}, name="stroke")
        line = self.plot.multi_line("xs", "ys", source=self.stroke, line_color=theme.LOCAL, line_width=3)
        pen = FreehandDrawTool(renderers=[line], num_objects=1, description="Draw a valley")
        self.plot.add_tools(pen)
        # A tool can be switched in the browser only; the tag is how it is told.
        self.plot.js_on_change("tags", CustomJS(args={"pen": pen}, code="pen.active = cb_obj.tags.includes('pen')"))
        self.stroke.on_change("data", self._on_stroke)

    def hold_pen(self, held: bool) -> None:
        """Whether a drag draws."""
        self.plot.tags = ["pen"] if held else []

    def _add_marks(self) -> None:
        self.plot.scatter("x", "y", source=self.draws, marker="square", size=5, fill_color=DRAWN, line_color=DRAWN_EDGE)
        for color, width in (("white", 5), (theme.LOCAL, 2.5)):
            self.plot.scatter("x", "y", source=self.center, size=20, fill_alpha=0, line_color=color, line_width=width)
        self.plot.scatter(
            "x", "y", source=self.begin, marker="x", size=15, line_color="white", line_width=7, line_alpha=0.85
        )
        self.plot.scatter("x", "y", source=self.begin, marker="x", size=15, line_color="#111111", line_width=3)
        self.plot.scatter("x", "y", source=self.heads, size=10, fill_color="color", line_color="white", line_width=1.5)

    def summary(self) -> str:
        """Where the chains are, in a sentence; empty before they have moved."""
        x, y = (np.asarray(self.heads.data[name], float) for name in ("x", "y"))
        living = np.isfinite(x) & np.isfinite(y)
        if not living.any():
            return ""
        words = f"{living.sum()} chains are drawn: {_reach(x[living], y[living])}."
        x, y = (np.asarray(self.draws.data[name], float) for name in ("x", "y"))
        return f"{words} Of {len(x)} draws of NUTS {_reach(x, y)}." if len(x) else words

    def reset(self, problem: Planar, shown: Window, n_beta: float, chains: int) -> None:
        """Another landscape, or another run: the loss, the truth, and chains that have not moved yet."""
        (left, bottom), (right, top) = shown.low, shown.high
        for axis, low, high in ((self.plot.x_range, left, right), (self.plot.y_range, bottom, top)):
            axis.update(start=low, end=high, reset_start=low, reset_end=high)
        self._draw("loss", shown, loss_heights(problem, shown, n_beta))
        lines, points = true_parameters(problem, shown)
        self.truth.data = {
            "xs": [[x for x, _ in line] for line in lines],
            "ys": [[y for _, y in line] for line in lines],
        }
        self.points.data = {"x": [p[0] for p in points], "y": [p[1] for p in points]}
        start = [a + b for a, b in zip(problem.model.w0, problem.start, strict=True)]
        self.begin.data = {"x": [start[0]], "y": [start[1]]}
        self.center.data = {"x": [problem.model.w0[0]], "y": [problem.model.w0[1]]}
        colors = [theme.CHAINS[i % len(theme.CHAINS)] for i in range(chains)]
        self.trails.data = {name: np.zeros(0) for name in ("turn", *_columns(chains))}
        self.heads.data = {"x": [start[0]] * chains, "y": [start[1]] * chains, "color": colors}
        for i in range(len(self._lines), chains):
            self._lines.append(
                self.plot.line(
                    f"x{i}", f"y{i}", source=self.trails, line_color=colors[i], line_width=1.5, line_alpha=0.85
                )
            )
        lean(self.plot)
        for i, line in enumerate(self._lines):
            line.visible = i < chains
        self._turn = 0

    def show_heights(self, name: str, shown: Window, heights: np.ndarray) -> None:
        """Of another ground than the loss, which is there from the first moment."""
        if name not in self.grounds:
            self._add_ground(name)
            lean(self.plot)
        self._draw(name, shown, heights)

    def show_draws(self, places: np.ndarray) -> None:
        """Draws of NUTS w, [N, 2]."""
        self.draws.data = {"x": places[:, 0], "y": places[:, 1]}

    def show_ground(self, name: str) -> None:
        for key, ground in self.grounds.items():
            ground.visible = key == name

    def stream(self, trail: np.ndarray) -> None:
        """New positions [T, C, 2]."""
        count, chains = trail.shape[:2]
        if not count:
            return
        columns = {f"{axis}{i}": trail[:, i, k] for i in range(chains) for k, axis in enumerate("xy")}
        self.trails.stream({"turn": np.arange(self._turn, self._turn + count), **columns}, rollover=TRAIL)
        self._turn += count
        self.heads.patch({"x": [(slice(0, chains), trail[-1, :, 0])], "y": [(slice(0, chains), trail[-1, :, 1])]})

    def _draw(self, name: str, shown: Window, heights: np.ndarray) -> None:
        bands = (np.digitize(heights, LEVELS[name]) - 1).astype(np.uint8)
        (left, bottom), (right, top) = shown.low, shown.high
        self.images[name].data = {
            "image": [bands], "x": [left], "y": [bottom], "dw": [right - left], "dh": [top - bottom],
        }  # fmt: skip

    def _on_tap(self, event: Any) -> None:
        if event.x is not None and event.y is not None:
            self.on_tap(float(event.x), float(event.y))

    def _on_stroke(self, attribute: str, old: Any, new: Any) -> None:
        if not len(new["xs"]):
            return
        x, y = ([float(value) for value in new[name][-1]] for name in ("xs", "ys"))
        self.stroke.data = {"xs": [], "ys": []}
        self.on_stroke(x, y)


def _reach(x: np.ndarray, y: np.ndarray) -> str:
    return f"w1 is between {number(x.min(), 2)} and {number(x.max(), 2)}, w2 between {number(y.min(), 2)} and {number(y.max(), 2)}"


def _columns(chains: int) -> list[str]:
    return [f"{axis}{i}" for i in range(chains) for axis in "xy"]
