"""What a ladder does: which copy is at which level, how many swaps are refused between levels, and the round trips."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d

from app.pages.many_modes.config import ModesConfig
from app.pages.many_modes.job import INDEX, SideProgress
from app.style import theme
from app.style.figures import house_figure
from app.style.numbers import UNKNOWN
from llc_core.interactions import ReplicaExchange


def rejection(made: ReplicaExchange, shared: np.ndarray) -> np.ndarray:
    """[K − 1] share of refused swaps between neighbouring levels, of all trials; nan before the first try. shared: [R, ·], see `Twin`."""
    k = len(made.temperatures)
    tried, accepted = shared[:, 2 + 2 * k : 1 + 3 * k].sum(axis=0), shared[:, 1 + 3 * k : 4 * k].sum(axis=0)
    with np.errstate(invalid="ignore"):
        return 1 - accepted / tried


def most_trips(refused: np.ndarray) -> float:
    """Round trips per round of swaps where levels forget everything between two rounds. Source: Syed et al. 2022, section 3."""
    with np.errstate(divide="ignore"):
        return float(1 / (2 + 2 * (refused / (1 - refused)).sum()))


class LadderFigures:
    """One side's index process, above the refused swaps."""

    def __init__(self, side: str):
        self._levels, self._pairs = Range1d(0.5, 3.5), Range1d(0.5, 2.5)
        self.paths = ColumnDataSource({"xs": [], "ys": [], "color": []}, name=f"index_{side}")
        self.index = house_figure(
            f"index_figure_{side}", 170, x_range=Range1d(-INDEX, 0), y_range=self._levels,
            x_axis_label="steps before now", y_axis_label="temperature",
        )  # fmt: skip
        self.index.multi_line("xs", "ys", source=self.paths, line_color="color", line_width=1.8, line_alpha=0.9)
        self.bars = ColumnDataSource({"pair": [], "refused": []}, name=f"refused_{side}")
        self.refused = house_figure(
            f"refused_figure_{side}", 150, x_range=self._pairs, y_range=Range1d(0, 1),
            x_axis_label="between levels T", y_axis_label="refused swaps",
        )  # fmt: skip
        self.refused.vbar(
            "pair",
            width=0.6,
            top="refused",
            source=self.bars,
            fill_color=theme.SIDES[side],
            line_color=None,
            fill_alpha=0.8,
        )

    def reset(self, made: ReplicaExchange) -> None:
        k = len(made.temperatures)
        self._levels.update(start=0.5, end=k + 0.5, reset_start=0.5, reset_end=k + 0.5)
        self._pairs.update(start=0.5, end=k - 0.5, reset_start=0.5, reset_end=k - 0.5)
        names = [f"{t:.3g}" for t in made.temperatures]
        for axis, labels in (
            (self.index.yaxis, names),
            (self.refused.xaxis, [f"{a} ↔ {b}" for a, b in zip(names, names[1:], strict=False)]),
        ):
            axis.ticker = FixedTicker(ticks=list(range(1, len(labels) + 1)))
            axis.major_label_overrides = {i + 1: text for i, text in enumerate(labels)}
        self.paths.data = {"xs": [], "ys": [], "color": []}
        self.bars.data = {"pair": [], "refused": []}

    def show(self, made: ReplicaExchange, seen: SideProgress) -> None:
        count, copies = seen.order.shape
        steps = np.arange(count) - count + 1
        level = np.argsort(seen.order, axis=1) + 1
        colors = [theme.CHAINS[i % len(theme.CHAINS)] for i in range(copies)]
        self.paths.data = {"xs": [steps] * copies, "ys": [level[:, i] for i in range(copies)], "color": colors}
        refused = rejection(made, seen.shared)
        self.bars.data = {"pair": np.arange(1, copies), "refused": np.nan_to_num(refused)}


def words(config: ModesConfig, made: ReplicaExchange, seen: SideProgress) -> str:
    """What the figures show, in numbers."""
    refused = rejection(made, seen.shared)
    if not seen.gradients or not np.isfinite(refused).all():
        return UNKNOWN
    steps = seen.gradients // len(made.temperatures)
    barrier = refused / -np.diff([1 / t for t in made.temperatures])
    steepest = int(np.argmax(barrier))
    a, b = (f"{made.temperatures[steepest + i]:.3g}" for i in (0, 1))
    trips = float(seen.shared[:, 0].mean())
    said = (
        f"Refused swaps add up to the barrier Λ = {refused.sum():.2f}; per unit of 1/T it is highest between T = {a} and {b}, "
        f"{barrier[steepest]:.2f}. A trial has made {trips:,.0f} round trips in {steps // made.interval:,} rounds of swaps."
    )
    if made.swap == "even_odd":
        said += (
            f" Levels that forget everything between two rounds would make {most_trips(refused) * (steps // made.interval):,.0f} "
            "(Syed et al. 2022)."
        )
    return said
