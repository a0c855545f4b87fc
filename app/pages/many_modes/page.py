"""Page "Many modes": watch two ways to find 25 modes, at equal gradients. Beside them are the exact masses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import numpy as np

from app.pages.base import PageInfo
from app.pages.many_modes.config import SIDES, ModesConfig
from app.pages.many_modes.editor import RunEditor, SideEditor
from app.pages.many_modes.job import ModesJob
from app.pages.many_modes.panels.basins import BasinPanel
from app.pages.many_modes.panels.curves import KlPanel
from app.pages.many_modes.panels.inside import Inside
from app.pages.many_modes.panels.side import Side
from app.pages.many_modes.pictures import plain_tile, tile
from app.pages.many_modes.presets import PRESETS
from app.pages.many_modes.scene import Scene, get_scene
from app.pages.many_modes.takeaway import ModesTakeaway
from app.pages.many_modes.texts import ANSWERS, OWN_SETTINGS, PICTURES, headline
from app.pages.many_modes.tour import TOUR
from app.pages.page import Page
from app.runs.job import Job, State
from app.sharing.exact_answers import ExactAnswers
from app.style.layout import card, one_of, pair, prose, toolbar


class ManyModes(Page):
    """One session's page, see `Page`."""

    task = "Which side comes nearer to the exact masses at equal gradients? Decide before the run ends."
    memory_of = "This comparison"
    own_settings = OWN_SETTINGS
    can_reveal = True
    settings_show_more = True  # a ladder of one's own becomes a geometric one
    tile = staticmethod(tile)
    plain_tile = staticmethod(plain_tile)
    settings = ModesConfig
    scene_of = staticmethod(get_scene)
    config: ModesConfig
    scene: Scene

    def __init__(self) -> None:
        super().__init__(PRESETS, unit="gradient")
        self.shown = one_of({"Estimate ÷ exact": "ratio", "Visited density": "density"}, "ratio")
        self.shown.param.watch(self._on_shown, "value")
        self.takeaway = ModesTakeaway(self.run)
        self.sides = {side: Side(side) for side in SIDES}
        self.curves, self.basins = KlPanel(), BasinPanel()
        self.insides = {side: Inside(side) for side in SIDES}
        self.answers = ExactAnswers(
            self.shown,
            self.curves.view,
            cells={side.numbers: [f"{name}_{key}" for key in ANSWERS] for name, side in self.sides.items()},
            changed=self.on_answers,
        )
        self.editors = {side: SideEditor(side) for side in SIDES}
        self.run_editor = RunEditor()
        self.transport.styles = {"flex": "1 1 340px", "min-width": "0"}
        controls = toolbar(self.transport, self.takeaway.menu)
        controls.margin = 0
        note = prose(styles={"flex": "1 1 420px"})
        note.object = f'<p class="small muted">{escape(PICTURES)}</p>'
        self.compose(
            [self.run_editor, *self.editors.values()],
            {
                "Both sides": [self.fault, self.run_editor],
                "Left": [self.editors["left"]],
                "Right": [self.editors["right"]],
            },
            card(controls, self.trouble),
            pair(*(side.view for side in self.sides.values())),
            below=[
                toolbar(self.shown, note),
                self.basins.view,
                self.curves.view,
                pair(*(inside.view for inside in self.insides.values())),
            ],
        )

    # -- one configuration, and a run of it ---------------------------------------------------------------------------

    def of_side_bar(self) -> ModesConfig:
        return ModesConfig(**{side: self.editors[side].value for side in SIDES}, **self.run_editor.values)

    def job(self, config: ModesConfig, scene: Scene) -> Callable[[], Job]:
        return partial(ModesJob, config)

    def lengths(self, config: ModesConfig) -> tuple[int, int]:
        return config.gradients, 0

    def show(self, config: ModesConfig) -> None:
        if self.later.arrived:  # as the editors have; until then `complete` shows them what runs
            self._show_editors(config)

    def _show_editors(self, config: ModesConfig) -> None:
        self.run_editor.show(config)
        for side in SIDES:
            self.editors[side].show(getattr(config, side))

    def reset(self, config: ModesConfig, scene: Scene) -> None:
        self.takeaway.show(config, scene)
        for side in self.sides.values():
            side.reset(config, scene)
        if self.later.arrived:
            self._reset_below()

    def complete(self) -> None:
        self._reset_below()
        self._show_editors(self.config)

    def _reset_below(self) -> None:
        self.basins.reset(self.config, self.scene)
        self.curves.reset(self.config)
        for inside in self.insides.values():
            inside.reset(self.config)

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_shown(self, event: object = None) -> None:
        for side in self.sides.values():
            side.cells.show_only(self.shown.value if self.answers.visible else "density")

    def show_answers(self, visible: bool) -> None:
        """Cells, KL and the exact θ are not even sent while they are hidden; the sentence above asks for itself."""
        self.takeaway.withheld = not visible
        for side in self.sides.values():
            side.cells.shows_ratio = visible
        self._on_shown()
        for inside in self.insides.values():
            inside.show_answers(visible)
        self.basins.show_answers(visible)
        self.draw(self.state)

    def question(self) -> str:
        return headline(self.config, self.state.snapshot, self.answers.visible)

    # -- what the run does --------------------------------------------------------------------------------------------

    @property
    def wants_rows(self) -> bool:
        return self.later.arrived  # before, there is no figure of them

    def stream(self, rows: np.ndarray) -> None:
        self.curves.stream(rows)
        self.takeaway.stream(rows)

    def draw(self, state: State) -> None:
        if state.snapshot is not None:
            for name, side in self.sides.items():
                side.draw(self.scene, state.snapshot.side(name))

    def show_words(self, state: State) -> None:
        self.takeaway.update(state.snapshot)
        for name, side in self.sides.items():
            side.show_words(self.config, None if state.snapshot is None else state.snapshot.side(name))
            if state.snapshot is not None:
                self.insides[name].draw(self.config, self.scene, state.snapshot.side(name))
        self.basins.draw(self.config, state.snapshot)


PAGE = PageInfo("Many modes", "many-modes", 50, ManyModes, TOUR)
