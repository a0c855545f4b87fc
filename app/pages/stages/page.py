"""Page "Stages": a deep linear network learns value after value, and λ̂ climbs onto exact steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.controls.replay import Replay
from app.estimates.texts import why_unknown
from app.pages.base import PageInfo
from app.pages.page import Page
from app.pages.stages.config import REAL, StagesConfig
from app.pages.stages.editor import StagesEditor
from app.pages.stages.figures import Staircase
from app.pages.stages.job import StagesJob
from app.pages.stages.panels.noise import compare, noise_card
from app.pages.stages.panels.ranks import WIDTHS, Point, RanksPanel
from app.pages.stages.pictures import MATRICES, matrices, plain_tile, tile
from app.pages.stages.presets import PRESETS, StagesPreset
from app.pages.stages.scene import get_scene, moment
from app.pages.stages.takeaway import StagesTakeaway
from app.pages.stages.texts import (
    CELLS,
    EXACT_CELLS,
    OWN_SETTINGS,
    TASK,
    TIME_HELP,
    caption,
    cells,
    question,
    verdict,
    whereabouts,
)
from app.runs.job import Job, State
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, pair, plotted, prose, toolbar
from app.style.legend import legend
from llc_core import Stages as Found


class Stages(Page):
    """One session's page, see `Page`."""

    task = TASK
    memory_of = "This staircase"
    own_settings = OWN_SETTINGS
    can_reveal = True
    tile = staticmethod(tile)
    plain_tile = staticmethod(plain_tile)
    settings = StagesConfig
    scene_of = staticmethod(get_scene)
    config: StagesConfig
    scene: Found

    def __init__(self) -> None:
        super().__init__(PRESETS)
        self.editor = StagesEditor()
        self.takeaway = StagesTakeaway(self.run)
        self.staircase = Staircase()
        self.noise = noise_card()
        self.numbers = Numbers(items=CELLS, row=True, sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, margin=(8, 0, 0, 0))
        self.time = Replay("Time of the training", TIME_HELP, integer=False, live=True)
        """It follows the rest that was measured last."""
        self.time.listener = self._on_time
        self.staircase.on_tap = self.time.go
        self.whereabouts = prose("p { min-height: 2.9em; }", margin=(2, 0, 0, 0))
        self.matrices = prose(MATRICES, margin=(8, 0, 0, 0))
        self.ranks = RanksPanel(self._go)
        self._table = card(self.ranks.table, self.ranks.words)
        self.answers = ExactAnswers(self._table, cells={self.numbers: EXACT_CELLS}, changed=self.on_answers)
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
            pair(
                card(marks, *figures),
                card(
                    controls,
                    self.trouble,
                    self.time,
                    self.numbers,
                    self.whereabouts,
                    self.verdict,
                    self.matrices,
                ),
                leading=True,
            ),
            below=[self._table, self.noise],
            choices=self.editor.choices,
        )

    def opened(self, preset: StagesPreset) -> tuple[Any, Any]:
        """Nothing: the flow takes a second, and is prepared while the page is drawn."""
        return None, None

    # -- one configuration, and a run of it ---------------------------------------------------------------------------

    def of_side_bar(self) -> StagesConfig:
        return self.editor.value

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
        self.time.begin(_last(scene), edge=_last(scene))

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_time(self) -> None:
        if self.scene is not None:
            with pn.io.hold():
                self.show_words(self.state)

    def _go(self, point: Point) -> bool:
        """The marker goes to the rest that is this point, where the training of the page has one."""
        if self.scene is None or self.config.widths != WIDTHS or not point.a == point.b == point.product:
            return False
        rests = [stage.time for stage in self.scene if stage.rank == point.product and not stage.note]
        for time in rests:
            self.time.go(time)
        return bool(rests)

    def show_answers(self, visible: bool) -> None:
        self.takeaway.withheld = not visible
        self.staircase.show_answers(visible)

    def question(self) -> str:
        return question(self.config, self.scene, self.answers.visible)

    def poll(self, state: State, over: bool) -> None:
        self.ranks.poll()

    def close_panels(self) -> None:
        self.ranks.close()

    # -- what the run does --------------------------------------------------------------------------------------------

    def caption(self, state: State) -> str:
        return caption(state, self.scene)

    def draw(self, state: State) -> None:
        if state.snapshot is not None:
            self.staircase.show(state.snapshot)

    def show_words(self, state: State) -> None:
        seen = state.snapshot
        self.takeaway.update(seen)
        newest = 0 if seen is None else _latest(seen.estimates, seen.at)
        self.time.advance(min(self.scene[newest].time, _last(self.scene)), edge=_last(self.scene))
        now = moment(self.scene, self.time.value)
        place, stage = now.place, self.scene[now.place]
        self.staircase.look_at(now.time)
        self.whereabouts.object = f'<p class="small">{whereabouts(self.scene, now)}</p>'
        self.matrices.object = matrices(now.product, self.scene.products[-1])
        found = cells(self.config, stage, seen, now)
        shown = {key: text for key, text in found.items() if key not in self.numbers.withheld}
        measured = seen.estimates[place] if seen is not None and place < len(seen.estimates) else None
        self.numbers.param.update(values=shown, reasons=why_unknown(measured))
        tone, words = verdict(self.config, stage, seen, place, self.answers.visible)
        self.verdict.object = f'<p class="{tone}">{words}</p>'


def _latest(estimates: tuple[Any, ...], at: int) -> int:
    """The last rest that is done, so that its number can be read while the next one is measured."""
    return max(len(estimates) - 1, 0) if estimates else at


def _last(scene: Found) -> float:
    """The end of the slider: the entry beside it shows as many digits."""
    return float(f"{scene.times[-1]:.3g}")


PAGE = PageInfo("Stages", "stages", 35, Stages)
