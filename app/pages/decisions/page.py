"""Page "Decisions": a bandit played live, and digits that a net was never shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import panel as pn

from app.pages.base import PageInfo
from app.pages.decisions.config import DIGITS_GAME, MUSHROOMS_GAME, BanditSettings, DecisionsConfig, OutsideSettings
from app.pages.decisions.editor import BanditEditor, GameEditor, OutsideEditor
from app.pages.decisions.job.bandit import BanditJob
from app.pages.decisions.job.digits import DigitsJob
from app.pages.decisions.panels.outside import OutsidePanel
from app.pages.decisions.panels.play import PlayPanel
from app.pages.decisions.pictures import plain_tile, tile
from app.pages.decisions.presets import PRESETS
from app.pages.decisions.scene import Scene, get_scene
from app.pages.decisions.takeaway import DecisionsTakeaway
from app.pages.decisions.texts import DIGITS_TASK, OWN_SETTINGS, TASK, bandit_headline, digits_headline
from app.pages.decisions.tour import TOUR
from app.pages.page import Page
from app.runs.job import Job, State
from app.style import theme
from app.style.layout import card, one_of, toolbar

PACES = (1, 3, 10, 30, 0)
"""Rounds, or steps, a second; 0 is as fast as it can."""
GAMES = {"Eat or leave": MUSHROOMS_GAME, "In or out": DIGITS_GAME}


class Decisions(Page):
    """One session's page, see `Page`. A game's cards and fields are made when it is first chosen, and those that the first picture
    does not need are sent once it is there."""

    own_settings = OWN_SETTINGS
    can_reveal = True
    paces = PACES
    tile = staticmethod(tile)
    plain_tile = staticmethod(plain_tile)
    settings = DecisionsConfig
    scene_of = staticmethod(get_scene)
    config: DecisionsConfig
    scene: Scene

    def __init__(self) -> None:
        super().__init__(PRESETS, unit="round")
        self.transport.styles = {"flex": "1 1 340px", "min-width": "0"}
        self.takeaway = DecisionsTakeaway(self.run)
        self._panels: dict[str, PlayPanel | OutsidePanel] = {}
        self._editors: dict[str, GameEditor] = {}
        self._stage = pn.Column(sizing_mode="stretch_width", margin=0, stylesheets=[theme.TALL])
        self._desk = pn.Column(sizing_mode="stretch_width", margin=0)
        self._quiet = False
        self.game = one_of(GAMES, MUSHROOMS_GAME)
        self.game.margin = (0, 0, 10, 0)
        self.game.param.watch(self._on_game, "value")
        self.speed.styles = {"flex": "0 1 10.625rem", "min-width": "0"}
        controls = toolbar(self.transport, self.speed, self.takeaway.menu)
        controls.margin = 0
        self.compose([], {"Question": [self.game, self.fault, self._desk]}, card(controls, self.trouble), self._stage)

    @property
    def panel(self) -> PlayPanel | OutsidePanel:
        """The cards of the game that is played."""
        game = self.config.game
        if game not in self._panels:
            self._panels[game] = PlayPanel() if self.config.plays else OutsidePanel()
            self._panels[game].show_answers(self.answers.visible)
        return self._panels[game]

    @property
    def editor(self) -> GameEditor:
        """The fields of the game that is played."""
        game = self.config.game
        if game not in self._editors:
            self._editors[game] = BanditEditor() if self.config.plays else OutsideEditor()
            self._editors[game].listener = self._on_settings
        return self._editors[game]

    # -- one configuration, and a run of it ---------------------------------------------------------------------------

    @property
    def task(self) -> str:  # type: ignore[override]
        """What stands in place of a lesson while the answers are hidden."""
        return TASK if self.config.plays else DIGITS_TASK

    def of_side_bar(self) -> DecisionsConfig:
        settings = self.editor.settings
        seed = settings.pop("seed")
        if self.config.plays:
            return self.config.replace(bandit=BanditSettings(**settings), seed=seed)
        return self.config.replace(outside=OutsideSettings(**settings), seed=seed)

    def job(self, config: DecisionsConfig, scene: Scene) -> Callable[[], Job]:
        return partial(BanditJob if config.plays else DigitsJob, scene)

    def lengths(self, config: DecisionsConfig) -> tuple[int, int]:
        return config.total, 0 if config.plays else config.outside.burn_in

    def show(self, config: DecisionsConfig) -> None:
        self._quiet = True
        try:
            self.game.value = config.game
        finally:
            self._quiet = False
        if self.later.arrived:
            _put(self._desk, self.editor)
        own = config.to_dict()["bandit" if config.plays else "outside"]
        self.editor.show({**own, "seed": config.seed})

    def reset(self, config: DecisionsConfig, scene: Scene) -> None:
        self.takeaway.show(config)
        self.panel.reset(config, scene)
        if self.later.arrived:
            self.panel.complete()
        _put(self._stage, self.panel.view)
        unit = self.speed.unit = "round" if config.plays else "step"
        self.transport.param.update(unit=unit, single=config.plays)

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_game(self, event: object = None) -> None:
        """The first preset of the game."""
        if not self._quiet:
            self.on_preset(next(each.name for each in PRESETS if each.game == self.game.value))

    def show_answers(self, visible: bool) -> None:
        self.takeaway.withheld = not visible
        for each in self._panels.values():
            each.show_answers(visible)

    def question(self) -> str:
        seen, visible, panel = self.state.snapshot, self.answers.visible, self.panel
        if isinstance(panel, OutsidePanel):
            return digits_headline(seen, panel.one, visible)
        return bandit_headline(self.config, seen, visible)

    # -- what the run does --------------------------------------------------------------------------------------------

    def stream(self, rows: np.ndarray) -> None:
        self.panel.stream(rows)
        self.takeaway.stream(rows)

    def draw(self, state: State) -> None:
        if state.snapshot is not None:
            self.panel.draw(state.snapshot)

    def complete(self) -> None:
        self.panel.complete()
        _put(self._desk, self.editor)

    def show_words(self, state: State) -> None:
        self.panel.draw_words(self.config, state.snapshot)


def _put(place: pn.Column, what: Any) -> None:
    if list(place.objects) != [what]:
        place.objects = [what]


PAGE = PageInfo("Decisions", "decisions", 70, Decisions, TOUR)
