"""The base of every page that estimates λ: presets, transport, read-outs, verdict, curves, and one way to start a run. Long, since
it is one class: what a visitor does, and what a run answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.components.tiles import Tiles, drawn_once
from app.components.transport import Transport
from app.controls.advice import ApplyButton
from app.controls.run_controls import Controls
from app.estimates import texts
from app.estimates.compare_panel import ComparePanel
from app.estimates.comparison import in_use
from app.estimates.contract import PageContract, Preset
from app.estimates.curves import Curves
from app.estimates.going_on import go_on
from app.estimates.guessing import Guessing, hidden_tiles, without_lesson
from app.estimates.how_it_works import how_it_works
from app.runs.job import OVER, Job, State
from app.runs.llc_job import LlcJob
from app.session.errors import tell
from app.session.live import Live
from app.sharing.exact_answers import ExactAnswers
from app.sharing.reading import PageConfig, from_side_bar
from app.style import theme
from app.style.later import Later
from app.style.layout import card, complain, complaint, page, pair, prose, side_bar
from app.style.numbers import UNKNOWN

RUN = "This run"
"""What needs memory, in the sentence that refuses it."""


class EstimatePage(PageContract):
    """One visitor's page. Everything here runs in the session's own callbacks; the run lives in the manager.

    A preset, a link, a file and the side bar each give a `PageConfig`, which is resolved once, and `run` starts it.
    Widgets show the configuration. They are read only after the visitor has changed one of them.

    A page makes its own widgets after `super().__init__`, and calls `compose` at the end. What else it defines is said in
    `app.estimates.contract`.
    """

    def __init__(self, presets: Sequence[Preset], curves: Curves, controls: Controls, cells: Sequence[Any]) -> None:
        """cells: the read-outs below the transport, as `Numbers` takes them."""
        self._presets = {preset.name: preset for preset in presets}
        self.transport = Transport(
            paces=list(self.paces), single=bool(self.paces), sizing_mode="stretch_width", margin=0
        )
        self.transport.listener = self._on_command
        self._live = Live(self._on_poll, self.period, self.transport, self._start_again)
        self.transport.on_pace = lambda pace: self._live.walk(pace or None)
        self.preparation = self._live.preparation
        self._ticks, self.state, self.runs, self.later = 0, State(), 0, Later()
        self._forget_versions()
        self._items, self._lesson = [self._tile(preset, self.picture) for preset in presets], ""
        self._plain = [self._tile(preset, self.plain_picture) for preset in presets]
        self.tiles = Tiles(items=self._items, sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.headline = prose(theme.HEADLINE, margin=(0, 2, 8, 2))
        self.lesson = prose(theme.LESSON, styles={"flex": "1 1 24rem", "min-width": "0"})
        self.readouts = Numbers(items=list(cells), sizing_mode="stretch_width", margin=(12, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, theme.VERDICT_ROOM, margin=(10, 0, 0, 0))
        self.curves = curves
        self.losses, self.estimates = curves.losses, curves.estimates
        self.compare = ComparePanel(self.estimates)
        self.answers = ExactAnswers(changed=self.on_answers)
        self.guessing = Guessing(lambda: self.answers)
        self.controls = controls
        self.controls.listener = self._on_settings
        self.apply = ApplyButton(controls)
        self.trouble = complaint()

    def compose(
        self,
        first: str,
        side: Mapping[str, Sequence[Any]],
        picture: Any,
        below_numbers: Sequence[Any],
        cards: Sequence[Any],
    ) -> None:
        """Put the page together and open it with the preset `first`.

        side: headings of the side bar, and what stands below each.  picture: the card that moves beside the numbers.
        below_numbers: what follows the verdict in its card.  cards: below these two; they come once the picture moves.
        """
        self.editor.listener = self._on_settings
        self.sidebar: list[Any] = [side_bar(side, self.later)]
        lesson = pn.Column(
            self.lesson, how_it_works(), sizing_mode="stretch_width", margin=(10, 2, 0, 2), stylesheets=[theme.ROW]
        )
        words = (self.headline, self.tiles, lesson, self.preparation.view)
        top = pn.Column(*words, sizing_mode="stretch_width", margin=0)
        numbers = card(
            self.transport, self.readouts, self.verdict, self.apply.button, self.guessing.view, *below_numbers
        )
        self.main: list[Any] = [self.later.put(page(top, pair(picture, numbers)), cards)]
        self.on_answers()
        preset = self._presets[first]
        self._show_and_run(self.of_preset(preset), first, preset.lesson)

    # -- ways to a run ------------------------------------------------------------------------------------------------

    def run(self, config: PageConfig, preset: str = "", lesson: str = "") -> None:
        """Start a run of what the widgets show; the former run ends.

        preset: name of the tile that is marked.  lesson: the sentence below the tiles; empty: it stays.
        """
        self.config = config
        self.compare.begin(self.compared(config))
        self.state, self.runs = State(), self.runs + 1
        self._live.start(self.job(config), self.cursor())
        self._forget_versions()
        self.tiles.selected = preset
        self._lesson = lesson or self._lesson
        without_lesson(self.lesson, self._lesson, self.answers.visible, self.task)
        self.transport.begin(*config.lengths, self._live.playing, self.starting)
        self.controls.show_live({**config.resolved.sampler.to_dict(), "n_beta": config.complete.n_beta})
        self.reset(config)
        self._show_headline()
        self.compare.draw()
        self.takeaway.show(config)
        self._show_words(State())

    def restore(self, configuration: Any) -> str:
        """Show and run what a link or a file says, see `app.pages.base.PageView.restore`."""

        def take(config: PageConfig) -> None:
            self.controls.check(config.settings)
            self._show_and_run(config)

        return self._live.change(
            lambda: self.of_link(configuration), take, lambda why: tell(f"This configuration cannot be opened: {why}")
        )

    def change(self, wanted: Callable[[], PageConfig], lesson: str = texts.OWN_SETTINGS, show: bool = False) -> None:
        """Run what is wanted now, or when it is prepared; where it cannot be run say why, and the present run stays.

        show: whether the widgets do not show it yet.
        """

        def take(config: PageConfig) -> None:
            self._show_and_run(config, lesson=lesson, show=show)

        with pn.io.hold():
            try:
                self._live.change(wanted, take, self.complain)
            except ValueError as error:
                self._live.stay()
                self.complain(str(error))

    def of_side_bar(self) -> PageConfig:
        return from_side_bar(self.editor.problem, self.controls.values, self.problem_of)

    def job(self, config: PageConfig) -> Callable[[], Job]:
        return partial(LlcJob, config.resolved)

    def complain(self, message: str) -> None:
        """Say in the side bar what cannot be run; an empty message takes it back."""
        complain(self.trouble, message)

    def _show_and_run(
        self, config: PageConfig, preset: str = "", lesson: str = texts.OWN_SETTINGS, show: bool = True
    ) -> None:
        """ValueError, and nothing has changed, where the server has no room for the run."""
        self._live.reserve(config.memory, RUN)
        with pn.io.hold():
            if show:
                self.show(config)
            self.complain("")
            self.run(config, preset, lesson)

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        for panel in self.panels:
            panel.close()

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        self._live.change(
            lambda: self.of_preset(preset),
            lambda config: self._show_and_run(config, name, preset.lesson),
            self.complain,
        )

    def _on_settings(self) -> None:
        self.controls.forget()
        self.change(self.of_side_bar)

    def _on_command(self, command: str) -> None:
        if command == "more":
            self._go_on()
            return
        try:
            self._live.command(command)
        except ValueError as error:  # the room of the run that is over has been given to others
            self.complain(str(error))

    def _start_again(self) -> None:
        self._live.reserve(self.config.memory, RUN)
        self.run(self.config, self.tiles.selected)

    def _go_on(self) -> None:
        """Make the finished run twice as long."""
        with pn.io.hold():
            try:
                longer = go_on(self._live, self.config, self.controls, self.curves, self.transport)
            except ValueError as error:
                self.complain(str(error))
                return
            if longer is not None:
                self.config = longer
                self.compare.go_on(self.compared(longer))
                self.takeaway.show(longer)
                self.on_longer(longer)

    def on_answers(self) -> None:
        """The exact answers are shown or withheld now."""
        visible = self.answers.visible
        self.curves.show_answers(visible)
        self.tiles.items = self._items if visible else hidden_tiles(self._plain, self.task)
        without_lesson(self.lesson, self._lesson, visible, self.task)
        if self._streamed < 0 and getattr(self, "config", None) is not None:
            self.reset(self.config)  # the first ranges lie around the answers, or do not
        self._show_headline()
        if getattr(self, "config", None) is not None:
            self._show_words(self.state)  # at once: the page may not have been sent yet
        self._worded = -1

    # -- what the run does --------------------------------------------------------------------------------------------

    def _on_poll(self, state: State, rows: Any) -> None:
        self._ticks += 1
        if self.later.due(self._streamed >= 0):
            self.later.arrive()
        self.state = state
        over = state.status in OVER
        if rows is not None and state.version != self._streamed:
            self._live.cursor, self._streamed = rows.cursor, state.version
            self.stream(rows)
        # A run that walks rests between its steps, so that a pause is no new version of it.
        counted = state.version, state.status
        if counted != self._counted and (over or self._ticks % self.counter_ticks == 0):
            self._counted = counted
            self.transport.param.update(step=state.steps, caption=self.caption(state))
        self.poll(rows is not None)
        # The first number does not wait for the turn of the words.
        first = not self._told and math.isfinite(self.estimates.newest())
        if state.version != self._worded and (over or first or self._ticks % self.word_ticks == 0):
            self._worded = state.version
            self._show_words(state)
            self.curves.summarise(state.steps, self.config.lengths[0], over)

    def _show_words(self, state: State) -> None:
        self.state = state
        values = self.numbers(state)
        early = texts.so_far(state, self.estimates.newest()) if values.get("llc") == UNKNOWN else {}
        self._told = bool(early) or values.get("llc") != UNKNOWN
        told = {key: text for key, text in {**values, **early}.items() if key not in self.readouts.withheld}
        self.readouts.param.update(values=told, early=list(early))
        used = in_use(state)
        self.compare.update(values if self.answers.visible else texts.without_answers(values), used)
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
        self.show_estimate(state)

    def _show_headline(self) -> None:
        self.headline.object = f"<h1>{escape(self.question(self.answers.visible))}</h1>"

    def _forget_versions(self) -> None:
        """Nothing of the run's state has been shown yet."""
        self._streamed = self._counted = self._worded = -1
        self._told = False
        """Whether a first number of this run has been shown."""

    def _tile(self, preset: Preset, draw: Callable[[Any], str]) -> dict[str, str]:
        picture = drawn_once(self, draw, preset)
        return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}
