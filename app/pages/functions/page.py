"""Page "Weights and functions": chains of weights, the band of their functions, and the exact one. Long, since it is one class:
what a visitor does."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from html import escape

import panel as pn

from app.components.readouts import Numbers
from app.components.toggles import Toggles
from app.controls.replay import Replay
from app.pages.base import PageInfo
from app.pages.functions.config import FunctionsConfig
from app.pages.functions.controls import RunPanel
from app.pages.functions.editor import NetworkEditor
from app.pages.functions.figures import FunctionsFigure
from app.pages.functions.job import Band, ChainsSeen, Gauges, Path, Row, build, see_apart
from app.pages.functions.panels.ensemble.panel import EnsemblePanel
from app.pages.functions.panels.particles import ParticlesPanel
from app.pages.functions.panels.risk.panel import RiskPanel
from app.pages.functions.panels.truth import Truth
from app.pages.functions.pictures import GAUGES, draw_gauges, tile
from app.pages.functions.presets import PRESETS
from app.pages.functions.scene import Scene, scene_of
from app.pages.functions.takeaway import FunctionsTakeaway, bands_csv, results_csv
from app.pages.functions.texts import (
    ANSWERS,
    CELLS,
    OWN_SETTINGS,
    REPLAY_HELP,
    SHOWN,
    SWATCHES,
    band_words,
    cell_values,
    distance_to,
    headline,
    shown,
    verdict,
    withheld,
)
from app.pages.functions.tour import TOUR
from app.pages.page import Page
from app.runs.job import OVER, Job, State
from app.session.latest import LatestWork
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, pair, plotted, prose, toolbar
from app.style.legend import Heard, swatch


class WeightsAndFunctions(Page):
    """One session's page, see `Page`; exact answers are made elsewhere."""

    task = "Do the networks agree on the function, and do they agree on their weights? Decide before the run ends."
    own_settings = OWN_SETTINGS
    can_reveal = True
    tile = staticmethod(tile)
    settings = FunctionsConfig
    scene_of = staticmethod(scene_of)
    config: FunctionsConfig
    scene: Scene

    def __init__(self) -> None:
        super().__init__(PRESETS)
        self._path = Path(self.config.every)
        self._band: Band | None = None
        self._seen: ChainsSeen | None = None
        """Band and gauges at the slider's iteration; while it follows the run, the newest."""
        self.truth = Truth(self._draw_answers)
        self._replay_work = LatestWork()

        self.figure = FunctionsFigure()
        self.figure.on_tap = self._on_tap
        self.toggles = Toggles(
            items=self._legend(True),
            shown=[item["key"] for item in SHOWN],
            figures="functions",
            sizing_mode="stretch_width",
            margin=0,
        )
        self.toggles.listener = lambda: self.figure.show_only(self.toggles.shown)
        self.replay = Replay("Iteration", REPLAY_HELP)
        self.replay.listener = self._on_replay
        self.words = prose(margin=(4, 0, 0, 0))
        self._heard = Heard("functions")
        self.gauges = prose(GAUGES, margin=(10, 0, 0, 0))
        self.numbers = Numbers(items=CELLS, sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, margin=(10, 0, 0, 0))
        self.particles, self.ensemble, self.risk = ParticlesPanel(), EnsemblePanel(), RiskPanel()
        below = (self.particles.view, self.ensemble.view, self.risk.view)
        exact = pn.Column(*below, sizing_mode="stretch_width", margin=0, styles={"gap": "12px"})
        self.answers = ExactAnswers(exact, changed=self.on_answers)
        self.takeaway = FunctionsTakeaway(self.run, self._file)
        self.editor, self.run_panel = NetworkEditor(self.config.problem), RunPanel()
        self.compose(
            [self.editor, self.run_panel],
            {"Network": [self.editor], "Sampler": [self.fault, self.run_panel]},
            pair(
                card(self.toggles, plotted(self.figure.plot), self.replay, self.words, self._heard.view),
                card(self.transport, self.gauges, self.numbers, self.verdict, toolbar(self.takeaway.menu)),
                leading=True,
            ),
            below=[exact],
        )

    def close_panels(self) -> None:
        self.truth.close()
        self.ensemble.close()
        self.risk.close()
        self._replay_work.forget()

    # -- one configuration, and a run of it ---------------------------------------------------------------------------

    def of_side_bar(self) -> FunctionsConfig:
        return FunctionsConfig(problem=self.editor.problem, **self.run_panel.values)

    def memory(self, config: FunctionsConfig, scene: Scene) -> float:
        return scene.memory

    def device(self, config: FunctionsConfig) -> str | None:
        return None if config.is_case else config.device

    def job(self, config: FunctionsConfig, scene: Scene) -> Callable[[], Job]:
        return build(scene)

    def lengths(self, config: FunctionsConfig) -> tuple[int, int]:
        return config.steps, config.burn_in

    def show(self, config: FunctionsConfig) -> None:
        self.editor.show(config.problem)
        self.run_panel.show(config)

    def reset(self, config: FunctionsConfig, scene: Scene) -> None:
        self._path, self._band, self._seen = Path(scene.every), None, None
        self._replay_work.forget()
        self.takeaway.show(config)
        self.figure.reset(scene)
        self.toggles.items = self._legend(self.answers.visible)
        self.particles.reset(scene)
        self.ensemble.reset(scene)
        self.risk.reset(scene)
        self.replay.begin(config.steps)
        self.truth.begin(scene)

    # -- exact answers ------------------------------------------------------------------------------------------------

    def _draw_answers(self) -> None:
        for name, found in (("limit", self.truth.limit), ("exact", self.truth.exact)):
            shown = found if self.answers.visible else None
            self.figure.show_posterior(name, self.scene, shown, self.config.share)
        self._heard.say(self.figure.summary(), now=True)  # at once: an answer may be hidden now
        self.forget_words()

    def _legend(self, with_answers: bool) -> list[dict[str, str]]:
        return [{**item, "swatch": swatch(SWATCHES[item["key"]])} for item in shown(self.scene, with_answers)]

    def show_answers(self, visible: bool) -> None:
        others = [key for key in self.toggles.shown if key not in ANSWERS]
        self.toggles.param.update(items=self._legend(visible), shown=[*others, *ANSWERS] if visible else others)
        self.figure.show_only(self.toggles.shown)
        self._draw_answers()
        self.show_words(self.state)

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def redraw(self, config: FunctionsConfig) -> bool:
        """Another band of the same run."""
        if config != self.config.replace(band=config.band, share=config.share):
            return False
        with pn.io.hold():
            self.config, self.scene = config, scene_of(config)
            self.takeaway.show(config)
            self._draw_answers()
            if self._band is not None:
                self._show_band(self._band)
            self.complain("")
        return True

    def _on_tap(self, x: float, y: float) -> None:
        with pn.io.hold():
            self.editor.add_point(x, y)

    def _on_replay(self) -> None:
        """Look at the chains as they were at the slider's iteration; in a thread, since gauges take a tenth of a second."""
        if self.replay.follows:
            self._replay_work.forget()
            self.forget_drawn()
            return
        self._replay_work.ask(
            partial(see_apart, self._path.copy(), int(self.replay.value)), self._take_seen, self.complain
        )

    def _take_seen(self, seen: ChainsSeen | None) -> None:
        if seen is not None:
            self._seen = seen
            self._show_band(seen.band)
            self._show_words(self.state)

    # -- what the run does --------------------------------------------------------------------------------------------

    def stream(self, rows: list[Row]) -> None:
        self._path.rows += rows

    def draw(self, state: State) -> None:
        self.replay.advance(state.steps)
        self.particles.draw(
            self._path.rows[-1].weights if self._path.rows else None, state.snapshot, state.status in OVER
        )
        if self.replay.follows:
            self._follow(state)

    def poll(self, state: State, over: bool) -> None:
        self.truth.poll()
        self._replay_work.poll()
        self.ensemble.poll()
        self.risk.poll()

    def _follow(self, state: State) -> None:
        """The newest band and gauges; those that were judged may be newer than the band of the last block, or older."""
        if state.estimate is not None:
            self._seen = state.estimate
        bands = [each for each in (state.snapshot and state.snapshot.band, self._seen and self._seen.band) if each]
        if bands:
            self._show_band(max(bands, key=lambda band: band.iteration))

    def _show_band(self, band: Band) -> None:
        self._band = band
        self.figure.show_band(self.scene, band, self.config)
        words = band_words(self.config, band.iteration)
        self.words.object = f'<p class="small">{escape(words)}</p>'
        self._heard.say(self.figure.summary())

    @property
    def _gauges(self) -> Gauges | None:
        return None if self._seen is None else self._seen.gauges

    def question(self) -> str:
        acceptance = math.nan if self.state.snapshot is None else self.state.snapshot.acceptance
        return headline(self._gauges, self.scene, acceptance)

    def show_words(self, state: State) -> None:
        gauges, visible = self._gauges, self.answers.visible
        known = (
            {} if gauges is None else {"weights": gauges.weights, "loss": gauges.loss, "functions": gauges.functions}
        )
        self.gauges.object = draw_gauges(known)
        hidden = withheld(self.scene, visible)
        if self.numbers.withheld != hidden:
            self.numbers.withheld = hidden
        values = cell_values(self.scene, state.snapshot, self._seen, self.truth.exact, self.truth.limit)
        self.numbers.values = {key: text for key, text in values.items() if key not in hidden}  # or they would be sent
        tone, words = verdict(state, self._seen, self.truth.exact, self.truth.words, visible)
        if state.snapshot is not None:
            self.run_panel.show_live(state.snapshot.step_size)
        # A screen reader reads this when the run rests; while numbers change it would never stop talking.
        live = "off" if state.status == "running" else "polite"
        self.verdict.object = f'<p class="{tone}" aria-live="{live}">{words}</p>'

    def _file(self, key: str) -> str:
        """The content of a CSV file; ValueError where there is nothing to put into it yet."""
        if key in ("ksd", "risk"):
            if not self.answers.visible:
                raise ValueError("The exact answers are hidden, and this file has them; press Reveal first.")
            return self.ensemble.csv() if key == "ksd" else self.risk.csv()
        if self._seen is None:
            raise ValueError("There is nothing to save yet; wait for the first gauges.")
        answers = (self.truth.exact, self.truth.limit) if self.answers.visible else (None, None)
        if key == "bands":
            return bands_csv(self.scene, self._seen, *answers)
        return results_csv(self.scene, self._seen, distance_to(answers[0], self._seen.gauges))


PAGE = PageInfo("Weights and functions", "functions", 60, WeightsAndFunctions, TOUR)
