"""Figures of the page "Many modes": the plane with its chains, the cells beside their exact masses, and KL against gradients. Long,
since planes and cells share a frame, and all three their sides."""

from __future__ import annotations

import math

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    FixedTicker,
    LinearColorMapper,
    NoOverlap,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.plotting import figure

from app.pages.many_modes.config import CELLS, FINE, SIDES
from app.pages.many_modes.job import SideProgress
from app.pages.many_modes.scene import Scene
from app.style import theme
from app.style.figures import house_figure
from app.style.numbers import number

SQUARE, KL_HEIGHT = 196, 250
ROOM = theme.high(f"clamp({SQUARE}px, 100vh - 430px, 50cqw)", f"clamp({SQUARE}px, 100vh - 560px, 50cqw)")
"""As high as wide, if the numbers below stay on the first screen: the container is the row of a side's two squares."""
ENERGY_SPAN = 14.0
"""Energies above the lowest by so much are drawn as the highest."""
GROUND = [f"#5f6b78{round(255 * a):02x}" for a in np.linspace(0.62, 0.0, 24)]
RATIOS = ["#1583C9", "#5AA3D6", "#97C3E3", "#C6DDEE", "#F2F2F2", "#F5D8C3", "#EEB083", "#E58746", "#D55E00"]
"""Blue: fewer visits than the exact mass; orange: more."""
RATIO_SPAN = 1.125
"""The colours reach from 2^−1.125 to 2^1.125 times the exact mass."""
INK = "#15191d"
# Numbers of neighbouring cells keep apart: one of three digits takes some nine tenths of its cell on a phone at 11 pixels.
SMALLER = "glyph.text_font_size = `${Math.min(11, 0.07 * cb_obj.inner_width).toFixed(1)}px`"
DENSITY = {
    side: [f"{color}{round(255 * a):02x}" for a in np.linspace(0.0, 1.0, 40)] for side, color in theme.SIDES.items()
}
COLUMNS = tuple(f"{side}_{name}" for side in SIDES for name in ("median", "low", "high"))
EMPTY_IMAGE: dict[str, list[float]] = {"image": [], "x": [], "y": [], "dw": [], "dh": []}


def _square(name: str) -> figure:
    plot = house_figure(
        name, SQUARE, x_range=Range1d(-2.5, 2.5), y_range=Range1d(-2.5, 2.5), min_border=4, min_border_left=26,
        toolbar_location=None, tools="",
    )  # fmt: skip
    for axis in (plot.xaxis, plot.yaxis):
        axis.ticker.desired_num_ticks = 5  # type: ignore[attr-defined]
    plot.ygrid.grid_line_color = None
    plot.stylesheets = [ROOM]
    return plot


def _frame(plot: figure, half: float) -> None:
    for axis in (plot.x_range, plot.y_range):
        axis.update(start=-half, end=half, reset_start=-half, reset_end=half)


