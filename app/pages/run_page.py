"""The base of every page that runs something else than an estimate of λ: presets, transport, and one way to start a run.

Pages that estimate λ have `app.estimates.page` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import panel as pn

from app.components.guess import Guess
from app.components.tiles import Tiles, drawn_once
from app.components.transport import Transport
from app.estimates.guessing import hidden_tiles, without_lesson
from app.pages.run_contract import Editor, Preset, RunContract
from app.runs.job import OVER, State
from app.session.errors import tell
from app.session.live import Live
from app.session.run_words import trouble
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.later import Later
from app.style.layout import complain, complaint, page, prose, side_bar


class RunPage(RunContract):
    """One visitor's page. Everything here runs in the session's own callbacks; the run lives in the manager.

    A preset, a link, a file and the side bar each give a configuration. `scene_of` makes of it what is there before a chain
    moves, now or in a thread where that takes long, and then the run starts. Widgets show the configuration, and are read only
    after the visitor has changed one of them.

    A page makes its own widgets after `super().__init__`, and calls `compose` at the end. What else it defines is said in
    `app.pages.run_contract`.
    """

    def __init__(self, presets: Sequence[Any], unit: str = "step") -> None:
        """unit: what the transport counts."""
        self._presets: dict[str, Preset] = {preset.name: preset for preset in presets}
        self._first: Preset = presets[0]
        self.transport = Transport(unit=unit, sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self._live = Live(self._on_poll, self.period, self.transport, self._start_again)
        self.preparation = self._live.preparation
        self.config = self._first.config
        self.scene = self.scene_of(self.config)
        self.state, self._ticks, self.runs, self.later = State(), 0, 0, Later()
        self.forget_drawn()
        self.forget_words()
        self._items, self._lesson = [drawn_once(self, self.tile, preset) for preset in presets], ""
        self._plain = [drawn_once(self, self.plain_tile, preset) for preset in presets]
        self.tiles = Tiles(items=self._items, sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.headline = prose(theme.HEADLINE, margin=(0, 2, 8, 2))
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.trouble = prose(theme.VERDICT, margin=(10, 0, 0, 0), visible=False)
        """What is to be said of the run itself, on pages without a verdict that says it."""
        self.fault = complaint()
        """What cannot be run, in the side bar."""
        self.answers = ExactAnswers(changed=self.on_answers)
        self.reveal = Guess(asks=False, visible=False, margin=(8, 2, 0, 2))
        """There once the answers have been withheld, and stays when they are shown."""
        self.reveal.listener = self._on_reveal

    def compose(
        self, editors: Sequence[Editor], side: Mapping[str, Sequence[Any]], *cards: Any, below: Sequence[Any] = ()
    ) -> None:
        """Put the page together and open it with its first preset.

        editors: what the visitor changes.  side: headings of the side bar, and what stands below each.  cards: below the lesson.
        below: further ones, that come once the run is drawn.
        """
        for editor in editors:
            editor.listener = self._on_settings
        self.sidebar: list[Any] = [side_bar(side, self.later)]
        words = [self.tiles, self.lesson, self.reveal, self.preparation.view]
        if self.question():
            words.insert(0, self.headline)
        top = pn.Column(*words, sizing_mode="stretch_width", margin=0)
        self.main: list[Any] = [self.later.put(page(top, *cards), below)]
        self._on_preset(self._first.name)

    # -- ways to a run ------------------------------------------------------------------------------------------------

    def run(self, config: Any, preset: str = "", lesson: str = "") -> str:
        """Run a configuration and show it in the widgets, see `app.pages.base.PageView.restore`.

        preset: name of the tile that is marked.  lesson: the sentence below the tiles.
        """
        return self._live.change(
            partial(self.scene_of, config),
            lambda scene: self._take(config, scene, preset, lesson or self.own_settings),
            lambda why: tell(f"This configuration cannot be opened: {why}"),
        )

    def restore(self, configuration: Mapping[str, Any]) -> str:
        """Show and run what a link says, see `app.pages.base.PageView.restore`."""
        return self.run(self.of_link(configuration))

    def complain(self, message: str) -> None:
        """Say in the side bar what cannot be run; an empty message takes it back."""
        complain(self.fault, message)

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        self.close_panels()

    def _take(self, config: Any, scene: Any, preset: str, lesson: str, show: bool = True) -> None:
        """ValueError, and nothing has changed, where the server has no room for the run."""
        self._live.reserve(self.memory(config, scene), self.memory_of)
        with pn.io.hold():
            self._start(config, scene, preset, lesson)
            self.complain("")
            if show:
                self.show(config)

    def _start(self, config: Any, scene: Any, preset: str, lesson: str = "") -> None:
        """Start a run, and clear what was drawn of the one before it. lesson: "" leaves the sentence as it is."""
        self.config, self.scene, self.state, self.runs = config, scene, State(), self.runs + 1
        self._live.start(self.job(config, scene), 0)
        self.forget_drawn()
        self.forget_words()
        self.tiles.selected = preset
        self._lesson = lesson or self._lesson
        without_lesson(self.lesson, self._lesson, self.answers.visible, self.task)
        self.reset(config, scene)
        self.transport.begin(*self.lengths(config), self._live.playing, self.caption(State()))
        self._show_words(State())

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        self.run(preset.config, name, preset.lesson)

    def _on_reveal(self, text: str) -> None:
        with pn.io.hold():
            self.answers.visible = not self.answers.visible

    def _on_settings(self) -> None:
        """What is set in the widgets, which show it already; a fault is told, and the run goes on as it was."""

        def take(scene: Any) -> None:
            self._take(config, scene, "", self.own_settings, self.settings_show_more)

        try:
            config = self.of_side_bar()
            if self.redraw(config):
                self._live.stay()
            else:
                self._live.change(partial(self.scene_of, config), take, self.complain)
        except ValueError as error:
            self._live.stay()
            self.complain(str(error))

    def _on_command(self, command: str) -> None:
        try:
            self._live.command(command)
        except ValueError as error:  # the room of the run that is over has been given to others
            self.complain(str(error))

    def _start_again(self) -> None:
        self._live.reserve(self.memory(self.config, self.scene), self.memory_of)
        self._start(self.config, self.scene, self.tiles.selected)

    def on_answers(self) -> None:
        """The exact answers are shown or withheld now."""
        visible = self.answers.visible
        without_lesson(self.lesson, self._lesson, visible, self.task)
        self.tiles.items = self._items if visible else hidden_tiles(self._plain, self.task)
        self.reveal.param.update(visible=self.can_reveal and (self.reveal.visible or not visible), revealed=visible)
        self.show_answers(visible)
        self._show_words(self.state)  # at once: the page may not have been sent yet
        self.forget_words()

    # -- what the run does --------------------------------------------------------------------------------------------

    def forget_drawn(self) -> None:
        """Draw again at the next poll."""
        self._drawn = -1

    def forget_words(self) -> None:
        """Write again at the next poll that writes."""
        self._worded = -1

    def _on_poll(self, state: State, rows: tuple[int, Any] | None) -> None:
        self._ticks += 1
        if self.later.due(self.state.steps > 0):
            self.complete()
            self.later.arrive()
        self.state, over = state, state.status in OVER
        if state.version != self._drawn:
            self._drawn = state.version
            if rows is not None and self.wants_rows:
                self._live.cursor = rows[0]
                self.stream(rows[1])
            self.draw(state)
        # A run that walks rests between its steps, so that a pause is no new version of it.
        self.transport.param.update(step=state.steps, caption=self.caption(state))
        self.poll(state, over)  # after the figures: what it starts takes processor time from them
        if state.version != self._worded and (over or self._ticks % self.word_ticks == 0):
            self._worded = state.version
            self._show_words(state)

    def _show_words(self, state: State) -> None:
        tone, words = trouble(state)
        self.trouble.param.update(object=f'<p class="{tone}" role="status">{words}</p>', visible=bool(words))
        self.show_words(state)
        self._show_question()

    def _show_question(self) -> None:
        if words := self.question():
            self.headline.object = f"<h1>{escape(words)}</h1>"
