"""Page "Local geometry": watch samplers estimate the local learning coefficient of a deep linear network."""

from __future__ import annotations

from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.controls.run_controls import Controls
from app.estimates.curves import Curves
from app.estimates.folded import Folded
from app.estimates.guessing import Truth
from app.estimates.method import MethodCard
from app.estimates.polishing import Polishing
from app.estimates.scale import draw_scale
from app.estimates.texts import readout_values
from app.pages.base import PageInfo
from app.pages.estimate_page import EstimatePage
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.editor import NetworkEditor
from app.pages.local_geometry.panels.errors.panel import ErrorsPanel
from app.pages.local_geometry.panels.sweep.panel import SweepPanel
from app.pages.local_geometry.panels.weights import WeightsPanel
from app.pages.local_geometry.panels.why.panel import WhyPanel
from app.pages.local_geometry.pictures import draw_network, draw_outcome
from app.pages.local_geometry.presets import OUTCOMES, Preset, available
from app.pages.local_geometry.scene import Scene, link_config, preset_config, scene_of
from app.pages.local_geometry.takeaway import Takeaway
from app.pages.local_geometry.texts import CELLS, EXACT, exact_values, question
from app.pages.local_geometry.tour import TOUR
from app.runs.job import State
from app.sharing.exact_answers import ExactAnswers
from app.sharing.reading import PageConfig
from app.style.layout import card, level_pair, pair, prose, toolbar
from app.style.legend import heading
from app.style.numbers import number
from llc_core.samplers.registry import samplers
from llc_core.studies.explain.parts import Explanation

LOSS_LEGEND = [("expected", "expected λ̂")]
SWEEP, WHY, ERRORS = "Sweep a setting", "Why this number?", "Errors on new data"
ESTIMATE_LEGEND = [("local", "local λ"), ("global", "global λ"), ("expected", "expected λ̂")]


class LocalGeometry(EstimatePage):
    problem_of = staticmethod(get_problem)
    scene: Scene | None

    def __init__(self) -> None:
        presets = available(samplers())
        super().__init__(presets, Curves(LOSS_LEGEND, ESTIMATE_LEGEND), Controls(conditionals=True), CELLS)
        self.editor: NetworkEditor = NetworkEditor(presets[0].problem)
        self.sweep, self.why, self.weights = SweepPanel(), WhyPanel(), WeightsPanel()
        self.errors = ErrorsPanel()
        self.sweep.listener = self._on_value
        self.panels = (self.sweep, self.why, self.errors)
        self.takeaway: Takeaway = Takeaway(self.restore, lambda: self.sweep.found, lambda: self.why.found)
        self.exact = Numbers(items=EXACT, least="84px", sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        self.polishing = Polishing(self.controls, self.change_settings)
        self.scale = prose(margin=(12, 0, 0, 0))
        self.scale_box = pn.Column(self.scale, sizing_mode="stretch_width", margin=0)
        self.exact_card = card(heading("Exact answer"), self.scale_box, self.exact)
        self.method = MethodCard()
        self.explanations = [self.method.view, self.controls.formula]
        further = {
            SWEEP: (self.sweep.view, None),
            WHY: (self.why.view, self.why.start),
            ERRORS: (self.errors.view, self.errors.start),
        }
        self.further = Folded(further)
        self.answers = ExactAnswers(
            self.exact_card,
            self.scale_box,
            self.further.view,
            cells={self.readouts: ["truth", "expected", "error"]},
            changed=self.on_answers,
        )
        self.compose_estimate(
            {"Network": [self.editor], "Sampler": [self.controls]},
            self.numbers_card,
            level_pair(card(*self.curves.estimate_parts), card(*self.curves.loss_parts)),
            below=[
                toolbar(self.compare.button, self.takeaway.menu, self.compare.words),
                self.compare.table,
                self.polishing.view,
                pair(self.exact_card, self.weights.view),
                self.further.view,
                self.method.view,
            ],
        )

    def picture(self, preset: Preset) -> str:
        outcome = OUTCOMES.get(preset.name)
        return self.plain_picture(preset) if outcome is None else draw_outcome(preset.widths, preset.ranks, outcome)

    def plain_picture(self, preset: Preset) -> str:
        return draw_network(preset.widths, preset.ranks, width=112, height=52, labels=False)

    def question(self) -> str:
        return question(self.scene, self.answers.visible) if self.scene is not None else ""

    # -- configurations -----------------------------------------------------------------------------------------------

    def of_preset(self, preset: Preset) -> PageConfig:
        return preset_config(preset)

    def of_link(self, configuration: Any) -> PageConfig:
        return link_config(configuration)

    def scene_of(self, config: PageConfig) -> Scene:
        return scene_of(config)

    def _on_value(self, name: str, value: float) -> None:
        """A value has been chosen in the panel of the sweep."""
        self.controls.choose(name, value)
        self.change_settings()

    # -- the run ------------------------------------------------------------------------------------------------------

    def reset(self, config: PageConfig, scene: Scene) -> None:
        total, burn_in = config.lengths
        # The first ranges lie around the answers, unless these are hidden.
        most = scene.problem.dim / 2
        around = None if self.answers.visible else (0.0, most)
        self.losses.reset(scene.config.chains, total, burn_in, scene.local if around is None else most, scene.expected)
        self.curves.reset_estimates(total, burn_in, scene.lines, around)
        self.exact.values = exact_values(scene)
        self.editor.draw(scene.problem.widths, scene.problem.layer_ranks)
        self.method.show(config.resolved.sampler)
        self.polishing.begin(config, scene.problem.noise_std > 0)
        self.sweep.show(scene.config.replace(polish=False), scene.problem, config.resolved.sampler)
        self.why.show(scene.problem)
        self.weights.show(scene.problem)
        self.errors.show(scene.problem)

    def stream(self, rows: Any) -> None:
        super().stream(rows)
        if not self.polishing.on:  # chains then begin elsewhere
            self.weights.move(rows.place)

    def numbers(self, state: State) -> dict[str, str]:
        exact = {} if self.scene is None else {"truth": number(self.scene.local)}
        return {**readout_values(state, self._expected(state)), **exact}

    def truth(self) -> Truth | None:
        return None if self.scene is None else Truth("λ at w0", self.scene.local, self._expected(self.state))

    def caption(self, state: State) -> str:
        return self.polishing.caption(state) or super().caption(state)

    def _expected(self, state: State) -> float | None:
        """What λ̂ should read: of a polished w0 it is known with the first estimate, or not at all."""
        if self.scene is None or not self.polishing.on:
            return None if self.scene is None else self.scene.expected
        return None if state.estimate is None else state.estimate.expected

    @property
    def split(self) -> Explanation | None:
        return self.why.found

    def show_estimate(self, state: State) -> None:
        self.why.update(state.estimate)
        self.sweep.update(None if self.polishing.on else state.estimate)  # which is of the w0 that was given
        self.polishing.update(state.estimate)
        if self.scene is not None:
            if self.polishing.on:  # known with the first estimate
                self.exact.values = {**self.exact.values, "expected": number(self._expected(state))}
            exact = self.scene.problem.dim / 2, self.scene.local, self.scene.best
            found = (state.estimate.llc, state.estimate.llc_se) if state.estimate is not None else ()
            self.scale.object = draw_scale(*exact, *found, expected=self._expected(state), before=self.polishing.before)


PAGE = PageInfo("Local geometry", "local-geometry", 10, LocalGeometry, TOUR, main=True)
