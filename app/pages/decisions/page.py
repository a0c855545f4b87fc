"""Page "Decisions": a bandit played live, and digits that a net was never shown. Long, since it is one class: what a visitor does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

import numpy as np
import panel as pn

from app.components.tiles import Tiles
from app.components.transport import Transport
from app.estimates.guessing import hidden_tiles, without_lesson
from app.pages.base import PageInfo
from app.pages.decisions.config import DIGITS_GAME, MUSHROOMS_GAME, BanditSettings, DecisionsConfig, OutsideSettings
from app.pages.decisions.editor import BanditEditor, Editor, OutsideEditor
from app.pages.decisions.job.bandit import BanditJob
from app.pages.decisions.job.digits import DigitsJob
from app.pages.decisions.panels.outside import OutsidePanel
from app.pages.decisions.panels.play import PlayPanel
from app.pages.decisions.pictures import tile
from app.pages.decisions.presets import PRESETS
from app.pages.decisions.scene import Scene, get_scene
from app.pages.decisions.takeaway import DecisionsTakeaway
from app.pages.decisions.texts import OWN_SETTINGS, bandit_headline, digits_headline, task
from app.runs.job import OVER, Job, State
from app.session.errors import tell
from app.session.live import Live
from app.session.preparation import Preparation
from app.session.run_words import caption, trouble
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, complaint, one_of, page, prose, side_bar, toolbar

POLL_MILLISECONDS = 100
WORD_TICKS = 4
"""Figures and counter are renewed at every poll, words and numbers at every fourth."""
PACES = (1, 3, 10, 30, 0)
"""Rounds, or steps, a second; 0 is as fast as it can."""
RUN = "This run"
"""What needs memory, in the sentence that refuses it."""
GAMES = {"Eat or leave": MUSHROOMS_GAME, "In or out": DIGITS_GAME}


class Decisions:
    """One session's page. Everything here runs in the session's own callbacks; the run lives in the manager."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in PRESETS}
        self._live = Live(self._show, POLL_MILLISECONDS)
        self._config = PRESETS[0].config
        self._scene = get_scene(self._config)
        self._state, self._ticks = State(), 0
        self._drawn = self._worded = -1

        self._items, self._lesson = [tile(preset) for preset in PRESETS], ""
        self.tiles = Tiles(items=self._items, sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.headline = prose(theme.HEADLINE, margin=(0, 2, 8, 2))
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.preparation = Preparation()
        self.transport = Transport(unit="round", paces=list(PACES), single=True, sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.transport.on_pace = lambda pace: self._live.walk(pace or None)
        self.takeaway = DecisionsTakeaway(self.run)
        self.trouble = prose(theme.VERDICT, margin=(10, 0, 0, 0), visible=False)
        # A game's cards and fields are made when it is first chosen: the page is there sooner.
        self._panels: dict[str, PlayPanel | OutsidePanel] = {}
        self._editors: dict[str, BanditEditor | OutsideEditor] = {}
        self._stage = pn.Column(sizing_mode="stretch_width", margin=0, stylesheets=[theme.TALL])
        self._desk = pn.Column(sizing_mode="stretch_width", margin=0)
        self.answers = ExactAnswers(changed=self._on_answers)
        self.game = one_of(GAMES, MUSHROOMS_GAME)
        self.game.margin = (0, 0, 10, 0)
        self._quiet = False
        self.game.param.watch(self._on_game, "value")
        self.fault = complaint()

        self.sidebar: list[Any] = [side_bar({"Question": [self.game, self.fault, self._desk]})]
        self.transport.styles = {"flex": "1 1 340px", "min-width": "0"}
        controls = toolbar(self.transport, self.takeaway.menu)
        controls.margin = 0
        words = (self.headline, self.tiles, self.lesson, self.preparation.view)
        self.main: list[Any] = [
            page(
                pn.Column(*words, sizing_mode="stretch_width", margin=0),
                card(controls, self.trouble),
                self._stage,
            )
        ]
        self._on_preset(PRESETS[0].name)

    @property
    def parts(self) -> dict[str, list[Any]]:
        return {"presets": [self.tiles], "texts": [self.headline, self.lesson], "answers": [self.answers]}

    @property
    def panel(self) -> PlayPanel | OutsidePanel:
        """The cards of the game that is played."""
        game = self._config.game
        if game not in self._panels:
            self._panels[game] = PlayPanel() if self._config.plays else OutsidePanel()
            self._panels[game].show_answers(self.answers.visible)
        return self._panels[game]

    @property
    def editor(self) -> BanditEditor | OutsideEditor:
        """The fields of the game that is played."""
        game = self._config.game
        if game not in self._editors:
            made = BanditEditor() if self._config.plays else OutsideEditor()
            made.listener = self._on_settings
            self._editors[game] = made
        return self._editors[game]

    def configuration(self) -> dict[str, Any]:
        return self._config.to_dict()

    def restore(self, configuration: Mapping[str, Any]) -> str:
        return self.run(DecisionsConfig.from_dict(configuration))

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        self.preparation.close()

    # -- one configuration, and a run of it -----------------------------------------------------------------------------

    def run(self, config: DecisionsConfig, preset: str = "", lesson: str = OWN_SETTINGS) -> str:
        """Run a configuration and show it in the widgets, see `app.pages.base.PageView.restore`."""

        def take(scene: Scene) -> None:
            self._live.reserve(config.memory, RUN)
            with pn.io.hold():
                self._start(scene, preset, lesson)
                self._complain("")
                self._show_settings()

        return self.preparation.ask(
            partial(get_scene, config), take, lambda why: tell(f"This configuration cannot be opened: {why}")
        )

    def _start(self, scene: Scene, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run, and clear what was drawn of the one before it. lesson: "" leaves the sentence as it is."""
        self._config, self._scene, self._state = scene.config, scene, State()
        self._live.start(job_of(scene), 0, playing)
        self._drawn = self._worded = -1
        self.tiles.selected = preset
        self._lesson = lesson or self._lesson
        without_lesson(self.lesson, self._lesson, self.answers.visible, task(self._config))
        self.takeaway.show(self._config)
        self.panel.reset(self._config, scene)
        self._put(self._stage, self.panel.view)
        own = self._config.outside
        self.transport.param.update(unit="round" if self._config.plays else "step", single=self._config.plays)
        self.transport.begin(self._config.total, 0 if self._config.plays else own.burn_in, playing, caption(State()))
        self._show_words(State())

    def _show_settings(self) -> None:
        """The widgets show the configuration."""
        config, self._quiet = self._config, True
        try:
            self.game.value = config.game
        finally:
            self._quiet = False
        self._put(self._desk, self.editor)
        shown = config.to_dict()["bandit" if config.plays else "outside"] | {"seed": config.seed}
        self.editor.show_settings(shown)

    @staticmethod
    def _put(place: pn.Column, what: Any) -> None:
        if list(place.objects) != [what]:
            place.objects = [what]

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        self.run(preset.config, name, preset.lesson)

    def _on_game(self, event: object = None) -> None:
        """The first preset of the game."""
        if not self._quiet:
            self._on_preset(next(each.name for each in PRESETS if each.game == self.game.value))

    def _on_settings(self) -> None:
        """What is set in the widgets, which show it already; a fault is told, and the run goes on as it was."""
        try:
            config = with_settings(self._config, self.editor)
            self.preparation.ask(partial(get_scene, config), self._start_own, self._complain)
        except ValueError as error:
            self._complain(str(error))

    def _start_own(self, scene: Scene) -> None:
        self._live.reserve(scene.config.memory, RUN)
        with pn.io.hold():
            self._start(scene, "", OWN_SETTINGS)
            self._complain("")

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
        self._start(self._scene, self.tiles.selected, playing=playing)

    def _on_answers(self) -> None:
        """The truth is shown or withheld now."""
        visible = self.answers.visible
        without_lesson(self.lesson, self._lesson, visible, task(self._config))
        self.tiles.items = self._items if visible else hidden_tiles(self._items, task(self._config))
        self.takeaway.withheld = not visible
        for each in self._panels.values():
            each.show_answers(visible)
        self._show_words(self._state)

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: tuple[int, np.ndarray] | None) -> None:
        self._ticks += 1
        over = state.status in OVER
        if state.version != self._drawn:
            self._drawn = state.version
            self._draw(state, rows, over)
        if state.version != self._worded and (over or self._live.pace.walking or self._ticks % WORD_TICKS == 0):
            self._worded = state.version
            self._show_words(state)
        self.preparation.poll()  # last: it may start another run, and this state is not of that one

    def _draw(self, state: State, rows: tuple[int, np.ndarray] | None, over: bool) -> None:
        panel = self.panel
        if rows is not None:
            self._live.cursor = rows[0]
            curve = panel.regret if isinstance(panel, PlayPanel) else panel.auroc
            curve.stream(rows[1])
            self.takeaway.stream(rows[1])
        if state.snapshot is not None:
            panel.draw(state.snapshot)
        self.transport.param.update(step=state.steps, caption=caption(state), playing=self._live.playing and not over)

    def _show_words(self, state: State) -> None:
        self._state = state
        tone, words = trouble(state)
        self.trouble.param.update(object=f'<p class="{tone}" role="status">{words}</p>', visible=bool(words))
        panel, seen, visible = self.panel, state.snapshot, self.answers.visible
        if isinstance(panel, PlayPanel):
            panel.draw_words(self._config, seen)
            said = bandit_headline(self._config, seen, visible)
        else:
            panel.draw_words(seen)
            said = digits_headline(self._config, seen, panel.one, visible)
        self.headline.object = f"<h1>{escape(said)}</h1>"


def job_of(scene: Scene) -> Callable[[], Job]:
    """What makes the job, in a thread of the manager."""
    return partial(BanditJob if scene.config.plays else DigitsJob, scene)


def with_settings(config: DecisionsConfig, editor: Editor) -> DecisionsConfig:
    """The configuration with what is set in the fields; ValueError where that cannot be run."""
    assert isinstance(editor, BanditEditor | OutsideEditor)
    settings = editor.settings
    seed = settings.pop("seed")
    if isinstance(editor, BanditEditor):
        return config.replace(bandit=BanditSettings(**settings), seed=seed)
    return config.replace(outside=OutsideSettings(**settings), seed=seed)


PAGE = PageInfo("Decisions", "decisions", 37, Decisions)
