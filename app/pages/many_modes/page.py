"""Page "Many modes": watch two ways to find 25 modes, at equal gradients. Long, since it is one class: what a visitor does.

Beside them are the exact masses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import numpy as np
import panel as pn

from app.components.tiles import Tiles
from app.components.transport import Transport
from app.estimates.guessing import hidden_tiles, without_lesson
from app.pages.base import PageInfo
from app.pages.many_modes.config import SIDES, ModesConfig
from app.pages.many_modes.editor import RunEditor, SideEditor
from app.pages.many_modes.job import ModesJob
from app.pages.many_modes.panels.basins import BasinPanel
from app.pages.many_modes.panels.curves import KlPanel
from app.pages.many_modes.panels.inside import Inside
from app.pages.many_modes.panels.side import Side
from app.pages.many_modes.pictures import tile
from app.pages.many_modes.presets import PRESETS
from app.pages.many_modes.scene import Scene, get_scene
from app.pages.many_modes.takeaway import ModesTakeaway
from app.pages.many_modes.texts import ANSWERS, OWN_SETTINGS, PICTURES, headline
from app.runs.job import OVER, State
from app.session.errors import tell
from app.session.live import Live
from app.session.preparation import Preparation
from app.session.run_words import caption, trouble
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, complaint, one_of, page, pair, prose, side_bar, toolbar

TASK = "Which side comes nearer to the exact masses at equal gradients? Decide before the run ends."
"""What stands in place of a lesson while the answers are hidden."""
POLL_MILLISECONDS = 100
WORD_TICKS = 4
"""Figures and counter are renewed at every poll, words and numbers at every fourth."""
RUN = "This comparison"
"""What needs memory, in the sentence that refuses it."""


class ManyModes:
    """One session's page. Everything here runs in the session's own callbacks; the run lives in the manager."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in PRESETS}
        self._live = Live(self._show, POLL_MILLISECONDS)
        self._config = PRESETS[0].config
        self._scene = get_scene(self._config)
        self._ticks = 0
        self._drawn = self._worded = -1

        self._items, self._lesson = [tile(preset) for preset in PRESETS], ""
        self.tiles = Tiles(items=self._items, sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.headline = prose(theme.HEADLINE, margin=(0, 2, 8, 2))
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.preparation = Preparation()
        self.transport = Transport(unit="gradient", sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.shown = one_of({"Estimate ÷ exact": "ratio", "Visited density": "density"}, "ratio")
        self.shown.param.watch(self._on_shown, "value")
        self.takeaway = ModesTakeaway(self.run)
        self.trouble = prose(theme.VERDICT, margin=(10, 0, 0, 0), visible=False)
        self.sides = {side: Side(side) for side in SIDES}
        self.curves, self.basins = KlPanel(), BasinPanel()
        self.insides = {side: Inside(side) for side in SIDES}
        self.answers = ExactAnswers(
            self.shown,
            self.curves.view,
            cells={side.numbers: [f"{name}_{key}" for key in ANSWERS] for name, side in self.sides.items()},
            changed=self._on_answers,
        )
        self.editors = {side: SideEditor(side) for side in SIDES}
        self.run_editor = RunEditor()
        self.fault = complaint()
        for control in (self.run_editor, *self.editors.values()):
            control.listener = self._on_settings

        self.sidebar: list[Any] = [
            side_bar(
                {
                    "Both sides": [self.fault, self.run_editor],
                    "Left": [self.editors["left"]],
                    "Right": [self.editors["right"]],
                }
            )
        ]
        self.transport.styles = {"flex": "1 1 340px", "min-width": "0"}
        controls = toolbar(self.transport, self.takeaway.menu)
        controls.margin = 0
        note = prose(styles={"flex": "1 1 420px"})
        note.object = f'<p class="small muted">{escape(PICTURES)}</p>'
        words = (self.headline, self.tiles, self.lesson, self.preparation.view)
        self.main: list[Any] = [
            page(
                pn.Column(*words, sizing_mode="stretch_width", margin=0),
                card(controls, self.trouble),
                pair(*(side.view for side in self.sides.values())),
                toolbar(self.shown, note),
                self.basins.view,
                self.curves.view,
                pair(*(inside.view for inside in self.insides.values())),
            )
        ]
        self._on_preset(PRESETS[0].name)

    @property
    def parts(self) -> dict[str, list[Any]]:
        return {"presets": [self.tiles], "texts": [self.headline, self.lesson], "answers": [self.answers]}

    def configuration(self) -> dict[str, Any]:
        return self._config.to_dict()

    def restore(self, configuration: Mapping[str, Any]) -> str:
        return self.run(ModesConfig.from_dict(configuration))

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        self.preparation.close()

    # -- one configuration, and a run of it -----------------------------------------------------------------------------

    def run(self, config: ModesConfig, preset: str = "", lesson: str = OWN_SETTINGS) -> str:
        """Run a configuration and show it in the widgets, see `app.pages.base.PageView.restore`."""

        def take(scene: Scene) -> None:
            self._live.reserve(config.memory, RUN)
            with pn.io.hold():
                self._start(config, scene, preset, lesson)
                self._complain("")
                self.run_editor.show(config)
                for side in SIDES:
                    self.editors[side].show(getattr(config, side))

        return self.preparation.ask(
            partial(get_scene, config), take, lambda why: tell(f"This configuration cannot be opened: {why}")
        )

    def _start(self, config: ModesConfig, scene: Scene, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run, and clear what was drawn of the one before it. lesson: "" leaves the sentence as it is."""
        self._config, self._scene = config, scene
        self._live.start(partial(ModesJob, config), 0, playing)
        self._drawn = self._worded = -1
        self.tiles.selected = preset
        self._lesson = lesson or self._lesson
        without_lesson(self.lesson, self._lesson, self.answers.visible, TASK)
        self.takeaway.show(config, scene)
        for side in self.sides.values():
            side.reset(config, scene)
        for inside in self.insides.values():
            inside.reset(config)
        self.basins.reset(config, scene)
        self.curves.reset(config)
        self.transport.begin(config.gradients, 0, playing, caption(State()))
        self._show_words(State())

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        self.run(preset.config, name, preset.lesson)

    def _on_settings(self) -> None:
        """What is set in the widgets, which show it already; a fault is told, and the run goes on as it was."""
        try:
            config = ModesConfig(**{side: self.editors[side].value for side in SIDES}, **self.run_editor.values)
            self.preparation.ask(partial(get_scene, config), partial(self._start_own, config), self._complain)
        except ValueError as error:
            self._complain(str(error))

    def _start_own(self, config: ModesConfig, scene: Scene) -> None:
        self._live.reserve(config.memory, RUN)
        with pn.io.hold():
            self._start(config, scene, "", OWN_SETTINGS)
            self._complain("")
            for side in SIDES:
                self.editors[side].show(getattr(config, side))

    def _complain(self, message: str) -> None:
        """Say in the side bar what cannot be run; an empty message takes it back."""
        self.fault.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))

    def _on_command(self, command: str) -> None:
        try:
            self.transport.playing = self._live.command(command, self.transport.stride, self._start_again)
        except ValueError as error:  # the room of the run that is over has been given to others
            self._complain(str(error))

    def _start_again(self, playing: bool) -> None:
        self._live.reserve(self._config.memory, RUN)
        self._start(self._config, self._scene, self.tiles.selected, playing=playing)

    def _on_shown(self, event: object = None) -> None:
        for side in self.sides.values():
            side.cells.show_only(self.shown.value if self.answers.visible else "density")

    def _on_answers(self) -> None:
        """The exact masses are shown or withheld now: cells, KL, and the sentence."""
        self._on_shown()
        without_lesson(self.lesson, self._lesson, self.answers.visible, TASK)
        self.tiles.items = self._items if self.answers.visible else hidden_tiles(self._items, TASK)
        for inside in self.insides.values():
            inside.show_answers(self.answers.visible)
        self.basins.show_answers(self.answers.visible)
        self._worded = -1
        self._show_headline(None)

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: tuple[int, np.ndarray] | None) -> None:
        self._ticks += 1
        over = state.status in OVER
        if state.version != self._drawn:
            self._drawn = state.version
            self._draw(state, rows, over)
        if state.version != self._worded and (over or self._ticks % WORD_TICKS == 0):
            self._worded = state.version
            self._show_words(state)
        self.preparation.poll()  # last: it may start another run, and this state is not of that one

    def _draw(self, state: State, rows: tuple[int, np.ndarray] | None, over: bool) -> None:
        if rows is not None:
            self._live.cursor = rows[0]
            self.curves.stream(rows[1])
            self.takeaway.stream(rows[1])
        if state.snapshot is not None:
            for name, side in self.sides.items():
                side.draw(self._scene, state.snapshot.side(name))
        self.transport.param.update(step=state.steps, caption=caption(state), playing=self._live.playing and not over)

    def _show_words(self, state: State) -> None:
        self.takeaway.update(state.snapshot)
        tone, words = trouble(state)
        self.trouble.param.update(object=f'<p class="{tone}" role="status">{words}</p>', visible=bool(words))
        for name, side in self.sides.items():
            side.show_words(self._config, None if state.snapshot is None else state.snapshot.side(name))
            if state.snapshot is not None:
                self.insides[name].draw(self._config, self._scene, state.snapshot.side(name))
        self.basins.draw(self._config, state.snapshot)
        self._show_headline(state)

    def _show_headline(self, state: State | None) -> None:
        seen = None if state is None else state.snapshot
        self.headline.object = f"<h1>{escape(headline(self._config, seen, self.answers.visible))}</h1>"


PAGE = PageInfo("Many modes", "many-modes", 25, ManyModes)