class PlaneFigure:
    """The energy (a stronger shade where it is lower), and the last places of the watched trial's chains."""

    def __init__(self, side: str):
        self.plot = _square(f"plane_{side}")
        self.ground = ColumnDataSource(dict(EMPTY_IMAGE), name=f"energy_{side}")
        self.plot.image(
            "image", "x", "y", "dw", "dh", source=self.ground,
            color_mapper=LinearColorMapper(palette=GROUND, low=0, high=ENERGY_SPAN),
        )  # fmt: skip
        self.trail = ColumnDataSource({"x": [], "y": [], "color": []}, name=f"trail_{side}")
        self.turned = ColumnDataSource({"x": [], "y": []}, name=f"turned_{side}")
        self.heads = ColumnDataSource({"x": [], "y": [], "color": [], "size": []}, name=f"heads_{side}")
        self.plot.scatter("x", "y", source=self.trail, size=3.2, color="color", alpha=0.55)
        self.plot.scatter("x", "y", source=self.turned, marker="x", size=5, line_color="#D00000", line_width=1.2)
        self.plot.scatter(
            "x", "y", source=self.heads, size="size", fill_color="color", line_color="white", line_width=1.5
        )

    def reset(self, scene: Scene) -> None:
        _frame(self.plot, scene.half)
        side = 2 * scene.half
        self.ground.data = {"image": [scene.ground], "x": [-scene.half], "y": [-scene.half], "dw": [side], "dh": [side]}
        for source in (self.trail, self.turned, self.heads):
            source.data = {name: [] for name in source.column_names}

    def summary(self) -> str:
        """Where the chains are, in a sentence; empty before they have moved."""
        x, y = (np.asarray(self.heads.data[name], float) for name in ("x", "y"))
        if not len(x):
            return ""
        return (
            f"{len(x)} {'chain is' if len(x) == 1 else 'chains are'} drawn: x is between {number(float(x.min()), 2)} and "
            f"{number(float(x.max()), 2)}, y between {number(float(y.min()), 2)} and {number(float(y.max()), 2)}."
        )

    def show(self, seen: SideProgress) -> None:
        count, chains = seen.heat.shape
        if not count:
            return
        colors = np.array([theme.CHAINS[k % len(theme.CHAINS)] for k in range(chains)])
        forward = seen.heat >= 0
        self.trail.data = {
            "x": seen.trail[..., 0][forward],
            "y": seen.trail[..., 1][forward],
            "color": np.broadcast_to(colors, (count, chains))[forward].tolist(),
        }
        self.turned.data = {"x": seen.trail[..., 0][~forward], "y": seen.trail[..., 1][~forward]}
        x, y = seen.trail[-1].T
        self.heads.data = {"x": x, "y": y, "color": colors.tolist(), "size": [10 if chains <= 20 else 6] * chains}


class CellsFigure:
    """The watched trial: its 25 cells coloured by estimate ÷ exact mass, or the density that it has visited."""

    def __init__(self, side: str):
        self.plot = _square(f"cells_{side}")
        self.plot.yaxis.visible = False
        self.plot.xaxis.major_label_policy = NoOverlap(min_distance=6)  # on a phone six numbers do not fit
        self.plot.min_border_left = 4
        self.ratio = ColumnDataSource({name: [] for name in ("x", "y", "log", "text")}, name=f"ratio_{side}")
        self.density = ColumnDataSource(dict(EMPTY_IMAGE), name=f"density_{side}")
        mapper = LinearColorMapper(palette=RATIOS, low=-RATIO_SPAN, high=RATIO_SPAN)
        self._cells = self.plot.rect(
            "x", "y", width=1.0, height=1.0, source=self.ratio, fill_color={"field": "log", "transform": mapper},
            line_color=INK, line_alpha=0.35,
        )  # fmt: skip
        self._texts = self.plot.text(
            "x", "y", text="text", source=self.ratio, text_align="center", text_baseline="middle",
            text_color=INK, text_font_size="11px",
        )  # fmt: skip
        self.plot.js_on_change("inner_width", CustomJS(args={"glyph": self._texts.glyph}, code=SMALLER))
        shades = LinearColorMapper(palette=DENSITY[side], low=0, high=1)
        self._image = self.plot.image("image", "x", "y", "dw", "dh", source=self.density, color_mapper=shades)
        self.shows_ratio = True
        """Whether the ratios to the exact masses are sent: what is sent can be read, seen or not."""
        self.show_only("ratio")

    def reset(self, scene: Scene) -> None:
        _frame(self.plot, scene.half)
        width = 2 * scene.half / CELLS
        self._cells.glyph.update(width=width, height=width)
        lines = np.linspace(-scene.half, scene.half, CELLS + 1)
        for axis in (self.plot.xaxis, self.plot.yaxis):
            axis.ticker = FixedTicker(ticks=lines.round(6).tolist())
        for source in (self.ratio, self.density):
            source.data = {name: [] for name in source.column_names}

    def show(self, scene: Scene, seen: SideProgress) -> None:
        masses = seen.masses()
        if not np.isfinite(masses).all():
            return
        if self.shows_ratio:
            self._show_ratio(scene, masses)
        else:
            self.ratio.data = {name: [] for name in self.ratio.column_names}
        side = 2 * scene.half
        top = float(np.quantile(seen.counts, 0.995)) or 1.0
        image = np.minimum(seen.counts.T / top, 1.0).reshape(FINE, FINE)
        self.density.data = {
            "image": [image], "x": [-scene.half], "y": [-scene.half], "dw": [side], "dh": [side],
        }  # fmt: skip

    def _show_ratio(self, scene: Scene, masses: np.ndarray) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = masses / scene.masses
            log = np.clip(np.log2(ratio), -9, 9)
        middle = scene.half * ((np.arange(CELLS) + 0.5) * 2 / CELLS - 1)
        x, y = np.meshgrid(middle, middle, indexing="ij")
        texts = [_times(value) for value in ratio.ravel()]
        self.ratio.data = {"x": x.ravel(), "y": y.ravel(), "log": log.ravel(), "text": texts}

    def summary(self) -> str:
        """The cells in a sentence; empty while there is nothing to see, or while the exact masses are hidden."""
        log = np.asarray(self.ratio.data["log"], float)
        log = log[np.isfinite(log)]
        if not len(log) or not self.shows_ratio:
            return ""
        close = int((np.abs(log) <= 1).sum())
        low, high = (_times(2.0 ** float(end)) for end in (log.min(), log.max()))
        return f"{close} of {len(log)} cells have between half and twice their exact mass; the ratios go from {low} to {high}."

    def show_only(self, what: str) -> None:
        """what: "ratio" or "density"."""
        for renderer in (self._cells, self._texts):
            renderer.visible = what == "ratio"
        self._image.visible = what == "density"


