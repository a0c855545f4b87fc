"""Figures of a play: regret against rounds, what nets think of one mushroom, and what they remember."""

from __future__ import annotations

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, FixedTicker, Label, Range1d, Span

from app.pages.decisions.config import SIDES, DecisionsConfig
from app.pages.decisions.job.bandit import PLAYERS, Moment, Player
from app.style import theme
from app.style.figures import GrowingRange, house_figure
from llc_core.decisions.mushrooms import BAD, GOOD

REGRET_HEIGHT, MOMENT_HEIGHT, MEMORY_HEIGHT = 292, 198, 110
TALL = theme.high(
    f"clamp({REGRET_HEIGHT}px, 100vh - 390px, 480px)", f"clamp({REGRET_HEIGHT}px, 100vh - 500px, 480px)", 1200
)
"""The table below it stays on the first screen."""
LANES = {"left": 2, "right": 1}
LOWEST, HIGHEST = -44.0, 14.0
"""Of what eating is thought to give; dots beyond lie at the edge."""
KINDS = ("left_alone", "lucky", "unlucky")
KIND_COLORS = (theme.RECENT, theme.GOOD, theme.TRUTH)
GRAY = "#8a8f98"
COLUMNS = ("round", *PLAYERS)
NOTHING: dict[str, list[float]] = {"x": [], "low": [], "high": []}


