"""The section "Sweep": choose a field, run it at a dozen values at once, take over the value of a point."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from html import escape

import panel as pn
import panel_material_ui as pmui

from app import theme
from app.layout import card
from app.legend import legend
from app.runs import OVER, RunHandle, State, Status, manager
from app.sweep import COUNT, SweepJob, SweepPoints, same_question, sweepable
from app.sweep_plots import SweepFigure
from app.widgets import number_text
from llc_core import Potential, RunConfig
from llc_core.samplers.base import Sampler

WORDS_TICKS = 6
INVITATION = (
    "Run the present settings at a dozen values of one field at once: how does the error of λ̂ depend on it? "
    "A click on a point sets its value."
)
_MARKS = (
    (
        f'<circle cx="13" cy="7" r="5" fill="{theme.ESTIMATE}"/><path d="M13 0v14" stroke="{theme.ESTIMATE}"/>',
        "λ̂ ± 2 s.e.",
    ),
    (f'<path d="M0 7h26" stroke="{theme.EXPECTED}" stroke-width="2" stroke-dasharray="2 3"/>', "no error"),
    (f'<path d="M0 7h26" stroke="{theme.GLOBAL}" stroke-width="2" stroke-dasharray="9 4"/>', "engine’s choice"),
    (f'<path d="M0 7h26" stroke="{theme.LOCAL}" stroke-width="2"/>', "stability limit"),
    (f'<path d="M0 7h26" stroke="{theme.ESTIMATE}" stroke-width="2" stroke-dasharray="2 3"/>', "now set"),
    (f'<path d="M13 2l6 10h-12z" fill="{theme.ESTIMATE}"/>', "error above 100%"),
)


class SweepPanel:
    """listener: called with (field, value) when the user chooses a value.

    `show` tells which run the page has; `poll` and `close` belong to the sweep's own run.
    """

    def __init__(self) -> None:
        self.listener: Callable[[str, float], None] = lambda field, value: None
        self.found: SweepPoints | None = None
        self._config: RunConfig | None = None
        self._problem: Potential | None = None
        self._asked: RunConfig | None = None
        self._handle: RunHandle | None = None
        self._version, self._ticks = -1, 0
        self.figure = SweepFigure()
        self.figure.points.selected.on_change("indices", self._on_tap)
        self.field = pmui.Select(
            label="Field", options={"Step size": "step_size"}, value="step_size", size="small", margin=0, width=190
        )
        self.button = pmui.Button(label="Sweep", size="small", variant="contained", margin=0, width=96)
        self.button.on_click(self._on_button)
        self.take = pmui.Button(label="Use the best", size="small", variant="outlined", margin=0, visible=False)
        self.take.on_click(self._on_take)
        self._words = pn.pane.HTML(
            _said(INVITATION), sizing_mode="stretch_width", margin=(6, 0, 0, 0), stylesheets=[theme.TEXT]
        )
        self.view = card(
            _head(),
            pn.FlexBox(
                self.field,
                self.button,
                self.take,
                gap="10px",
                align_items="center",
                sizing_mode="stretch_width",
                margin=(8, 0),
            ),
            pn.pane.Bokeh(self.figure.plot, sizing_mode="stretch_width", margin=0),
            pn.pane.Bokeh(self.figure.dead_plot, sizing_mode="stretch_width", margin=0),
            self._words,
        )

    def show(self, config: RunConfig, problem: Potential, sampler: Sampler) -> None:
        """The page runs something now. A sweep that is of other settings ends; its points stay, with a word."""
        self._config, self._problem = config, problem
        fields = {label: name for name, label in sweepable(sampler).items()}
        if self.field.options != fields:
            chosen = self.field.value if self.field.value in fields.values() else next(iter(fields.values()))
            self.field.param.update(options=fields, value=chosen)
        if self._asked is None:
            return
        if self._holds:
            self._say()
        else:
            self._stop()
            self.take.visible = False
            if self.found is not None:
                self._words.object = _said("These points are of earlier settings; sweep again for the present ones.")
        self._mark()

    def poll(self) -> None:
        if self._handle is None:
            return
        self._ticks += 1
        state, _ = self._handle.poll(None)
        over = state.status in OVER
        if state.version != self._version and (over or self._ticks % 2 == 0):
            self._version = state.version
            if isinstance(state.snapshot, SweepPoints):
                self.found = state.snapshot
                self.figure.show(self.found)
                self._mark()
            if over or self._ticks % WORDS_TICKS == 0:
                self._say(state)
        if over:
            self._handle = None
            self.button.label = "Sweep"

    def close(self) -> None:
        """End the run; called when the page closes. Touches nothing on the screen: it may be gone."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    # -- what the user does -------------------------------------------------------------------------------------------

    def _on_button(self, event: object) -> None:
        with pn.io.hold():
            if self._handle is not None:
                self._stop()
                self._words.object = _said("Stopped.")
                return
            self._start()

    def _stop(self) -> None:
        self.close()
        self.button.label = "Sweep"

    def _start(self) -> None:
        if self._config is None or self._problem is None:
            return
        self._asked, self.found, self._version = self._config, None, -1
        field = self.field.value
        label = next(label for label, name in self.field.options.items() if name == field)
        self.figure.reset(label)
        self.take.visible = False
        self._handle = manager().submit(partial(SweepJob, self._config, self._problem, field))
        self.button.label = "Stop"
        self._words.object = _said(
            "Finding where to look: a short automatic run." if field == "step_size" else "Starting."
        )

    def _on_take(self, event: object) -> None:
        if self.found is not None and self.found.best is not None:
            self._choose(self.found.best)

    def _on_tap(self, attribute: str, old: list[int], new: list[int]) -> None:
        if new:
            self.figure.points.selected.indices = []  # so that the same point can be chosen again
            self._choose(new[0])

    def _choose(self, index: int) -> None:
        if self.found is not None and self._holds and index < len(self.found.values):
            self.listener(self.found.field, float(self.found.values[index]))

    # -- words --------------------------------------------------------------------------------------------------------

    @property
    def _holds(self) -> bool:
        """Whether the points are of the page's present settings, the swept field aside."""
        if self._asked is None or self._config is None:
            return False
        field = self.found.field if self.found is not None else self.field.value
        return same_question(self._asked.to_dict(), self._config.to_dict(), field)

    def _mark(self) -> None:
        if self.found is None or self._config is None:
            return
        values = {**(self._config.sampler or {}), **self._config.to_dict()}
        current = values.get(self.found.field) if self._holds else None
        self.figure.mark(self.found, current)

    def _say(self, state: State | None = None) -> None:
        if state is not None and state.status is Status.FAILED:
            self._words.object = f'<p class="small"><span role="alert">{escape(state.message)}</span></p>'
        elif state is not None and state.status is Status.CANCELLED:
            self._words.object = _said(state.message or "Stopped.")
        elif state is not None and state.status is Status.QUEUED:
            self._words.object = _said(f"Waiting for a free place, number {state.place} in the queue.")
        elif self.found is not None and len(self.found.values):
            self._words.object = _said(words(self.found))
            self.take.visible = self.found.best is not None


