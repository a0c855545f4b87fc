"""The figures of a sweep as HoloViews objects (Bokeh): for notebooks, scripts and the report.

The page "Benchmark" draws the same numbers as small multiples, see `drawing.multiples`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import holoviews as hv

from app.pages.benchmark.columns import place
from app.pages.benchmark.drawing.overlay import overlay
from app.style import theme
from llc_core.sweeps.series import CLOSE, Curve, with_few_missing

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


def mean_against_sd(
    found: Sequence[Curve], spread: bool = True, legend: bool = True, nan_filter: bool = True
) -> hv.Overlay:
    """Mean against standard deviation of the relative error: the best step sizes lie at the foot, in the middle.

    nan_filter: whether step sizes at which a tenth of the problems or more have no estimate are left out, as in Hitchcock &
    Hoogland; `texts.filter_words` says how many.
    """
    found = with_few_missing(found) if nan_filter else found
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
