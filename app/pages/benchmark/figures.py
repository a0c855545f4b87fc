"""The figures of a sweep as HoloViews objects (Bokeh): for the page "Benchmark", notebooks and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import holoviews as hv
from bokeh.plotting import figure

from app.pages.benchmark.columns import place
from app.pages.benchmark.drawing.filling import fill, renderers
from app.pages.benchmark.drawing.overlay import overlay
from app.style import theme
from llc_core.sweeps.series import CLOSE, Curve

HEIGHT, LOW_HEIGHT, SQUARE_HEIGHT = 380, 240, 500


def relative_error(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Mean relative error by step size, with a band of one standard deviation over the problems."""
    close = place(CLOSE)
    ground = [
        hv.HSpan(-close, close).opts(color=theme.GOOD, alpha=0.13, line_alpha=0),
        hv.HLine(0).opts(color=theme.EXPECTED, line_width=2, line_dash="dotted"),
    ]
    return overlay("relative_error", found, ground, spread, legend).opts(
        xlabel="step size ε", ylabel="relative error of λ̂", logx=True, height=HEIGHT
    )


def nan_share(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Share of problems without an estimate by step size."""
    return overlay("nan_share", found, [], spread, legend).opts(
        xlabel="step size ε", ylabel="without λ̂", logx=True, height=LOW_HEIGHT
    )


def order_preservation(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Share of pairs of problems that estimate and truth order alike, by step size; chance gives a half."""
    chance = [hv.HLine(0.5).opts(color=theme.RECENT, line_width=1.5, line_dash="dashed")]
    return overlay("order_preservation", found, chance, spread, legend).opts(
        xlabel="step size ε", ylabel="pairs in order", logx=True, height=LOW_HEIGHT
    )


def mean_against_sd(found: Sequence[Curve], spread: bool = True, legend: bool = True) -> hv.Overlay:
    """Mean against standard deviation of the relative error: the best step sizes lie at the foot, in the middle."""
    close = place(CLOSE)
    middle = [
        hv.VSpan(-close, close).opts(color=theme.GOOD, alpha=0.13, line_alpha=0),
        hv.VLine(0).opts(color=theme.EXPECTED, line_width=2, line_dash="dotted"),
    ]
    return overlay("mean_against_sd", found, middle, spread, legend).opts(
        xlabel="mean relative error", ylabel="standard deviation", height=SQUARE_HEIGHT
    )


FIGURES: dict[str, Callable[..., hv.Overlay]] = {
    "relative_error": relative_error,
    "nan_share": nan_share,
    "mean_against_sd": mean_against_sd,
    "order_preservation": order_preservation,
}


@dataclass
class SweepFigure:
    """A figure on the screen. `show` puts other curves into it; `on_tap` is called with (key of the curve, index)."""

    name: str

    def __post_init__(self) -> None:
        self.plot: figure = hv.render(FIGURES[self.name]([], legend=False), backend="bokeh")
        self.on_tap: Callable[[str, int], None] = lambda key, index: None
        self._points = renderers(self.plot)["points"].data_source
        self._points.selected.on_change("indices", self._on_indices)

    def show(self, found: Sequence[Curve], spread: bool = True) -> None:
        fill(self.plot, self.name, found, spread)

    def _on_indices(self, attribute: str, old: list[int], new: list[int]) -> None:
        if new:
            self._points.selected.indices = []  # so that the same point can be chosen again
            data = self._points.data
            if new[0] < len(data["key"]):
                self.on_tap(data["key"][new[0]], int(data["index"][new[0]]))
