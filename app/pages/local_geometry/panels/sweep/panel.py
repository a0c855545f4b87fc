"""The section "Sweep": choose a field, run it at a dozen values at once, take over the value of a point."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.pages.local_geometry.panels.sweep.figure import SweepFigure
from app.pages.local_geometry.panels.sweep.job import SweepJob, same_question
from app.pages.local_geometry.panels.sweep.points import SweepPoints
from app.pages.local_geometry.panels.sweep.values import about_field, check_ends, sweepable
from app.pages.local_geometry.panels.sweep.words import parse_end, words
from app.runs.job import OVER, Job, State, Status
from app.session.job_panel import JobPanel
from app.style import theme
from app.style.layout import card, plotted
from app.style.legend import heading, legend
from llc_core import Estimate, Potential, RunConfig
from llc_core.samplers.base import Sampler

DRAW_TICKS, WORDS_TICKS = 2, 6
ENDS = ("From", "To")
INVITATION = (
    "How does the error of λ̂ depend on one setting? This runs a dozen values of it at once. A click on a "
    "point sets its value."
)
_MARKS = (
    (
        f'<circle cx="13" cy="7" r="5" fill="{theme.ESTIMATE}"/><path d="M13 0v14" stroke="{theme.ESTIMATE}"/>',
        "λ̂ ± 2 s.e.",
    ),
    (f'<path d="M0 7h26" stroke="{theme.EXPECTED}" stroke-width="2" stroke-dasharray="2 3"/>', "no error"),
    (f'<path d="M0 7h26" stroke="{theme.GOOD}" stroke-width="2" stroke-dasharray="9 4"/>', "automatic"),
    (f'<path d="M0 7h26" stroke="{theme.MARK}" stroke-width="2"/>', "largest stable"),
    (f'<path d="M0 7h26" stroke="{theme.ESTIMATE}" stroke-width="2" stroke-dasharray="2 3"/>', "now set"),
    (f'<path d="M13 2l6 10h-12z" fill="{theme.ESTIMATE}"/>', "error above 100%"),
)


class SweepPanel(JobPanel):
    """listener: called with (field, value) when the user chooses a value.

    `show` tells which run the page has; `poll` and `close` belong to the sweep's own run.
    """

    described = "sweep_figure sweep_dead"

    def __init__(self) -> None:
        super().__init__("Sweep", INVITATION, ticks=DRAW_TICKS, width=96, margin=(6, 0, 0, 0))
        self.listener: Callable[[str, float], None] = lambda field, value: None
        self.found: SweepPoints | None = None
        self._config: RunConfig | None = None
        self._problem: Potential | None = None
        self._sampler: Sampler | None = None
        self._asked: RunConfig | None = None
        self._settled, self._default, self._limit = False, math.nan, math.nan
        """Whether the page's run is behind its burn-in; its automatic step size and the largest stable one, where it has found them."""
        self.field = pmui.Select(
            label="Field", options={"Step size": "step_size"}, value="step_size", size="small", margin=0, width=190
        )
        self.field.param.watch(self._on_field, "value")
        self.ends = tuple(
            pmui.TextInput(label=label, placeholder="automatic", size="small", margin=0, width=112) for label in ENDS
        )
        self.take = pmui.Button(label="Use the best", size="small", variant="outlined", margin=0, visible=False)
        self.take.on_click(self._on_take)
        self.drawn = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        chosen = (self.field, *self.ends, self.button, self.take)
        row = pn.FlexBox(*chosen, gap="10px", align_items="center", sizing_mode="stretch_width", margin=(8, 0))
        self.view = card(heading("Sweep"), row, self.drawn, self.words)

    @cached_property
    def figure(self) -> SweepFigure:
        """Made with the first sweep, with what shows it: it was a quarter of making the page, and few visitors sweep.

        It is hidden as a whole, since a pane of a figure takes `visible` back from its figure.
        """
        made = SweepFigure()
        made.points.selected.on_change("indices", self._on_tap)
        self.drawn.objects = [
            legend("Sweep", _MARKS, "sweep_figure", headed=False),
            plotted(made.plot),
            plotted(made.dead_plot),
        ]
        return made

    def show(self, config: RunConfig, problem: Potential, sampler: Sampler) -> None:
        """The page runs this now. A sweep of other settings is stopped; its points stay, and a sentence says so."""
        self._config, self._problem, self._sampler = config, problem, sampler
        self._settled, self._default, self._limit = False, math.nan, math.nan
        fields = {label: name for name, label in sweepable(sampler).items()}
        if self.field.options != fields:
            chosen = self.field.value if self.field.value in fields.values() else next(iter(fields.values()))
            self.field.param.update(options=fields, value=chosen)
        if self._asked is None:
            return
        if self._holds:
            self._tell()
        else:
            self.stop()
            self.take.visible = False
            if self.found is not None:
                self.say("These points are of earlier settings; sweep again for the present ones.")
        self._mark()

    def update(self, estimate: Estimate | None) -> None:
        """The page's run has this estimate: what it says of the step size holds here too, so that a page has one number of a kind."""
        if estimate is None or self._config is None:
            return
        sampler = self._config.sampler or {}
        self._settled = estimate.steps > estimate.burn_in
        self._default = estimate.diagnostics["step_size"] if sampler.get("step_size") is None else math.nan
        self._limit = estimate.diagnostics["stability_limit"]
        if self.found is not None and self._holds and self.found.field == "step_size":
            self.found = self._agreed(self.found)
            self._mark()
            self._tell()

    def _agreed(self, found: SweepPoints) -> SweepPoints:
        """The same points with the page's own step sizes, where it has them."""
        if found.field != "step_size":
            return found
        own = {"default": self._default, "limit": self._limit}
        return replace(found, **{name: value for name, value in own.items() if self._usable(value)})

    def _usable(self, step_size: float) -> bool:
        """Whether it is a step size that the field takes: where chains have overflowed a limit may be anything."""
        return self._sampler is not None and 0 < step_size <= about_field(self._sampler, "step_size").high

    def begin(self) -> Callable[[], Job] | None:
        if self._config is None or self._problem is None or self._sampler is None:
            return None
        field = self.field.value
        low, high = (parse_end(end.label, end.value) for end in self.ends)
        ends = check_ends(field, about_field(self._sampler, field), (low, high))
        self._asked, self.found = self._config, None
        label = next(label for label, name in self.field.options.items() if name == field)
        self.figure.reset(label)
        self.drawn.visible = True
        self.take.visible = False
        known = self._default, self._limit
        found = field == "step_size" and self._settled and all(map(self._usable, known))
        looks = field == "step_size" and not found
        self.say("Finding where to look: a short automatic run." if looks else "Starting.")
        return partial(SweepJob, self._config, self._problem, field, ends=ends, around=known if found else None)

    def receive(self, state: State, items: list[Any]) -> None:
        if isinstance(state.snapshot, SweepPoints):
            self.found = self._agreed(state.snapshot)
            self.figure.show(self.found)
            self._mark()
        over = state.status in OVER
        if (over or self._ticks % WORDS_TICKS == 0) and state.status not in (Status.FAILED, Status.CANCELLED):
            self._tell()

    # -- what the user does -------------------------------------------------------------------------------------------

    def _on_field(self, event: object) -> None:
        """The ends belong to the former field: empty them."""
        for end in self.ends:
            end.value = ""

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

    def _tell(self) -> None:
        if self.found is not None and len(self.found.values):
            self.say(words(self.found))
            self.take.visible = self.found.best is not None
