"""What the page "Benchmark" shows of the chosen runs: verdict, charts, numbers, table, and the runs behind a point."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import panel as pn

from app.components.drawings.multiples import Multiples
from app.components.readouts import Numbers
from app.components.toggles import Toggles
from app.pages.benchmark.config import MEASURES, BenchmarkConfig
from app.pages.benchmark.figures import DIRECTIONS, multiples
from app.pages.benchmark.panels.beside import Beside
from app.pages.benchmark.panels.runs import RunsPanel
from app.pages.benchmark.table import SCROLL, table_html, table_words
from app.pages.benchmark.texts import (
    ANSWER_CELLS,
    READOUTS,
    dash,
    filter_words,
    readouts,
    samplers_of,
    share_near,
    verdict,
)
from app.style import theme
from app.style.layout import card, one_of, prose
from app.style.legend import heading, legend_html
from llc_core.sweeps.scales import DASHES, SHORT, TITLES
from llc_core.sweeps.series import CLOSE, PAPER, TRUTH_WORDS, Accuracy, Curve, Row, accuracy, curves
from llc_core.sweeps.table import Table

_TABLE = "tr.close th, tr.close td { font-weight: 700; }"


@dataclass(frozen=True)
class Answer:
    """What is shown of a configuration.  rows: those of them.  numbers: of the readouts.  near: as from `share_near`.  samplers: of the whole store."""

    rows: Table
    curves: Sequence[Curve]
    table: Sequence[Accuracy]
    numbers: Mapping[str, str]
    near: float
    verdict: tuple[str, str]
    samplers: list[dict[str, str]]


def answer_of(config: BenchmarkConfig, stored: Sequence[Row]) -> Answer:
    """Everything that is computed; touches nothing on the screen.  stored: all rows, of which the configuration chooses."""
    chosen = config.rows(stored)
    rows = chosen.take(~chosen.names["sampler"].among(config.hidden)) if config.hidden else chosen
    found = curves(rows, config.estimator, config.truth, config.cut)
    table = accuracy(found)
    near = share_near(rows, config.estimator, config.truth, config.cut)
    return Answer(
        rows,
        found,
        table,
        readouts(rows, near, config.cut),
        near,
        verdict(table, TRUTH_WORDS[config.truth]),
        samplers_of(stored, PAPER),
    )


class Results:
    """`show` shows all of it. on_hidden: called with the samplers that the visitor leaves out.  on_measure: with what the
    charts are to show.

    rows, curves, table, near: what is shown.  numbers, verdict: for the cards of the page.  views: the cards below them.
    """

    def __init__(self) -> None:
        self.on_hidden: Callable[[tuple[str, ...]], None] = lambda names: None
        self.on_measure: Callable[[str], None] = lambda name: None
        self.rows = Table.of(())
        self.curves: Sequence[Curve] = ()
        self.table: Sequence[Accuracy] = ()
        self.near = math.nan
        self._values: Mapping[str, str] = {}
        self.numbers = Numbers(items=READOUTS, sizing_mode="stretch_width", margin=0)
        self.verdict = prose(theme.VERDICT, margin=(0, 0, 10, 0))
        self.measure = one_of({SHORT_TITLES[name]: name for name in MEASURES}, MEASURES[0])
        self.measure.param.watch(self._on_measure, "value")
        self.toggles = Toggles(label="Samplers", margin=0)
        self.toggles.listener = self._on_toggle
        self.charts = Multiples(sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        self.charts.listener = self._on_point
        self.runs, self.beside = RunsPanel(), Beside()
        self._legend = prose(theme.LEGEND, _ONE_LINE)
        self._table = prose(theme.TABLE, SCROLL, _TABLE)
        self.table_words = prose()
        self._quiet = False
        self._legend.styles = {"flex": "1 1 320px"}
        bar = pn.FlexBox(
            self.measure,
            self.toggles,
            self._legend,
            gap="6px 16px",
            align_items="center",
            sizing_mode="stretch_width",
            margin=0,
        )
        shown = card(self.verdict, bar, self.charts)
        self.top = pn.Column(shown, self.beside.view, sizing_mode="stretch_width", margin=0, stylesheets=[ALONE])
        """The charts, and beside them the run of a point."""
        self.beside.view.param.watch(self._on_beside, "visible")
        self.views: list[pn.viewable.Viewable] = [
            card(heading("Accuracy at the best step size"), self._table, self.table_words),
            self.runs.view,
        ]

    def show(self, config: BenchmarkConfig, answer: Answer) -> None:
        items = [{**item, "swatch": ""} for item in answer.samplers]  # in the charts all samplers have one colour
        if items != self.toggles.items:
            self.toggles.items = items
        self.toggles.shown = [item["key"] for item in items if item["key"] not in config.hidden]
        self.rows, self.curves, self.table, self.near = answer.rows, answer.curves, answer.table, answer.near
        self._quiet = True
        try:
            self.measure.value = config.measure
        finally:
            self._quiet = False
        self._legend.object = legend_html("", entries(config, self.curves)) + (
            f"<p class='small' style='margin: 2px 0 0'>{escape(caption(config, self.curves))}</p>"
        )
        data = multiples(self.curves, config.measure, config.truth, config.spread, config.nan_filter)
        title = f"Charts: {TITLES[config.measure]}"
        self.charts.param.update(data=data, title=title, chosen=[])
        self._table.object = table_html(self.table)
        words = escape(table_words(config.cut))
        self.table_words.object = f"<p class='small muted' style='margin: 8px 0 0'>{words}</p>"
        self.runs.show(self.curves, self.rows, config.estimator, config.truth, config.cut)
        self._estimator, self._cut = config.estimator, config.cut
        self._values = answer.numbers
        self._show_numbers()
        tone, words = answer.verdict
        self.verdict.object = f'<p class="{tone}" aria-live="polite">{words}</p>'

    def show_answers(self, visible: bool) -> None:
        """What is not in `top` and `views`, which the page takes away while answers are hidden; a run of a point ends then."""
        self.numbers.withheld = [] if visible else ANSWER_CELLS
        self._show_numbers()
        if not visible:
            self.beside.close()
            self.beside.view.visible = False

    def close(self) -> None:
        """End the run of a point."""
        self.beside.close()

    def _show_numbers(self) -> None:
        self.numbers.values = {key: text for key, text in self._values.items() if key not in self.numbers.withheld}

    def _on_point(self, key: str, index: int) -> None:
        """A point was chosen: its runs are listed, and one of them runs beside the charts."""
        with pn.io.hold():
            self.charts.chosen = [key, index]
            self.runs.choose(key, index)
            rows, errors = self.runs.lines
            if rows:
                self.beside.show(self.runs.title, rows, errors, self._estimator, self._cut)

    def _on_beside(self, event: object) -> None:
        self.top.stylesheets = [TWO if self.beside.view.visible else ALONE]
        if not self.beside.view.visible:
            self.charts.chosen = []

    def _on_measure(self, event: object) -> None:
        if not self._quiet:
            self.on_measure(self.measure.value)

    def _on_toggle(self) -> None:
        names = (item["key"] for item in self.toggles.items)
        self.on_hidden(tuple(name for name in names if name not in self.toggles.shown))


def caption(config: BenchmarkConfig, found: Sequence[Curve]) -> str:
    """What the axes of the charts are, and what is not drawn."""
    about = DIRECTIONS[config.measure]
    if config.measure == "mean_against_sd":
        about += f" {filter_words(found, config.nan_filter, config.cut)}"
    return about


def entries(config: BenchmarkConfig, found: Sequence[Curve]) -> list[tuple[str, str]]:
    """What the legend of the charts has: the truth where it is a line, the best step size, and how gradients are drawn."""
    found_gradients = {c.gradient for c in found}
    several = [(dash(DASHES[name]), SHORT[name]) for name in reversed(DASHES) if name in found_gradients]
    lines = several if len(several) > 1 else []
    if config.measure in ("relative_error", "mean_against_sd"):
        lines = [(config.truth, TRUTH_WORDS[config.truth]), (_NEAR, f"within ±{CLOSE:.0%}"), *lines]
    return [*lines, (_BEST, "best step size")]


SHORT_TITLES = {
    "relative_error": "Error",
    "mean_against_sd": "Mean and spread",
    "order_preservation": "Order",
    "nan_share": "No estimate",
}
_NEAR = f'<rect y="2" width="26" height="10" fill="{theme.GOOD}" fill-opacity=".3"/>'
_BEST = (
    f'<circle cx="13" cy="7" r="6" fill="none" stroke="{theme.ESTIMATE}" stroke-width="1.5"/>'
    f'<circle cx="13" cy="7" r="3" fill="{theme.ESTIMATE}"/>'
)
_ONE_LINE = "@media (max-width: 1480px) { ul { min-height: 0; } }"
ALONE = f"{theme.TALL} :host {{ display: grid !important; grid-template-columns: minmax(0, 1fr); gap: 12px; }}"
TWO = f"""{ALONE}
@media (min-width: 1000px) {{ :host {{ grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); align-items: start; }} }}"""