def words(found: SweepPoints) -> str:
    """What the points say, for people."""
    size = f"{len(found.values)} values, {found.chains} chains of {found.chain_steps:,} steps each"
    if not found.averaging:
        return f"{size}. Burn-in: the faint points show where the chains are, not yet an average."
    if found.best is None:
        return f"{size}. No value has an estimate: most chains are dead everywhere."
    value, error = float(found.values[found.best]), float(found.error[found.best])
    se = float(found.error_se[found.best])
    shown = f"{error:+.1%}".replace("-", "−") + (f" ± {2 * se:.1%}" if math.isfinite(se) else "")
    text = f"{size}. Smallest error, its error bar included, at {number_text(value)}: {shown}"
    if math.isfinite(found.default):
        ratio = value / found.default
        own = f"the engine’s choice {number_text(found.default)}"
        text += f" ({own})" if abs(ratio - 1) < 0.02 else f" ({ratio:.2g} times {own})"
    text += "."
    if math.isfinite(found.limit):
        text += f" Above {number_text(found.limit)} the chains are unstable."
    elif found.dead.max() > 0:
        text += f" Chains died at {int((found.dead > 0).sum())} of {COUNT} values."
    return text


def _said(text: str) -> str:
    return f'<p class="small" role="status">{escape(text)}</p>'


def _head() -> pn.pane.HTML:
    return legend("Sweep", [(picture, text) for picture, text in _MARKS], "sweep_figure")
