"""Page "Stationary bias": watch two samplers reach the distributions they really have. Beside them is the distribution that they should have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import panel as pn

from app.components.toggles import Toggles
from app.pages.base import PageInfo
from app.pages.page import Page
from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.controls.run import RunPanel
from app.pages.stationary_bias.editor import TargetEditor
from app.pages.stationary_bias.figures import Frame
from app.pages.stationary_bias.job import BiasJob
from app.pages.stationary_bias.panels.below import Below
from app.pages.stationary_bias.panels.exact.job import ExactBias
from app.pages.stationary_bias.panels.side.panel import Side
from app.pages.stationary_bias.pictures import tile
from app.pages.stationary_bias.presets import PRESETS
from app.pages.stationary_bias.scene import Scene, get_scene
from app.pages.stationary_bias.takeaway import BiasTakeaway
from app.pages.stationary_bias.texts import FIRST_SHOWN, OWN_SETTINGS, QUESTION, SHOWN, caption
from app.pages.stationary_bias.tour import TOUR
from app.runs.job import OVER, Job, State, Status
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import arranged, card, level_pair, toolbar
from app.style.legend import swatch

ANSWERS = ("prediction", "bias", "exact", "agreement", "mean_abs", "second")
"""Cells of the numbers that tell what the histogram will become."""
HIDDEN = ("predicted", "exact")
"""Lines that do."""
ONE_ROW = """
:host { display: flex !important; flex-flow: row wrap; gap: 6px 12px; align-items: center; }
.scroll-button { display: none; }
.run { flex: 1 1 340px !important; width: auto !important; min-width: 0; }
.drawn { flex: 0 1 auto !important; width: auto !important; min-width: 0; }
"""
"""The run and what is drawn beside each other where there is room: the pictures begin higher."""


class StationaryBias(Page):
    """One session's page, see `Page`."""

    memory_of = "This comparison"
    own_settings = OWN_SETTINGS
    can_reveal = True
    tile = staticmethod(tile)
    settings = BiasConfig
    scene_of = staticmethod(get_scene)
    config: BiasConfig
    scene: Scene

    def __init__(self) -> None:
        super().__init__(PRESETS)
        self._legend = [{**item, "swatch": swatch(item["key"])} for item in SHOWN]
        self.toggles = Toggles(
            items=self._legend,
            shown=FIRST_SHOWN,
            figures=" ".join(f"law_{side}" for side in SIDES),
            sizing_mode="stretch_width",
            margin=0,
        )
        self.toggles.listener = self._on_toggles
        self.transport.css_classes, self.toggles.css_classes = ["run"], ["drawn"]
        self.takeaway = BiasTakeaway(self.run)
        self._foot = pn.Column(sizing_mode="stretch_width", margin=0, styles={"gap": "12px"}, stylesheets=[theme.TALL])
        self._frame = Frame()
        self.sides = {side: Side(side, self._frame) for side in SIDES}
        self.answers = ExactAnswers(
            *(side.verdict for side in self.sides.values()),
            cells={side.numbers: [f"{name}_{key}" for key in ANSWERS] for name, side in self.sides.items()},
            changed=self.on_answers,
        )
        self.explanations = [view for side in self.sides.values() for view in (side.formula, side.about)]
        self._below: Below | None = None
        self.target = TargetEditor(self.config.target)
        self.run_panel = RunPanel()
        self.compose(
            [self.target, self.run_panel, *(side.panel for side in self.sides.values())],
            {"Target": [self.target.about], "Run": [self.run_panel]},
            card(arranged(ONE_ROW, self.transport, self.toggles), self.trouble),
            level_pair(*(side.view for side in self.sides.values())),
            toolbar(self.takeaway.menu),
            self._foot,
            choices=[self.target, *(side.panel.choice for side in self.sides.values())],
        )

    def close_panels(self) -> None:
        if self._below is not None:
            self._below.close()

    # -- one configuration, and a run of it ---------------------------------------------------------------------------

    def of_side_bar(self) -> BiasConfig:
        return BiasConfig(
            target=self.target.target,
            **{side: self.sides[side].panel.value for side in SIDES},
            **self.run_panel.values,
        )

    def job(self, config: BiasConfig, scene: Scene) -> Callable[[], Job]:
        return partial(BiasJob, config)

    def lengths(self, config: BiasConfig) -> tuple[int, int]:
        return config.steps, config.burn_in_steps

    def show(self, config: BiasConfig) -> None:
        self.target.show(config.target)
        self.run_panel.show(config)
        for side in SIDES:
            self.sides[side].panel.show(getattr(config, side))

    def reset(self, config: BiasConfig, scene: Scene) -> None:
        self.takeaway.show(config, scene)
        self.target.describe(scene.target)
        self._frame.reset(scene, self.answers.visible)
        for side in self.sides.values():
            side.reset(scene)
        if self._below is not None:
            self._below.reset(config)
            for name, exact in self._below.exact.points.items():
                self.sides[name].law.show_exact(exact.x, exact.density)

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_toggles(self) -> None:
        for side in self.sides.values():
            side.law.show_only(self.toggles.shown)

    def question(self) -> str:
        return QUESTION

    def show_answers(self, visible: bool) -> None:
        """Distributions, their formulas and what lies below are not even sent while they are to be guessed."""
        self.takeaway.withheld = not visible
        self._frame.reset(self.scene, visible)
        self.forget_drawn()  # the histograms may be higher
        for side in self.sides.values():
            side.show_answers(visible)
        self.toggles.items = [item for item in self._legend if visible or item["key"] not in HIDDEN]
        kept = [key for key in self.toggles.shown if key not in HIDDEN]
        self.toggles.shown = FIRST_SHOWN if visible else kept
        self._on_toggles()
        self._fill_foot()

    def _fill_foot(self) -> None:
        wanted = self._below is not None and self.answers.visible
        self._foot.objects = self._below.views if wanted and self._below is not None else []

    # -- what the run does --------------------------------------------------------------------------------------------

    @property
    def wants_rows(self) -> bool:
        return self._below is not None

    def stream(self, rows: np.ndarray) -> None:
        assert self._below is not None
        self._below.stream(rows)

    def caption(self, state: State) -> str:
        return caption(state)

    def draw(self, state: State) -> None:
        if state.snapshot is not None:
            for name, side in self.sides.items():
                side.law.show_counts(self.scene.bins, state.snapshot.side(name).counts)

    def poll(self, state: State, over: bool) -> None:
        # The histograms come first: what lies below, and the exact distributions, take processor time from them.
        seen = over or state.steps > self.config.burn_in_steps or state.status is Status.PAUSED
        if self._below is not None:
            self._below.exact.poll(seen)
            self._below.llc_errors.poll()
        elif seen:
            self._below = Below(self.config, self._on_exact)
            self._fill_foot()
            self.forget_drawn()

    def show_words(self, state: State) -> None:
        self.takeaway.update(state.snapshot, state.estimate)
        for side in self.sides.values():
            exact = None if self._below is None else self._below.exact.points.get(side.side)
            side.show_words(self.config, self.scene, state, exact)
        if self._below is not None and state.status in OVER:
            self._below.summarise()

    def _on_exact(self, side: str, exact: ExactBias) -> None:
        self.sides[side].law.show_exact(exact.x, exact.density)
        self.forget_words()


PAGE = PageInfo("Stationary bias", "stationary-bias", 20, StationaryBias, TOUR, main=True)
