"""Page "Polygons": features in superposition, moved by chains, and the exact λ of each polygon."""

from __future__ import annotations

from typing import Any

from app.components.drawings.polygon import Polygon
from app.components.drawings.prices import Prices
from app.components.readouts import Numbers
from app.controls.run_controls import Controls
from app.estimates.curves import Curves
from app.estimates.guessing import Truth
from app.estimates.method import MethodCard
from app.estimates.texts import readout_values
from app.pages.base import PageInfo
from app.pages.estimate_page import EstimatePage
from app.pages.polygons.editor import PolygonEditor
from app.pages.polygons.pictures import draw_polygon
from app.pages.polygons.presets import PRESETS, PolygonPreset
from app.pages.polygons.scene import expected_llc, get_problem, link_config, named, preset_config, solutions
from app.pages.polygons.takeaway import Takeaway
from app.pages.polygons.texts import CELLS, EXACT, exact_values, free_words, question
from app.pages.polygons.tour import TOUR
from app.runs.job import State
from app.sharing.exact_answers import ExactAnswers
from app.sharing.reading import PageConfig
from app.style.layout import card, pair, prose, stacks, toolbar
from app.style.legend import heading
from app.style.numbers import number
from llc_core.potentials import Superposition

LOSS_LEGEND = [("expected", "expected λ̂")]
ESTIMATE_LEGEND = [("local", "exact λ"), ("expected", "expected λ̂")]
TASK = "Two numbers have to carry many features. Each solution is a polygon, and each polygon has its own λ."


class Polygons(EstimatePage):
    task = TASK
    problem_of = staticmethod(get_problem)
    scene: Superposition | None

    def __init__(self) -> None:
        super().__init__(PRESETS, Curves(LOSS_LEGEND, ESTIMATE_LEGEND), Controls(["full"]), CELLS)
        self.editor: PolygonEditor = PolygonEditor()
        self.takeaway: Takeaway = Takeaway(self.restore)
        self.polygon = Polygon(sizing_mode="stretch_width", margin=0)
        self.free = prose()
        self.prices = Prices(sizing_mode="stretch_width", margin=0)
        self.exact = Numbers(items=EXACT, least="84px", sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        self.exact_card = card(heading("Exact answer"), self.exact, self.prices)
        self.method = MethodCard()
        self.explanations = [self.method.view, self.controls.formula]
        self.answers = ExactAnswers(
            self.exact_card, self.free, cells={self.readouts: ["truth", "expected", "error"]}, changed=self.on_answers
        )
        self.compose_estimate(
            {"Features": [self.editor], "Sampler": [self.controls]},
            self.numbers_card,
            pair(
                card(heading("Features as arrows: the first chain, and w0 (dashed)"), self.polygon, self.free),
                card(*self.curves.estimate_parts),
            ),
            below=[
                toolbar(self.compare.button, self.takeaway.menu, self.compare.words),
                self.compare.table,
                stacks([self.exact_card], [card(*self.curves.loss_parts)]),
                self.method.view,
            ],
        )

    def picture(self, preset: PolygonPreset) -> str:
        return draw_polygon(preset.sides, preset.features, preset.title)

    def question(self) -> str:
        return question(self.scene, self.answers.visible) if self.scene is not None else ""

    # -- configurations -----------------------------------------------------------------------------------------------

    def of_preset(self, preset: PolygonPreset) -> PageConfig:
        return preset_config(preset)

    def of_link(self, configuration: Any) -> PageConfig:
        return link_config(configuration)

    def scene_of(self, config: PageConfig) -> Superposition:
        problem = config.resolved.problem
        assert isinstance(problem, Superposition)
        return problem

    # -- the run ------------------------------------------------------------------------------------------------------

    def reset(self, config: PageConfig, scene: Superposition) -> None:
        total, burn_in = config.lengths
        most, exact = scene.dim / 2, float(scene.local_learning_coefficient)
        around = None if self.answers.visible else (0.0, most)
        expected = expected_llc(config)
        self.losses.reset(config.complete.chains, total, burn_in, exact if around is None else most, expected)
        self.curves.reset_estimates(total, burn_in, {"local": exact, "expected": expected}, around)
        self.exact.values = exact_values(scene)
        self.free.object = f"<p>{free_words(scene)}</p>"
        self.method.show(config.resolved.sampler)
        self.polygon.param.update(
            features=scene.features, sides=scene.sides, silent=scene.left_out == "silent", w0=scene.w0.tolist(), now=[]
        )
        self.prices.param.update(
            solutions=[[each.name, each.loss, each.coefficient] for each in solutions(scene.features)],
            chosen=named(scene),
        )

    def stream(self, rows: Any) -> None:
        super().stream(rows)
        if rows.place is not None and self.scene is not None and len(rows.place) == self.scene.dim:
            self.polygon.now = [round(float(w), 4) for w in self.scene.w0.numpy() + rows.place]

    def numbers(self, state: State) -> dict[str, str]:
        truth = self.truth()
        if truth is None:
            return readout_values(state, None)
        return {**readout_values(state, truth.expected), "truth": number(truth.value)}

    @property
    def reference(self) -> float | None:
        """Of the quadratic part of the loss, which is within 1% of the whole where there is a value at all."""
        return None if self.scene is None else expected_llc(self.config)

    def truth(self) -> Truth | None:
        if self.scene is None:
            return None
        return Truth("λ at w0", float(self.scene.local_learning_coefficient), expected_llc(self.config))


PAGE = PageInfo("Polygons", "polygons", 37, Polygons, TOUR)
