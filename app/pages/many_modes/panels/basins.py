"""The card of the surface of two basins: how much mass the line has at each nβ, found by the levels of a ladder, and exact."""

from __future__ import annotations

from html import escape

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, Range1d, Whisker
from bokeh.plotting import figure

from app.pages.many_modes.config import SIDES, TWO_BASINS, ModesConfig
from app.pages.many_modes.job import ModesProgress
from app.pages.many_modes.scene import Scene
from app.style import theme
from app.style.figures import house_figure
from app.style.layout import card, plotted, prose
from app.style.legend import HeardLegend
from app.style.numbers import number
from llc_core.interactions import ReplicaExchange

MARKS = {"left": "circle", "right": "square"}
LEGEND = [
    (f'<circle cx="13" cy="7" r="5" fill="{theme.SIDES["left"]}"/>', "left ± 2 standard errors"),
    (f'<rect x="8" y="2" width="10" height="10" fill="{theme.SIDES["right"]}"/>', "right ± 2 standard errors"),
    ("exact", "exact, by quadrature"),
]
ABOUT = (
    "Near a minimum the mass falls as nβ to the power −λ. The point at the origin has λ = ¼, the line x = 1 "
    "has λ = ½. So as nβ grows the line loses more and more of its share to the point. Such a change of basins "
    "is a phase transition of the posterior."
)


def levels(config: ModesConfig, side: str) -> np.ndarray:
    """nβ of the chains of one side, [P]."""
    made, n_beta = config.made(side), config.target.n_beta
    if isinstance(made, ReplicaExchange):
        return np.array(made.ladder(n_beta))
    return np.full(config.chains(side), n_beta)


class BasinPanel:
    """The figure is made when the surface is first chosen: the page loads sooner."""

    def __init__(self) -> None:
        self._x = Range1d(0.3, 1000)
        self.exact = ColumnDataSource({"n_beta": [], "share": []}, name="basin_exact")
        self.found = {
            side: ColumnDataSource({name: [] for name in ("n_beta", "share", "low", "high")}, name=f"basin_{side}")
            for side in SIDES
        }
        self._place = pn.Column(sizing_mode="stretch_width", margin=0)
        self._words = prose(margin=(6, 0, 0, 0))
        self._curve = np.zeros((2, 0))
        self._told = True
        self._head = HeardLegend()
        self.view = card(self._head.view, self._place, self._words)
        self.view.visible = False
        self.show_answers(True)

    def _plot(self) -> figure:
        plot = house_figure(
            "basin_curve", 220, x_range=self._x, y_range=Range1d(-0.02, 0.6), x_axis_type="log",
            x_axis_label="nβ", y_axis_label="mass of the line",
        )  # fmt: skip
        plot.line("n_beta", "share", source=self.exact, line_color=theme.EXACT, line_width=2.5, line_dash=[2, 4])
        for side, color in theme.SIDES.items():
            source = self.found[side]
            plot.add_layout(
                Whisker(base="n_beta", lower="low", upper="high", source=source, line_color=color, line_width=2)
            )
            plot.scatter("n_beta", "share", source=source, marker=MARKS[side], size=10, color=color)
        return plot

    def reset(self, config: ModesConfig, scene: Scene) -> None:
        self.view.visible = config.surface["name"] == TWO_BASINS
        if self.view.visible and not self._place.objects:
            self._place.append(plotted(self._plot()))
        self._head.begin("Two basins: how much mass the line has", LEGEND, "basin_curve")
        for source in self.found.values():
            source.data = {name: [] for name in source.column_names}
        self._curve = scene.line
        self.show_answers(self._told)
        if self.view.visible:
            low, high = float(scene.line[0, 0]), 2 * float(scene.line[0, -1])
            self._x.update(start=low, end=high, reset_start=low, reset_end=high)

    def draw(self, config: ModesConfig, seen: ModesProgress | None) -> None:
        if seen is None or not self.view.visible:
            return
        for side in SIDES:
            line, at = seen.side(side).line, levels(config, side)
            if not line.size:
                continue
            if len(set(at)) == 1:  # chains without levels are as many draws of one distribution
                line, at = line.mean(axis=1, keepdims=True), at[:1]
            mean = line.mean(axis=0)
            error = line.std(axis=0, ddof=1) / np.sqrt(len(line)) if len(line) > 1 else np.zeros_like(mean)
            self.found[side].data = {"n_beta": at, "share": mean, "low": mean - 2 * error, "high": mean + 2 * error}
        self._head.say(self.summary(), now=True)

    def summary(self) -> str:
        """The figure in a sentence a side, at its largest nβ; empty while there is nothing to see."""
        said, exact = [], self.exact.data
        for side in SIDES:
            data = self.found[side].data
            if not len(data["n_beta"]):
                continue
            k = int(np.argmax(data["n_beta"]))
            at, share, high = (float(data[name][k]) for name in ("n_beta", "share", "high"))
            words = (
                f"At nβ = {number(at)} the {side} method finds {share:.1%} ± {high - share:.1%} of the mass on the line"
            )
            if len(exact["n_beta"]):
                words += f"; exact are {float(np.interp(at, exact['n_beta'], exact['share'])):.1%}"
            said.append(words + ".")
        return " ".join(said)

    def show_answers(self, visible: bool) -> None:
        """What tells the exact masses is not even sent while they are hidden."""
        self._told = visible
        n_beta, share = self._curve if visible else np.zeros((2, 0))
        self.exact.data = {"n_beta": n_beta, "share": share}
        self._words.object = f'<p class="small">{escape(ABOUT)}</p>' if visible else ""
        self._head.say(self.summary(), now=True)
