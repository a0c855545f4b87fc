"""The base of every page that estimates λ: read-outs, verdict, curves, a comparison and a guess. Long, since it is one class: what a
page says of itself, what a visitor does, and what a run answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import panel as pn

from app.components.readouts import Numbers
from app.components.tiles import item
from app.controls.advice import ApplyButton
from app.controls.run_controls import Controls
from app.estimates import texts
from app.estimates.compare_panel import ComparePanel
from app.estimates.comparison import in_use
from app.estimates.curves import Curves
from app.estimates.going_on import go_on
from app.estimates.guessing import TASK, Guessing, Truth
from app.estimates.how_it_works import how_it_works
from app.pages.page import Page
from app.pages.tiled import Wanted
from app.runs.history import Cursor
from app.runs.job import OVER, Job, State
from app.runs.llc_job import LlcJob
from app.session.live import POLL_MILLISECONDS
from app.sharing.reading import PageConfig, from_side_bar
from app.style import theme
from app.style.layout import arranged, card, prose
from app.style.numbers import UNKNOWN
from llc_core import Estimate, Potential, RunConfig
from llc_core.studies.explain.parts import Explanation


class Editor(Protocol):
    """What is estimated. `listener` is called after a change by the visitor.  choices: what of it stands in the bar."""

    listener: Callable[[], None]
    choices: Sequence[Any]

    @property
    def problem(self) -> Any:
        """What is described now, as `EstimatePage.problem_of` takes it. A page with its own `wanted` need not have it."""

    def show(self, problem: Any) -> None:
        """Show `PageConfig.problem` without reporting a change."""


class Takeaway(Protocol):
    """The menu of files, see `app.sharing.desk.EstimateDesk`. withheld: whether files with answers are not given."""

    withheld: bool

    def show(self, config: Any) -> None:
        """The page runs this `PageConfig` now."""

    def update(self, estimate: Estimate | None) -> None: ...


class CardPanel(Protocol):
    """A card with a calculation of its own."""

    def poll(self) -> None: ...
    def close(self) -> None: ...


class EstimatePage(Page):
    """A preset, a link, a file and the side bar each give a `PageConfig`, which is resolved once: that is what may take long here.

    What a page defines is said in `Page`, and below.
    """

    period = POLL_MILLISECONDS
    """Milliseconds between two polls. The figures are renewed at every poll."""
    counter_ticks, word_ticks = 2, 10
    """The counter is renewed at every second poll, numbers and words at every tenth."""
    task = TASK
    own_settings = texts.OWN_SETTINGS

    config: PageConfig
    editor: Editor
    takeaway: Takeaway
    panels: Sequence[CardPanel] = ()

    # -- what a page must define --------------------------------------------------------------------------------------

    def picture(self, preset: Any) -> str:
        """SVG for the preset's tile."""
        raise NotImplementedError

    def problem_of(self, description: Any, settings: Mapping[str, Any]) -> Potential:
        """The problem that the editor describes, at these settings of the run; `wanted` has it made, in a thread as well."""
        raise NotImplementedError

    # -- what a page may define ---------------------------------------------------------------------------------------

    def plain_picture(self, preset: Any) -> str:
        """The same while answers are hidden: it must not tell the outcome."""
        return self.picture(preset)

    def wanted(self) -> Wanted:
        """What the widgets say now, as a function of plain values."""
        return partial(from_side_bar, self.editor.problem, self.controls.values, self.problem_of)

    def of_side_bar(self) -> PageConfig:
        return self.wanted()()

    def job(self, config: PageConfig, scene: Any) -> Callable[[], Job]:
        return partial(LlcJob, config.resolved)

    def configuration(self) -> dict[str, Any]:
        """What is run, for a link: the fields of RunConfig that differ from their defaults."""
        return RunConfig(problem=self.config.problem, **self.config.settings).changed()

    def cursor(self) -> Any:
        return Cursor()

    def compared(self, config: PageConfig) -> RunConfig:
        """What is compared with a pinned run."""
        return config.complete

    def show(self, config: PageConfig) -> None:
        self.editor.show(config.problem)
        self.controls.show(config.settings)

    def stream(self, rows: Any) -> None:
        self.curves.stream(rows)

    def poll_panels(self, built: bool) -> None:
        """Look at the panels' calculations. built: whether the run has been built, which goes first."""
        for panel in self.panels:
            panel.poll()

    def caption(self, state: State) -> str:
        return texts.caption(state)

    def numbers(self, state: State) -> dict[str, str]:
        """Values of the read-outs."""
        return texts.readout_values(state, None)

    @property
    def reference(self) -> float | None:
        """The exact value at this n, nβ and γ, where the page knows one that estimates do not hold."""
        return None

    @property
    def split(self) -> Explanation | None:
        """The measured split of the present estimate's error, where there is one."""
        return None

    def judge(self, state: State) -> tuple[str, str]:
        """Tone and HTML of the verdict."""
        return texts.verdict(state, self.answers.visible, self.reference, self.split)

    def truth(self) -> Truth | None:
        """The λ that is guessed while answers are hidden; None where there is no exact one."""
        return None

    def show_estimate(self, state: State) -> None:
        """Show what the latest estimate changes beside read-outs and verdict."""

    def on_longer(self, config: PageConfig) -> None:
        """The present run has become longer; its rows come anew."""

    # -- the page -----------------------------------------------------------------------------------------------------

    def __init__(self, presets: Sequence[Any], curves: Curves, controls: Controls, cells: Sequence[Any]) -> None:
        """cells: the read-outs below the transport, as `Numbers` takes them."""
        super().__init__(presets)
        self.readouts = Numbers(items=list(cells), row=True, margin=0, styles={"flex": "0 1 auto"})
        self.transport.styles = {"flex": "1 1 360px"}
        self.verdict = prose(theme.VERDICT, theme.ONE_LINE, styles={"flex": "1 1 20rem"})
        self.curves = curves
        self.losses, self.estimates = curves.losses, curves.estimates
        self.compare = ComparePanel(self.estimates)
        self.guessing = Guessing(lambda: self.answers)
        self.controls = controls
        self.controls.listener = self._on_settings
        self.apply = ApplyButton(controls)
        self.numbers_card = card(
            arranged(theme.SIDE_BY_SIDE, self.readouts, self.transport),
            arranged(theme.SIDE_BY_SIDE, self.verdict, self.apply.button, margin=(6, 0, 0, 0)),
            self.guessing.view,
        )
        """The run, λ̂ beside what it should be, and in one line what to think of it."""

    def compose_estimate(
        self, side: Mapping[str, Sequence[Any]], *cards: Any, below: Sequence[Any], first: str = ""
    ) -> None:
        """Put the page together and open it, see `Page.compose`. below: cards that come once the picture moves."""
        self.on_answers()
        choices = [*self.editor.choices, *self.controls.choices]
        self.compose([self.editor], side, *cards, choices=choices, below=[*below, how_it_works()], first=first)

    def opened(self, preset: Any) -> tuple[Any, Any]:
        return None, None

    def _begin(self, preset: str) -> None:
        """At once, however long it takes: there is nothing yet that the page could show meanwhile."""
        self._take(self.of_preset(self._presets[preset]), None, preset, self._presets[preset].lesson)

    def tile(self, preset: Any) -> dict[str, str]:
        return self._tile(preset, self.picture)

    def plain_tile(self, preset: Any) -> dict[str, str]:
        return self._tile(preset, self.plain_picture)

    def _tile(self, preset: Any, draw: Callable[[Any], str]) -> dict[str, str]:
        return item(preset, draw(preset))

    def memory(self, config: PageConfig, scene: Any) -> float:
        return config.memory

    def device(self, config: PageConfig) -> str | None:
        return config.complete.device

    def is_slow(self, config: PageConfig) -> bool:
        return config.is_slow

    def lengths(self, config: PageConfig) -> tuple[int, int]:
        return config.lengths

    # -- ways to a run ------------------------------------------------------------------------------------------------

    def prepared(self, wanted: Wanted) -> tuple[Any, Any]:
        """Its scene is made when it is taken: the configuration is what takes long."""
        return wanted(), None

    def _take(self, config: PageConfig, scene: Any, preset: str, lesson: str, show: bool = True) -> None:
        if show:
            self.controls.check(config.settings)
        self._live.reserve(self.memory(config, scene), self.memory_of, self.device(config))
        with pn.io.hold():
            if show:
                self.show(config)
            self.complain("")
            self._start(config, self.scene_of(config), preset, lesson)

    def _start(self, config: PageConfig, scene: Any, preset: str, lesson: str = "") -> None:
        self._told = False
        """Whether a first number of this run has been shown."""
        self._counted: tuple[Any, ...] = ()
        self.compare.begin(self.compared(config))
        sampler, complete = config.resolved.sampler, config.complete
        self.controls.show_live({**sampler.to_dict(), "n_beta": complete.n_beta})
        subject = complete.problem, complete.n_beta, complete.localization, replace(sampler, step_size=1.0)
        self.controls.describe(sampler, repr(subject))
        super()._start(config, scene, preset, lesson)
        self.compare.draw()
        self.takeaway.show(config)

    def close_panels(self) -> None:
        for panel in self.panels:
            panel.close()

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_settings(self) -> None:
        self.controls.forget()
        self.change_settings()

    def change_settings(self, lesson: str = "") -> None:
        """Run what the widgets say now, see `change`."""
        try:
            wanted = self.wanted()
        except ValueError as error:
            self.refuse(error)
        else:
            self.change(wanted, lesson)

    def _on_command(self, command: str) -> None:
        if command == "more":
            self._go_on()
        else:
            super()._on_command(command)

    def _go_on(self) -> None:
        """Make the finished run twice as long."""
        with pn.io.hold():
            try:
                longer = go_on(self._live, self.config, self.controls, self.curves, self.transport)
            except ValueError as error:
                self.complain(str(error))
                return
            if longer is not None:
                self.config, self.scene = longer, self.scene_of(longer)
                self.compare.go_on(self.compared(longer))
                self.takeaway.show(longer)
                self.on_longer(longer)

    def show_answers(self, visible: bool) -> None:
        self.curves.show_answers(visible)
        if self._drawn < 0 and self.config is not None:
            self.reset(self.config, self.scene)  # the first ranges lie around the answers, or do not
        self.show_question()

    # -- what the run does --------------------------------------------------------------------------------------------

    def _on_poll(self, state: State, rows: Any) -> None:
        self._ticks += 1
        if self.later.due(self._drawn >= 0):
            self.later.arrive()
        self.state = state
        over = state.status in OVER
        if rows is not None and state.version != self._drawn:
            self._live.cursor, self._drawn = rows.cursor, state.version
            self.stream(rows)
        # A run that walks rests between its steps, so that a pause is no new version of it.
        counted = state.version, state.status
        if counted != self._counted and (over or self._ticks % self.counter_ticks == 0):
            self._counted = counted
            self.transport.param.update(step=state.steps, caption=self.caption(state))
        self.poll_panels(rows is not None)
        # The first number does not wait for the turn of the words.
        first = not self._told and math.isfinite(self.estimates.newest())
        if state.version != self._worded and (over or first or self._ticks % self.word_ticks == 0):
            self._worded = state.version
            self._show_words(state)
            self.curves.summarise(state.steps, self.config.lengths[0], over)

    def _show_words(self, state: State) -> None:
        self.state = state
        self.show_question()
        values = self.numbers(state)
        early = texts.so_far(state, self.estimates.newest()) if values.get("llc") == UNKNOWN else {}
        self._told = bool(early) or values.get("llc") != UNKNOWN
        shown = {key: text for key, text in {**values, **early}.items() if key not in self.readouts.withheld}
        reasons = texts.why_unknown(state.estimate)
        self.readouts.param.update(values=shown, early=list(early), reasons=reasons)
        used = in_use(state)
        self.compare.update(values if self.answers.visible else texts.without_answers(values), used, reasons)
        self.takeaway.update(state.estimate)
        truth = self.truth()
        self.takeaway.withheld = not self.answers.visible and truth is not None
        self.guessing.show(truth, state.estimate)
        tone, words = self.judge(state)
        found = texts.concluded(state, self.answers.visible, self.reference, self.split)
        self.apply.show(texts.advised(state, found))
        # Read aloud when the run rests; while numbers move a screen reader would never stop talking.
        live = "off" if state.status == "running" else "polite"
        self.verdict.object = f'<p class="{tone}" aria-live="{live}" tabindex="0">{words}</p>'
        self.controls.show_live(used)
        if state.estimate is not None:
            self.controls.show_limit(state.estimate.diagnostics.get("stability_limit"))
        self.show_estimate(state)
