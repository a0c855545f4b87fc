"""What the page "Benchmark" shows of the chosen runs: numbers, verdict, figures, table, and the runs behind a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.components.toggles import Toggles
from app.pages.benchmark.columns import DASHES, SHORT, TITLES
from app.pages.benchmark.config import BenchmarkConfig
from app.pages.benchmark.panels.runs import RunsPanel
from app.pages.benchmark.table import SCROLL, TABLE_WORDS, table_html
from app.pages.benchmark.texts import READOUTS, dash, readouts, samplers_of, verdict
from app.style import theme
from app.style.layout import card, pair, plotted, prose
from app.style.legend import heading, legend
from llc_core.sweeps.series import PAPER, TRUTH_WORDS, Accuracy, Curve, Row, accuracy, curves
from llc_core.sweeps.table import Table

_TABLE = "tr.close th, tr.close td { font-weight: 700; }"


@dataclass(frozen=True)
class Answer:
    """What is shown of a configuration.  rows: those of them.  numbers: of the readouts.  samplers: of the whole store."""

    rows: Table
    curves: Sequence[Curve]
    table: Sequence[Accuracy]
    numbers: Mapping[str, str]
    verdict: tuple[str, str]
    samplers: list[dict[str, str]]


def answer_of(config: BenchmarkConfig, stored: Sequence[Row]) -> Answer:
    """Everything that is computed; touches nothing on the screen.  stored: all rows, of which the configuration chooses."""
    chosen = config.rows(stored)
    rows = chosen.take(~chosen.names["sampler"].among(config.hidden)) if config.hidden else chosen
    found = curves(rows, config.estimator, config.truth)
    table = accuracy(found)
    return Answer(
        rows,
        found,
        table,
        readouts(rows, config.estimator, config.truth),
        verdict(table, TRUTH_WORDS[config.truth]),
        samplers_of(stored, PAPER),
    )


class Results:
    """`show` shows all of it. on_hidden: called with the samplers that the visitor leaves out.

    rows, curves, table: what is shown.  numbers, verdict: for the card above.  views: the cards below it.
    """

    def __init__(self) -> None:
        # HoloViews takes seconds to import, which the other pages need not wait for.
        from app.pages.benchmark.figures import SweepFigure

        self.on_hidden: Callable[[tuple[str, ...]], None] = lambda names: None
        self.rows = Table.of(())
        self.curves: Sequence[Curve] = ()
        self.table: Sequence[Accuracy] = ()
        self.numbers = Numbers(items=READOUTS, sizing_mode="stretch_width", margin=0)
        self.verdict = prose(theme.VERDICT, margin=(10, 0, 0, 0))
        self.toggles = Toggles(
            items=[], shown=[], label="Samplers", figures=" ".join(TITLES), sizing_mode="stretch_width", margin=(6, 0)
        )
        self.toggles.listener = self._on_toggle
        self.figures = {name: SweepFigure(name) for name in TITLES}
        self.runs = RunsPanel()
        for figure in self.figures.values():
            figure.on_tap = self.runs.choose
        self._dashes = legend("", [(dash(DASHES[name]), SHORT[name]) for name in reversed(DASHES)])
        self._dashes.margin = (2, 0, 12, 0)
        self._table = prose(theme.TABLE, SCROLL, _TABLE)
        self.table_words = prose()
        self.table_words.object = f"<p class='small muted' style='margin: 8px 0 0'>{escape(TABLE_WORDS)}</p>"
        self.views: list[pn.viewable.Viewable] = [
            card(self.toggles, self._dashes, *self._drawn("relative_error")),
            pair(
                card(*self._drawn("mean_against_sd")),
                card(*self._drawn("order_preservation"), *self._drawn("nan_share")),
            ),
            card(heading("Accuracy at the best step size"), self._table, self.table_words),
            self.runs.view,
        ]

    def _drawn(self, name: str) -> list[Any]:
        return [heading(TITLES[name]), plotted(self.figures[name].plot)]

    def show(self, config: BenchmarkConfig, answer: Answer) -> None:
        if answer.samplers != self.toggles.items:
            self.toggles.items = answer.samplers
        self.toggles.shown = [item["key"] for item in answer.samplers if item["key"] not in config.hidden]
        self.rows, self.curves, self.table = answer.rows, answer.curves, answer.table
        self._dashes.visible = len({c.gradient for c in self.curves}) > 1
        for figure in self.figures.values():
            figure.show(self.curves, config.spread)
        self._table.object = table_html(self.table)
        self.runs.show(self.curves, self.rows, config.estimator, config.truth)
        self.numbers.values = answer.numbers
        tone, words = answer.verdict
        self.verdict.object = f'<p class="{tone}" aria-live="polite">{words}</p>'

    def _on_toggle(self) -> None:
        names = (item["key"] for item in self.toggles.items)
        self.on_hidden(tuple(name for name in names if name not in self.toggles.shown))
