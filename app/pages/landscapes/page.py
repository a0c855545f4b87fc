"""Page "Landscapes": chains on the plane, where the whole landscape is seen and every answer is exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.controls.run_controls import Controls
from app.estimates.curves import Curves
from app.estimates.guessing import Truth
from app.estimates.method import MethodCard
from app.estimates.scale import draw_scale
from app.pages.base import PageInfo
from app.pages.estimate_page import EstimatePage
from app.pages.landscapes.config import LOOK, get_landscape
from app.pages.landscapes.editor import LandscapeEditor
from app.pages.landscapes.job import LandscapeJob, TrailCursor, TrailRows
from app.pages.landscapes.panels.monomials import MonomialsPanel
from app.pages.landscapes.panels.one_step import OneStepPanel
from app.pages.landscapes.panels.plane import PlanePanel
from app.pages.landscapes.panels.points import PointsPanel
from app.pages.landscapes.panels.volume import VolumePanel
from app.pages.landscapes.pictures import draw_landscape
from app.pages.landscapes.presets import FIRST, PRESETS, LandscapePreset
from app.pages.landscapes.scene import LandscapeConfig, landscape_of, link_config, preset_config, problem_of
from app.pages.landscapes.takeaway import LandscapeTakeaway
from app.pages.landscapes.texts import DETAIL_CELLS, EXACT_CELLS, MAIN_CELLS, begun, question, readout_values, verdict
from app.pages.landscapes.tour import TOUR
from app.pages.tours import is_over
from app.runs.job import State
from app.sharing.exact_answers import ExactAnswers
from app.sharing.reading import PageConfig
from app.style.layout import card, inner_card, pair, prose, toolbar
from llc_core import Planar

MOST = 1.0
"""λ of a regular point, d/2: no point has more."""
LOSS_LEGEND = [("expected", "exact λ̂ at this n")]
ESTIMATE_LEGEND = [
    ("expected", "exact λ̂"),
    ("local", "λ at w0"),
    ("global", "smallest λ in this picture"),
]
"""The sentence has up to three parts: the page below must not move with it."""


class Landscapes(EstimatePage):
    problem_of = staticmethod(problem_of)
    period = 100
    counter_ticks, word_ticks = 1, 5
    paces = (1.0, 3.0, 10.0, 100.0, 0.0)

    def __init__(self) -> None:
        super().__init__(PRESETS, Curves(LOSS_LEGEND, ESTIMATE_LEGEND), Controls(gradients=("full",)), MAIN_CELLS)
        self.diagnostics = Numbers(items=DETAIL_CELLS, sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        self.readouts.link(self.diagnostics, values="values", withheld="withheld")
        self.exact: float | None = None
        """What λ̂ should be; known when the run has been built."""
        self.editor: LandscapeEditor = LandscapeEditor(self._presets[FIRST].problem)
        self.scale = prose(margin=(4, 0, 0, 0))
        self.scale_box = pn.Column(self.scale, sizing_mode="stretch_width", margin=0)
        self.numbers_card.extend([self.scale_box, inner_card(*self.curves.estimate_parts), self.diagnostics])
        self.plane, self.volume, self.points = PlanePanel(), VolumePanel(), PointsPanel()
        self.monomials = MonomialsPanel()
        self.plane.on_tap, self.plane.on_stroke = self._on_tap, self.editor.draw
        self.plane.on_look = self._on_look
        self.one_step = OneStepPanel(beside=self.plane.figure.plot)
        self.panels = (self.plane, self.volume, self.points, self.monomials)
        self.takeaway: LandscapeTakeaway = LandscapeTakeaway(
            self.restore, lambda: self.volume.found, lambda: self.points.found, lambda: self.monomials.found
        )
        self.method = MethodCard()
        self.explanations = [self.method.view, self.controls.formula]
        self.answers = ExactAnswers(
            self.scale_box,
            self.volume.view,
            self.points.view,
            self.monomials.view,
            cells={self.readouts: EXACT_CELLS},  # those of the diagnostics follow
            changed=self.on_answers,
        )
        self.compose_estimate(
            {"Landscape": [self.editor], "Sampler": [self.controls, self.speed]},
            pair(self.plane.view, self.numbers_card),
            below=[
                toolbar(self.takeaway.menu),
                pair(card(self.one_step.view), card(*self.curves.loss_parts)),
                pair(self.volume.view, self.points.view),
                pair(self.monomials.view, self.method.view),
            ],
            first=FIRST,
        )

    def picture(self, preset: LandscapePreset) -> str:
        return draw_landscape(get_landscape(preset.problem))

    @property
    def problem(self) -> Planar:
        return landscape_of(self.config)

    def question(self) -> str:
        return question(self.problem, self.answers.visible) if self.config is not None else ""

    # -- configurations -----------------------------------------------------------------------------------------------

    def of_preset(self, preset: LandscapePreset) -> LandscapeConfig:
        return preset_config(preset)

    def of_link(self, configuration: Any) -> LandscapeConfig:
        return link_config(configuration)

    def show(self, config: PageConfig) -> None:
        super().show(config)
        assert isinstance(config, LandscapeConfig)
        self.plane.set_look(config.look)

    def configuration(self) -> dict[str, Any]:
        look = self.plane.look.changed()
        return {**super().configuration(), **({LOOK: look} if look else {})}

    def _on_look(self) -> None:
        """The run goes on; the address has what is drawn with it."""
        self.show_lesson("", "")

    def _on_tap(self, x: float, y: float) -> None:
        with pn.io.hold():
            if self.plane.sets == "w0":
                self.editor.move_to(x, y)
            elif self.plane.sets == "start":
                self.editor.begin_at(round(x, 3), round(y, 3))

    # -- the run ------------------------------------------------------------------------------------------------------

    def job(self, config: PageConfig, scene: None) -> Callable[[], LandscapeJob]:
        return partial(LandscapeJob, config.resolved)

    def cursor(self) -> TrailCursor:
        return TrailCursor()

    def reset(self, config: PageConfig, scene: None) -> None:
        self.exact = None
        problem, complete = self.problem, config.complete
        assert complete.n_beta is not None and complete.localization is not None
        total, burn_in = config.lengths
        local, best = self._coefficients()
        self.plane.show(problem, complete.n_beta, complete.localization, complete.chains)
        around = None if self.answers.visible else (0.0, MOST)
        self.losses.reset(complete.chains, total, burn_in, MOST if local is None or around is not None else local, None)
        self.curves.reset_estimates(total, burn_in, {"local": local, "global": best}, around)
        self.method.show(config.resolved.sampler, problem.model.about)
        self.volume.show(problem)
        self.one_step.show(None)

    def stream(self, rows: TrailRows) -> None:
        if rows.exact is not None and self.exact is None:
            self.exact = rows.exact
            self.losses.expect(rows.exact)
            self.estimates.expect(rows.exact)
        self.plane.figure.stream(rows.trail)
        self.plane.summarise(is_over(self.state))
        # Arrows in a figure that is still being drawn are a fault, after which the browser loses the rest of what came with them.
        if self.later.arrived:
            self.one_step.show(rows.step)
        super().stream(rows.rows)

    def poll_panels(self, built: bool) -> None:
        if built:
            self.plane.poll()
            self.volume.poll()
        if self.answers.visible:
            self.points.arrive(self._live.over)
        self.points.poll()
        self.monomials.poll()

    def numbers(self, state: State) -> dict[str, str]:
        return readout_values(state, self.problem, self.exact)

    def truth(self) -> Truth | None:
        local = self.problem.local_learning_coefficient
        if local is not None:
            return Truth("λ at w0", float(local), self.exact)
        return None if self.exact is None else Truth("The exact λ̂ at this n", self.exact)

    @property
    def reference(self) -> float | None:
        return self.exact

    def show_estimate(self, state: State) -> None:
        estimate = state.estimate if state.estimate is not None and begun(state.estimate) else None
        found = (math.nan, math.nan) if estimate is None else (estimate.llc, estimate.llc_se)
        self.scale.object = draw_scale(MOST, *self._coefficients(), *found, expected=self.exact)

    def _coefficients(self) -> list[float | None]:
        """λ at w0, and the least λ of the plane; None where they are not known."""
        both = self.problem.local_learning_coefficient, self.problem.learning_coefficient
        return [None if found is None else float(found) for found in both]

    def judge(self, state: State) -> tuple[str, str]:
        return verdict(state, self.problem, self.exact, self.answers.visible)


PAGE = PageInfo("Landscapes", "landscapes", 40, Landscapes, TOUR)
