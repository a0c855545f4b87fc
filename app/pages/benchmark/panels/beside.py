"""One run of a chosen point, live beside the charts: its traces, λ̂, its verdict, and the way to the page that has all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.components.readouts import Numbers
from app.controls.run_fields import device_field
from app.estimates.loss_figure import LossFigure
from app.estimates.networks import link_config
from app.estimates.texts import VARIANCE, caption, readout_values, verdict, why_unknown
from app.pages.benchmark.panels.runs import NOT_CARRIED, name_of, run_link
from app.pages.benchmark.table import percent
from app.runs.history import Cursor, NewRows
from app.runs.job import OVER, State
from app.runs.llc_job import LlcJob
from app.session.latest import LatestWork
from app.session.live import Live
from app.sharing.json_files import read_json
from app.sharing.links import PARAMETER
from app.sharing.reading import PageConfig
from app.style import theme
from app.style.layout import card, plotted, prose
from app.style.legend import heading, legend
from app.style.numbers import UNKNOWN, number, with_error
from llc_core.sweeps.series import Row, estimate_of, finite_or_nan

HEIGHT = 210
WORD_TICKS = 4
"""Polls between two writings of the words."""
RUN = "This run"
CELLS = [
    {"key": "llc", "label": "λ̂ of this run", "hero": True, "tip": "The chains run now, on this server, from the configuration of the row."},
    VARIANCE,
    {"key": "expected", "label": "expected", "tip": "What λ̂ should be at this n and nβ."},
    {"key": "stored", "label": "in the sweep", "tip": "What the sweep has stored for the same configuration; its chains drew other numbers."},
    {"key": "doing", "label": "now", "wide": True, "tip": "What the run is doing."},
]  # fmt: skip
LEGEND = [("band", "median, middle 80%"), ("one_chain", "one chain"), ("expected", "expected λ̂")]


class Beside:
    """Nothing is made before the first point is chosen. view: a card that is empty until then.

    `show` starts the run of a row in the middle of its point; the visitor chooses others.
    """

    def __init__(self) -> None:
        self.view = card()
        self.view.visible = False
        self.view.css_classes = [*self.view.css_classes, "lab-beside"]
        self._work = LatestWork()
        self._live: Live | None = None
        self._rows: dict[str, Row] = {}
        self._row: Row = {}
        self._config: PageConfig | None = None
        self._estimator, self._cut = "same_batch", True
        self._quiet = False
        self._drawn, self._ticks = -1, 0

    def show(self, title: str, rows: Sequence[Row], errors: Sequence[float], estimator: str, cut: bool = True) -> None:
        """Open with the row whose error is the median of all. rows: of one point, at least one.  errors: theirs, nan without λ̂."""
        self._make()
        self._estimator, self._cut = estimator, cut
        order = sorted(range(len(rows)), key=lambda i: errors[i] if math.isfinite(errors[i]) else math.inf)
        there = [i for i in order if math.isfinite(errors[i])] or order
        names = {i: f"{name_of(rows[i])}: {percent(errors[i], True)}" for i in order}
        self._rows = {names[i]: rows[i] for i in order}
        first = names[there[len(there) // 2]]
        self._title.object = f"<p><b>{escape(title)}</b></p>"
        self._quiet = True
        try:
            self._problem.param.update(options=list(self._rows), value=first)
        finally:
            self._quiet = False
        self.view.visible = True
        self._open(self._rows[first])

    def close(self) -> None:
        """End the run; called when the page closes, too."""
        self._work.forget()
        if self._live is not None:
            self._live.close()
            self._live = None

    def _make(self) -> None:
        if len(self.view):
            return
        self._title = prose()
        self._problem = pmui.Select(
            label="Problem, and its error in the sweep", options=[], size="small", sizing_mode="stretch_width",
            margin=(10, 0, 6, 0),
        )  # fmt: skip
        self._problem.param.watch(self._on_problem, "value")
        self._device = device_field().get("device")
        if self._device is not None:
            self._device.listener = self._on_device
        self._numbers = Numbers(items=CELLS, least="7.5rem", sizing_mode="stretch_width", margin=0)
        self._verdict = prose(theme.VERDICT, theme.ONE_LINE, margin=(8, 0))
        self._losses = LossFigure()
        self._losses.reset(1, 1, 0, 1.0, None)
        self._losses.plot.height = HEIGHT
        self._losses.plot.name = "beside_losses"
        self._link = prose(_LINK, margin=(6, 0, 0, 0))
        shut = pmui.Button(label="Close", size="small", variant="outlined", margin=0)
        shut.on_click(self._on_shut)
        head = pn.FlexBox(
            heading("One run of this point"), shut, justify_content="space-between", flex_wrap="nowrap",
            align_items="center", sizing_mode="stretch_width",
        )  # fmt: skip
        traces = legend("Loss traces", LEGEND, "beside_losses")
        self.view.objects = [
            head, self._title, self._problem, *filter(None, [self._device]), self._numbers, self._verdict, traces, plotted(self._losses.plot), self._link,
        ]  # fmt: skip

    # -- one row --------------------------------------------------------------------------------------------------------

    def _on_problem(self, event: Any) -> None:
        if not self._quiet and event.new in self._rows:
            with pn.io.hold():
                self._open(self._rows[event.new])

    def _on_device(self) -> None:
        with pn.io.hold():
            self._open(self._row)

    def _on_shut(self, event: Any) -> None:
        self.close()
        self.view.visible = False

    def _open(self, row: Row) -> None:
        """Run what a row ran. A thread checks, prices and builds it: the row may come from a visitor's file."""
        self._row = row
        stored, se = estimate_of(row, self._estimator, self._cut), finite_or_nan(row["llc_se"])
        self._numbers.values = {
            "llc": UNKNOWN,
            "variance": UNKNOWN,
            "expected": UNKNOWN,
            "stored": with_error(stored, se) if math.isfinite(stored) else "none",
            "doing": "preparing…",
        }
        self._say("wait", "<b>Starting.</b> The first points appear in a moment.")
        try:
            address = f"?{PARAMETER}={run_link(row)}"
            self._link.object = (
                f'<p><a href="{escape(address)}" target="_blank" rel="noopener">Open on Local geometry</a></p>'
            )
        except (ValueError, TypeError):
            self._link.object = ""
        device = None if self._device is None else self._device.value
        self._work.ask(partial(prepared, row["config"], device), self._begin, self._refuse)

    def _begin(self, found: tuple[PageConfig, float | None]) -> None:
        config, expected = found
        if self._live is None:
            self._live = Live(self._on_poll)
        try:
            self._live.reserve(config.memory, RUN, config.complete.device)
        except ValueError as error:
            self._refuse(str(error))
            return
        self._config, self._drawn = config, -1
        total, burn_in = config.lengths
        self._losses.reset(config.complete.chains, total, burn_in, config.resolved.problem.dim / 8, expected)
        self._numbers.values = {**self._numbers.values, "expected": number(expected)}
        self._live.start(partial(LlcJob, config.resolved), Cursor(), config.is_slow)

    def _refuse(self, message: str) -> None:
        if self._live is not None:
            self._live.close()
            self._live = None
        self._numbers.values = {**self._numbers.values, "doing": "not run"}
        self._say("bad", f"<b>This row cannot be run here.</b> {escape(message)}")

    # -- the run --------------------------------------------------------------------------------------------------------

    def _on_poll(self, state: State, rows: NewRows | None) -> None:
        if state.version == self._drawn or self._live is None or self._config is None:
            return
        self._drawn, self._ticks = state.version, self._ticks + 1
        if rows is not None:
            self._live.cursor = rows.cursor
            self._losses.stream(rows)
        if state.status in OVER or self._ticks % WORD_TICKS == 0:
            self._show_words(state, self._config.lengths[0])

    def _show_words(self, state: State, total: int) -> None:
        values = {
            **self._numbers.values,
            **{key: text for key, text in readout_values(state, None).items() if key in ("llc", "variance")},
            "doing": f"{caption(state)}, {min(state.steps / total, 1):.0%}",
        }
        self._numbers.param.update(values=values, reasons=why_unknown(state.estimate))
        self._say(*verdict(state))

    def _say(self, tone: str, words: str) -> None:
        self._verdict.object = f'<p class="{tone}" aria-live="polite">{words}</p>'


def prepared(text: str, device: str | None = None) -> tuple[PageConfig, float | None]:
    """What the page Local geometry runs for the configuration of a row, and what λ̂ should be there, None where it is not known.

    device: where it runs now, whatever the sweep ran on.
    ValueError, one sentence, where that page would not run it.
    """
    values = read_json(text, "a run configuration")
    if not isinstance(values, dict):
        raise ValueError("The configuration of this row is no mapping of names to values.")
    kept = {name: value for name, value in values.items() if name not in NOT_CARRIED}
    config = link_config({**kept, "device": device})
    complete = config.complete
    assert complete.n_beta is not None
    return config, config.resolved.problem.expected_llc_at(complete.n_beta, complete.localization or 0.0)


_LINK = "a { color: var(--panel-primary-color); font-weight: 700; }"