class RegretFigure:
    """Cumulative regret of both sides and of the baseline; the oracle stays at 0, chance climbs its line."""

    def __init__(self) -> None:
        self._y = GrowingRange()
        self._rows = np.zeros((0, 2 + len(PLAYERS)))
        self._own, self._top, self._told = False, 1000.0, True
        self._chance = 0.0
        self.plot = house_figure(
            "regret", REGRET_HEIGHT, x_range=Range1d(0, 400), y_range=self._y.range,
            x_axis_label="round", y_axis_label="regret so far",
        )  # fmt: skip
        self.plot.stylesheets = [TALL]
        self._shade = BoxAnnotation(
            left=None, right=0, fill_color=GRAY, fill_alpha=0.16, line_alpha=0, level="underlay"
        )
        self.plot.add_layout(self._shade)
        self.source = ColumnDataSource({name: [] for name in COLUMNS}, name="regrets")
        self.levels = ColumnDataSource({"round": [], "chance": [], "oracle": []}, name="regret_levels")
        line = self.plot.line
        line("round", "chance", source=self.levels, line_color=theme.EXPECTED, line_width=2, line_dash=[2, 4])
        self._oracle = line(
            "round", "oracle", source=self.levels, line_color=theme.TRUTH, line_width=3, line_dash=[10, 5]
        )
        self._baseline = line("round", "linear", source=self.source, line_color=theme.RECENT, line_width=1.6)
        for side, dash in zip(SIDES, ([], [10, 4]), strict=True):
            line("round", side, source=self.source, line_color=theme.SIDES[side], line_width=2.6, line_dash=dash)

    def reset(self, config: DecisionsConfig, chance: float) -> None:
        """chance: mean regret of one pull at random."""
        own = config.bandit
        self.plot.x_range.update(start=0, end=own.rounds, reset_start=0, reset_end=own.rounds)
        forced = min(own.forced_pulls / own.pulls, own.rounds)
        self._shade.update(right=forced, visible=forced > 0)
        self._baseline.visible = not own.has_linear
        self.source.data = {name: np.zeros(0) for name in COLUMNS}
        ends = np.array([0.0, own.rounds])
        self._chance = chance * own.pulls
        self.levels.data = {"round": ends, "chance": ends * self._chance, "oracle": 0 * ends}
        self._rows = self._rows[:0]
        self._top = 1.6 * max(chance * own.forced_pulls, 1000.0)
        self._reach()

    def _reach(self) -> None:
        top = 600.0 if self._own else self._top
        self._y.reset(-0.03 * top, top)

    def show_own(self, own: bool) -> None:
        """own: draw what was lost by an agent's own decisions, without the forced pulls."""
        self._own = own
        self._draw_again()

    def show_answers(self, visible: bool) -> None:
        """Draw the curves, or do not even send them."""
        self._told = visible
        self._draw_again()

    def _draw_again(self) -> None:
        self._reach()
        self.source.data = self._columns(self._rows if self._told else self._rows[:0])
        self._cover()

    def stream(self, rows: np.ndarray) -> None:
        """rows: [T, 5], see `RegretLog`."""
        if len(rows):
            self._rows = np.concatenate([self._rows, rows])
            if self._told:
                self.source.stream(self._columns(rows))
                self._cover()

    @property
    def full(self) -> bool:
        """Whether the last round is drawn."""
        return len(self._rows) > 0 and bool(self._rows[-1, 0] >= self.plot.x_range.end)

    def summary(self) -> str:
        """The figure in a sentence; empty while there is nothing to see."""
        if not len(self._rows) or not self._told:
            return ""
        last = self._columns(self._rows[-1:])
        left, right, chance = last["left"][0], last["right"][0], self._chance * last["round"][0]
        return f"After {last['round'][0]:,.0f} rounds the left regret is {left:,.0f}, the right one {right:,.0f}; chance would have {chance:,.0f}."

    def _columns(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        forced = rows[:, 4] if self._own else 0.0
        return {name: rows[:, k] - (forced if k else 0.0) for k, name in enumerate(COLUMNS)}

    def _cover(self) -> None:
        if len(self._rows) and self._told:
            last = self._columns(self._rows[-1:])
            self._y.cover(0.0, max(float(last[name].max()) for name in PLAYERS))


class MomentFigure:
    """A dot for what each net, or draw, expects of eating one mushroom, less what it expects of leaving it."""

    def __init__(self) -> None:
        self.plot = house_figure(
            "moment", MOMENT_HEIGHT, x_range=Range1d(LOWEST - 2, HIGHEST + 2), y_range=Range1d(0.3, 2.8),
            x_axis_label="what eating should give, less leaving", toolbar_location=None,
        )  # fmt: skip
        self.plot.yaxis.ticker = FixedTicker(ticks=list(LANES.values()))
        self.plot.yaxis.major_label_overrides = {place: side.capitalize() for side, place in LANES.items()}
        self.plot.ygrid.grid_line_color = None
        self.plot.add_layout(
            BoxAnnotation(left=0, right=None, fill_color=theme.GOOD, fill_alpha=0.1, line_alpha=0, level="underlay")
        )
        self.plot.add_layout(Span(dimension="height", location=0, line_color=GRAY, line_width=1.5))
        for text, offset, align in (("leave it", -8, "right"), ("eat it", 8, "left")):
            self.plot.add_layout(
                Label(
                    x=0, y=2.48, x_offset=offset, text=text, text_align=align, text_baseline="middle",
                    text_color=GRAY, text_font_size="12px",
                )
            )  # fmt: skip
        self.dots = ColumnDataSource({name: [] for name in ("x", "y", "size", "color")}, name="beliefs")
        self.means = ColumnDataSource({name: [] for name in ("x", "low", "high", "color")}, name="belief_means")
        self.truth = ColumnDataSource({"x": [], "low": [], "high": []}, name="belief_truth")
        self._worth: float | None = None
        self._told = True
        self.plot.segment(
            "x", "low", "x", "high", source=self.truth, line_color=theme.TRUTH, line_width=3, line_dash=[2, 4]
        )
        self.plot.segment("x", "low", "x", "high", source=self.means, line_color="color", line_width=3)
        self.plot.scatter(
            "x", "y", source=self.dots, size="size", fill_color="color", fill_alpha=0.55, line_color="color"
        )

    def reset(self) -> None:
        self._worth = None
        for source in (self.dots, self.means, self.truth):
            source.data = {name: [] for name in source.column_names}

    def show(self, moment: Moment) -> None:
        x, y, size, color, means = [], [], [], [], []
        for side, belief in moment.beliefs.items():
            count = len(belief.each)
            x += np.clip(belief.each, LOWEST, HIGHEST).tolist()
            y += (LANES[side] + (np.arange(count) - (count - 1) / 2) * 0.42 / max(count - 1, 1)).tolist()
            size += (5 + 9 * np.sqrt(belief.weights / belief.weights.max())).tolist()
            color += [theme.SIDES[side]] * count
            means.append(float(np.clip(belief.mean, LOWEST, HIGHEST)))
        self.dots.data = {"x": x, "y": y, "size": size, "color": color}
        lanes = [LANES[side] for side in moment.beliefs]
        self.means.data = {
            "x": means,
            "low": [lane - 0.36 for lane in lanes],
            "high": [lane + 0.36 for lane in lanes],
            "color": [theme.SIDES[side] for side in moment.beliefs],
        }
        self._worth = GOOD if moment.edible else (GOOD + BAD) / 2
        self.show_answers(self._told)

    def show_answers(self, visible: bool) -> None:
        """Draw what eating is worth, or do not even send it."""
        self._told = visible
        there = visible and self._worth is not None
        self.truth.data = {"x": [self._worth], "low": [0.4], "high": [2.36]} if there else dict(NOTHING)


class MemoryFigure:
    """What the nets of each side remember: how full it is, and of what."""

    def __init__(self) -> None:
        self._x = Range1d(0, 1024)
        self.plot = house_figure(
            "memory", MEMORY_HEIGHT, x_range=self._x, y_range=Range1d(0.4, 2.6), x_axis_label="pulls remembered",
            toolbar_location=None,
        )  # fmt: skip
        self.plot.yaxis.ticker = FixedTicker(ticks=list(LANES.values()))
        self.plot.yaxis.major_label_overrides = {place: side.capitalize() for side, place in LANES.items()}
        self.plot.ygrid.grid_line_color = None
        self.source = ColumnDataSource({"lane": [], **{kind: [] for kind in KINDS}}, name="memory")
        self.plot.hbar_stack(
            list(KINDS), y="lane", height=0.62, source=self.source, fill_color=list(KIND_COLORS),
            line_color=None, fill_alpha=[0.45, 0.8, 0.8],
        )  # fmt: skip

    def reset(self, config: DecisionsConfig) -> None:
        self._x.update(start=0, end=config.bandit.capacity, reset_start=0, reset_end=config.bandit.capacity)
        self.source.data = {"lane": [], **{kind: [] for kind in KINDS}}

    def show(self, players: dict[str, Player]) -> None:
        counts = {kind: [players[side].memory[k] for side in SIDES] for k, kind in enumerate(KINDS)}
        self.source.data = {"lane": [LANES[side] for side in SIDES], **counts}