def _times(ratio: float) -> str:
    if not math.isfinite(ratio):
        return "–"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


class KlFigure:
    """Median KL of the trials against the gradients that one trial has spent; bands are quartiles."""

    def __init__(self) -> None:
        self._x, self._y = Range1d(1e3, 4e5), Range1d(1e-3, 10)
        self.plot = house_figure(
            "kl_curves", KL_HEIGHT, x_axis_type="log", y_axis_type="log", x_range=self._x, y_range=self._y,
            x_axis_label="gradients of each trial", y_axis_label="KL from the exact cells",
        )  # fmt: skip
        self.plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]a")
        self.source = ColumnDataSource({"gradients": [], **{name: [] for name in COLUMNS}}, name="kl")
        self.floor = ColumnDataSource({"gradients": [], "kl": []}, name="kl_floor")
        for side, color in theme.SIDES.items():
            self.plot.varea(
                "gradients", f"{side}_low", f"{side}_high", source=self.source, fill_color=color, fill_alpha=0.2
            )
        for side, color in theme.SIDES.items():
            self.plot.line(
                "gradients", f"{side}_median", source=self.source, line_color=color, line_width=2.5,
                line_dash=[] if side == "left" else [10, 4],
            )  # fmt: skip
        self.plot.line("gradients", "kl", source=self.floor, line_color=theme.RECENT, line_width=1.5, line_dash=[2, 4])

    def reset(self, gradients: int) -> None:
        self.source.data = {"gradients": np.zeros(0), **{name: np.zeros(0) for name in COLUMNS}}
        ends = np.array([1e3, float(gradients)])
        self.floor.data = {"gradients": ends, "kl": (CELLS**2 - 1) / 2 / ends}
        self._x.update(start=1e3, end=gradients, reset_start=1e3, reset_end=gradients)
        self._reach(1e-3, 3.0)

    def _reach(self, low: float, high: float) -> None:
        self._y.update(start=low, end=high, reset_start=low, reset_end=high)

    def stream(self, rows: np.ndarray) -> None:
        """rows: [T, 7], see `KlLog`."""
        if not len(rows):
            return
        columns = {name: rows[:, i + 1] for i, name in enumerate(COLUMNS)}
        self.source.stream({"gradients": rows[:, 0], **columns})
        known = rows[:, 1:][np.isfinite(rows[:, 1:]) & (rows[:, 1:] > 0)]
        if not len(known):
            return
        low, high = float(self._y.start), float(self._y.end)
        wanted = max(float(known.min()), 1e-8) * 0.6, float(known.max()) * 1.3
        if wanted[0] < low or wanted[1] > high:
            self._reach(min(low, wanted[0]), max(high, wanted[1]))
