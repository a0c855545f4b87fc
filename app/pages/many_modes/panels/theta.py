"""What contour sampling has learned: θ over the energy beside the exact one, and the multiplier that it makes."""

from __future__ import annotations

import numpy as np
import torch
from bokeh.models import ColumnDataSource, Range1d, Span

from app.pages.many_modes.config import ModesConfig
from app.pages.many_modes.job import SideProgress
from app.pages.many_modes.scene import Scene
from app.style import theme
from app.style.figures import house_figure
from app.style.numbers import UNKNOWN
from llc_core.interactions import Contour

COLUMNS = ("energy", "theta", "mean", "exact", "multiplier", "exact_multiplier")
HIGHEST = 12.0
"""Multipliers beyond ± this lie outside of the figure at first."""
LEGEND = [("exact", "exact θ*, without noise"), ("floor", "mean of the trials")]


def middles(made: Contour) -> np.ndarray:
    """Of the bins: E, or log₁₀ E where bins are of equal width in log E."""
    edges = np.log10(made.edges) if made.scale == "log" else made.edges
    return (edges[1:] + edges[:-1]) / 2


def multiplier(made: Contour, theta: np.ndarray) -> np.ndarray:
    """[bins] that the chains see in the middle of each bin; nan where θ is 0 there or beside it."""
    bins = torch.arange(made.bins).unsqueeze(0)
    energy = 10 ** middles(made) if made.scale == "log" else middles(made)
    known = theta > 0
    shared = {
        "theta": torch.from_numpy(np.where(known, theta, 1.0)).unsqueeze(0),
        "bin": bins,
        "energy": torch.from_numpy(energy).unsqueeze(0),
        "flat": torch.ones((), dtype=torch.float64),
    }
    heat = made.heat(shared, None)  # type: ignore[arg-type]  # the layout is not read
    assert heat is not None
    beside = np.roll(known, 1) if made.difference == "backward" else np.roll(known, -1)
    return np.where(known & beside, heat[0].numpy(), np.nan)


def scale_resolved(made: Contour, theta: np.ndarray) -> np.ndarray:
    """λ(E) [bins] of bins in log E, whose mass goes as E^λ(E)·exp(−E): the slope of its log is λ(E) − E, so E·multiplier is λ(E)."""
    return 10 ** middles(made) * multiplier(made, theta)


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Total variation of two θ."""
    return float(np.abs(a / a.sum() - b / b.sum()).sum() / 2)


class ThetaFigures:
    """One side's θ above its multiplier; of bins in log E, λ(E) = E·multiplier in its place."""

    def __init__(self, side: str):
        self._x, self._y, self._m = Range1d(-1, 12), Range1d(1e-6, 1), Range1d(-HIGHEST, HIGHEST)
        self.source = ColumnDataSource({name: [] for name in COLUMNS}, name=f"theta_{side}")
        self.theta = house_figure(
            f"theta_figure_{side}", 170, x_range=self._x, y_range=self._y, y_axis_type="log", y_axis_label="θ(E)"
        )
        self.multiplier = house_figure(
            f"multiplier_figure_{side}", 150, x_range=self._x, y_range=self._m, y_axis_label="multiplier"
        )
        self.multiplier.xaxis.axis_label = "energy E"
        color = theme.SIDES[side]
        self._level = Span(dimension="width", location=0, line_color=theme.RECENT, line_width=1.5)
        self.multiplier.add_layout(self._level)
        for plot, column in ((self.theta, "exact"), (self.multiplier, "exact_multiplier")):
            plot.line("energy", column, source=self.source, line_color=theme.EXACT, line_width=2.5, line_dash=[2, 4])
        self._told, self._lam = True, 0.0
        self.theta.line("energy", "mean", source=self.source, line_color=theme.RECENT, line_width=1.5, line_dash=[2, 3])
        for plot, column in ((self.theta, "theta"), (self.multiplier, "multiplier")):
            plot.line("energy", column, source=self.source, line_color=color, line_width=2)

    def reset(self, made: Contour, lam: float | None) -> None:
        """lam: the exact λ of the surface, where it is known."""
        x = middles(made)
        low, high = float(x[0]), float(x[-1])
        self._x.update(start=low, end=high, reset_start=low, reset_end=high)
        self.source.data = {name: np.zeros(0) for name in COLUMNS}
        log = made.scale == "log"
        self.multiplier.xaxis.axis_label = "log₁₀ E" if log else "energy E"
        self.multiplier.yaxis.axis_label = "λ(E)" if log else "multiplier"
        ends = (0.0, 2.0) if log else (-HIGHEST, HIGHEST)
        self._m.update(start=ends[0], end=ends[1], reset_start=ends[0], reset_end=ends[1])
        self._lam = (0.0 if lam is None else lam) if log else 0.0
        self.show_answers(self._told)

    def show(self, made: Contour, scene: Scene, side: str, seen: SideProgress) -> None:
        theta = seen.shared[:, : made.bins]
        unknown = np.full(made.bins, np.nan)
        exact = scene.theta.get(side, unknown) if self._told else unknown
        drawn = scale_resolved if made.scale == "log" else multiplier
        self.source.data = {
            "energy": middles(made),
            "theta": theta[0] / theta[0].sum(),
            "mean": theta.mean(axis=0) / theta.mean(axis=0).sum(),
            "exact": np.where(exact > 0, exact, np.nan),
            "multiplier": drawn(made, theta[0]),
            "exact_multiplier": drawn(made, np.nan_to_num(exact)),
        }
        top = 2 * float(max(np.nanmax(theta), np.nanmax(np.nan_to_num(exact))))
        low = max(1e-8, float(np.quantile(theta[0], 0.02)) / 3)
        self._y.update(start=low, end=top, reset_start=low, reset_end=top)

    def show_answers(self, visible: bool) -> None:
        """The exact θ and λ are not even sent while they are hidden. Call `show` after it."""
        self._told = visible
        self._level.location = self._lam if visible else 0.0


def words(config: ModesConfig, made: Contour, scene: Scene, side: str, seen: SideProgress, answers: bool) -> str:
    """What the figures show, in numbers."""
    said = f"The multiplier has been below 0 on {seen.turned:.0%} of the steps."
    exact = scene.theta.get(side)
    if answers and exact is not None and seen.gradients:
        theta = seen.shared[:, : made.bins]
        one, mean = distance(theta[0], exact), distance(theta.mean(axis=0), exact)
        in_mean = f", and {mean:.2f} in the mean of {config.trials}" if config.trials > 1 else ""
        said = f"θ is {one:.2f} from the exact θ* in total variation{in_mean}. {said}"
    if made.scale == "log" and seen.gradients:
        middle = slice(made.bins // 4, 3 * made.bins // 4)
        found = scale_resolved(made, seen.shared[:, : made.bins].mean(axis=0))[middle]
        true = (
            ""
            if exact is None or not answers
            else f", with the exact θ* {np.nanmedian(scale_resolved(made, exact)[middle]):.2f}"
        )
        said = f"In the middle half of the bins the median of λ(E) is {np.nanmedian(found):.2f}{true}. {said}"
    return said if seen.gradients else UNKNOWN
