"""Page "Stages": a deep linear network learns value after value, and λ̂ climbs onto exact steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.pages.base import PageInfo
from app.pages.page import Page
from app.pages.stages.config import REAL, StagesConfig
from app.pages.stages.editor import StagesEditor
from app.pages.stages.figures import Staircase
from app.pages.stages.job import StagesJob
from app.pages.stages.panels.noise import compare, noise_card
from app.pages.stages.pictures import plain_tile, tile
from app.pages.stages.presets import PRESETS, StagesPreset
from app.pages.stages.scene import get_scene
from app.pages.stages.takeaway import StagesTakeaway
from app.pages.stages.texts import (
    CELLS,
    EXACT_CELLS,
    OWN_SETTINGS,
    TABLE_STYLE,
    TABLE_WORDS,
    TASK,
    caption,
    cells,
    question,
    rank_table,
    verdict,
)
from app.runs.job import Job, State
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, one_in_list, plotted, prose, stacks, toolbar
from app.style.legend import legend
from llc_core import Stages as Found

LATEST = -1
LATEST_ONE = {"the latest rest": LATEST}
"""The rest that was measured last."""


class Stages(Page):
    """One session's page, see `Page`."""

    task = TASK
    memory_of = "This staircase"
    own_settings = OWN_SETTINGS
    can_reveal = True
    config: StagesConfig
    scene: Found

    def __init__(self) -> None:
        super().__init__(PRESETS)
        self.editor = StagesEditor()
        self.takeaway = StagesTakeaway(self.run)
        self.staircase = Staircase()
        self.noise = noise_card()
        self.numbers = Numbers(items=CELLS, sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, margin=(8, 0, 0, 0))
        self.rest = one_in_list("Numbers below are of", LATEST_ONE, LATEST, margin=(10, 0, 0, 0), width=220)
        self.rest.param.watch(self._on_rest, "value")
        self._table = prose(TABLE_STYLE, margin=(8, 0, 0, 0))
        self._table.object = f"<h2>Two layers of two units</h2><p>{TABLE_WORDS}</p>{rank_table()}"
        self._table_box = pn.Column(self._table, sizing_mode="stretch_width", margin=0)
        self.answers = ExactAnswers(self._table_box, cells={self.numbers: EXACT_CELLS}, changed=self.on_answers)
        self.transport.styles = {"flex": "1 1 340px", "min-width": "0"}
        controls = toolbar(self.transport, self.takeaway.menu)
        controls.margin = 0
        figures = [plotted(plot) for plot in self.staircase.plots.values()]
        marks = legend(
            "Loss, λ and singular values over the training", [("estimate", "λ̂ ± 2 s.e."), ("global", "exact λ")], ""
        )
        self.compose(
            [self.editor],
            {"Run": [self.editor]},
            stacks(
                [card(marks, *figures)],
                [card(controls, self.trouble, self.rest, self.numbers, self.verdict), card(self._table_box)],
                leading=True,
            ),
            below=[self.noise],
            choices=self.editor.choices,
        )

    def opened(self, preset: StagesPreset) -> tuple[Any, Any]:
        """Nothing: the flow takes a second, and is prepared while the page is drawn."""
        return None, None

    # -- one configuration, and a run of it ---------------------------------------------------------------------------

    def tile(self, preset: StagesPreset) -> dict[str, str]:
        return tile(preset)

    def plain_tile(self, preset: StagesPreset) -> dict[str, str]:
        return plain_tile(preset)

    def of_link(self, configuration: Mapping[str, Any]) -> StagesConfig:
        return StagesConfig.from_dict(configuration)

    def of_side_bar(self) -> StagesConfig:
        return self.editor.value

    def scene_of(self, config: StagesConfig) -> Found:
        return get_scene(config)

    def job(self, config: StagesConfig, scene: Found) -> Callable[[], Job]:
        return partial(StagesJob, config)

    def lengths(self, config: StagesConfig) -> tuple[int, int]:
        return config.steps * (config.rests if self.scene is None else len(self.scene)), 0

    def show(self, config: StagesConfig) -> None:
        self.editor.show(config)

    def reset(self, config: StagesConfig, scene: Found) -> None:
        self.takeaway.show(config, scene)
        self.staircase.reset(scene, minima_from=len(scene) - 1 if config.teacher == REAL else 0)
        compare(self.noise, scene, config.seed)
        options = {**LATEST_ONE, **{f"{stage.rank} learned": place for place, stage in enumerate(scene)}}
        self.rest.param.update(options=options, value=LATEST)

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_rest(self, event: object = None) -> None:
        if self.scene is not None:
            self.show_words(self.state)

    def show_answers(self, visible: bool) -> None:
        self.takeaway.withheld = not visible
        self.staircase.show_answers(visible)

    def question(self) -> str:
        return question(self.config, self.scene, self.answers.visible)

    # -- what the run does --------------------------------------------------------------------------------------------

    def caption(self, state: State) -> str:
        return caption(state, self.scene)

    def draw(self, state: State) -> None:
        if state.snapshot is not None:
            self.staircase.show(state.snapshot)

    def show_words(self, state: State) -> None:
        seen = state.snapshot
        self.takeaway.update(seen)
        place = (
            self.rest.value if self.rest.value != LATEST else 0 if seen is None else _latest(seen.estimates, seen.at)
        )
        place = min(place, len(self.scene) - 1)
        stage = self.scene[place]
        self.staircase.look_at(stage.time)
        found = cells(self.config, stage, seen, place)
        self.numbers.values = {key: text for key, text in found.items() if key not in self.numbers.withheld}
        tone, words = verdict(self.config, stage, seen, place, self.answers.visible)
        self.verdict.object = f'<p class="{tone}">{words}</p>'


def _latest(estimates: tuple[Any, ...], at: int) -> int:
    """The last rest that is done, so that its number can be read while the next one is measured."""
    return max(len(estimates) - 1, 0) if estimates else at


PAGE = PageInfo("Stages", "stages", 35, Stages)
