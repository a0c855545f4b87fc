"""Page "Weights and functions": chains of weights, the band of their functions, and the exact one. Long, since it is one class:
what a visitor does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.components.tiles import Tiles
from app.components.toggles import Toggles
from app.components.transport import Transport
from app.estimates.guessing import hidden_tiles, without_lesson
from app.pages.base import PageInfo
from app.pages.functions.config import FunctionsConfig
from app.pages.functions.controls import Replay, RunPanel
from app.pages.functions.editor import NetworkEditor
from app.pages.functions.figures import FunctionsFigure
from app.pages.functions.job import Band, Gauges, Path, Row, Seen, build, see_apart
from app.pages.functions.panels.truth import Truth
from app.pages.functions.pictures import GAUGES, draw_gauges, tile
from app.pages.functions.presets import PRESETS
from app.pages.functions.scene import Scene, scene_of
from app.pages.functions.takeaway import FunctionsTakeaway, bands_csv, results_csv
from app.pages.functions.texts import (
    ANSWERS,
    CELLS,
    OWN_SETTINGS,
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
from app.runs.job import OVER, State
from app.session.errors import tell
from app.session.latest import LatestWork
from app.session.live import Live
from app.session.preparation import Preparation
from app.session.run_words import caption
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, complaint, page, pair, plotted, prose, side_bar, toolbar
from app.style.legend import swatch

TASK = "Do the networks agree on the function, and do they agree on their weights? Decide before the run ends."
"""What stands in place of a lesson while the answers are hidden."""
POLL_MILLISECONDS = 100
WORD_TICKS = 4
"""Figures are renewed at every poll, words and numbers at every fourth."""
RUN = "This run"
"""What needs memory, in the sentence that refuses it."""


class WeightsAndFunctions:
    """One session's page. Everything here runs in the session's own callbacks; runs and exact answers are made elsewhere."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in PRESETS}
        self._live = Live(self._show, POLL_MILLISECONDS)
        self._config = PRESETS[0].config
        self._scene = scene_of(self._config)
        self._state, self._ticks = State(), 0
        self._drawn = self._worded = -1
        self._path = Path(self._config.every)
        self._band: Band | None = None
        self._seen: Seen | None = None
        """Band and gauges at the slider's iteration; while it follows the run, the newest."""
        self.truth = Truth(self._draw_answers)
        self._replay_work = LatestWork()

        self.headline = prose(theme.HEADLINE, margin=(0, 2, 8, 2))
        self._items, self._lesson = [tile(preset) for preset in PRESETS], ""
        self.tiles = Tiles(items=self._items, sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.preparation = Preparation()
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
        self.replay = Replay()
        self.replay.listener = self._on_replay
        self.words = prose(margin=(4, 0, 0, 0))
        self.transport = Transport(sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.gauges = prose(GAUGES, margin=(10, 0, 0, 0))
        self.numbers = Numbers(items=CELLS, sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, margin=(10, 0, 0, 0))
        self.takeaway = FunctionsTakeaway(self.run, self._file)
        self.answers = ExactAnswers(changed=self._on_answers)
        self.editor, self.run_panel, self.fault = NetworkEditor(self._config.problem), RunPanel(), complaint()
        self.editor.listener = self.run_panel.listener = self._on_settings

        self.sidebar: list[Any] = [side_bar({"Network": [self.editor], "Sampler": [self.fault, self.run_panel]})]
        top = (self.headline, self.tiles, self.lesson, self.preparation.view)
        self.main: list[Any] = [
            page(
                pn.Column(*top, sizing_mode="stretch_width", margin=0),
                pair(
                    card(self.toggles, plotted(self.figure.plot), self.replay, self.words),
                    card(self.transport, self.gauges, self.numbers, self.verdict, toolbar(self.takeaway.menu)),
                ),
            )
        ]
        self._on_preset(PRESETS[0].name)

    @property
    def parts(self) -> dict[str, list[Any]]:
        return {"presets": [self.tiles], "texts": [self.headline, self.lesson], "answers": [self.answers]}

    def configuration(self) -> dict[str, Any]:
        return self._config.to_dict()

    def restore(self, configuration: Mapping[str, Any]) -> str:
        return self.run(FunctionsConfig.from_dict(configuration))

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        self.preparation.close()
        self.truth.close()
        self._replay_work.forget()

    # -- one configuration, and a run of it -----------------------------------------------------------------------------

    def run(self, config: FunctionsConfig, preset: str = "", lesson: str = OWN_SETTINGS) -> str:
        """Run a configuration and show it in the widgets, see `app.pages.base.PageView.restore`."""

        def take(scene: Scene) -> None:
            self._live.reserve(scene.memory, RUN)
            with pn.io.hold():
                self._start(scene, preset, lesson)
                self.complain("")
                self.editor.show(config.problem)
                self.run_panel.show(config)

        return self.preparation.ask(
            partial(scene_of, config), take, lambda why: tell(f"This configuration cannot be opened: {why}")
        )

    def _start(self, scene: Scene, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run, and clear what was drawn of the one before it. lesson: "" leaves the sentence as it is."""
        self._scene, self._config = scene, scene.config
        self._live.start(build(scene), 0, playing)
        self._drawn = self._worded = -1
        self._path, self._band, self._seen, self._state = Path(scene.every), None, None, State()
        self._replay_work.forget()
        self.tiles.selected = preset
        self._lesson = lesson or self._lesson
        without_lesson(self.lesson, self._lesson, self.answers.visible, TASK)
        self.takeaway.show(scene.config)
        self.figure.reset(scene)
        self.toggles.items = self._legend(self.answers.visible)
        self.replay.begin(scene.config.steps)
        self.transport.begin(scene.config.steps, scene.config.burn_in, playing, caption(State()))
        self.truth.begin(scene)
        self._show_words()

    # -- exact answers ------------------------------------------------------------------------------------------------

    def _draw_answers(self) -> None:
        for name, found in (("limit", self.truth.limit), ("exact", self.truth.exact)):
            if self.answers.visible:
                self.figure.show_posterior(name, self._scene, found, self._config.share)
        self._worded = -1

    def _legend(self, with_answers: bool) -> list[dict[str, str]]:
        return [{**item, "swatch": swatch(SWATCHES[item["key"]])} for item in shown(self._scene, with_answers)]

    def _on_answers(self) -> None:
        """The exact answers are shown or withheld now. Before the page is drawn: a legend cannot lose entries later."""
        without_lesson(self.lesson, self._lesson, self.answers.visible, TASK)
        if not self.answers.visible:
            self.tiles.items = hidden_tiles(self._items, TASK)
            self.toggles.items = self._legend(False)
            self.toggles.shown = [key for key in self.toggles.shown if key not in ANSWERS]
            self.figure.show_only(self.toggles.shown)
            self.figure.reset(self._scene)
        self._show_words()

    # -- what the visitor does ----------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        self.run(preset.config, name, preset.lesson)

    def _on_settings(self) -> None:
        """What is set in the widgets, which show it already; a fault is told, and the run goes on as it was."""
        try:
            config = FunctionsConfig(problem=self.editor.problem, **self.run_panel.values)
            if config == self._config.replace(band=config.band, share=config.share):
                self._redraw(config)
            else:
                self.preparation.ask(partial(scene_of, config), self._start_own, self.complain)
        except ValueError as error:
            self.complain(str(error))

    def _start_own(self, scene: Scene) -> None:
        self._live.reserve(scene.memory, RUN)
        with pn.io.hold():
            self._start(scene, "", OWN_SETTINGS)
            self.complain("")

    def _redraw(self, config: FunctionsConfig) -> None:
        """Another band of the same run."""
        with pn.io.hold():
            self._config, self._scene = config, scene_of(config)
            self.takeaway.show(config)
            self._draw_answers()
            if self._band is not None:
                self._show_band(self._band)
            self.complain("")

    def _on_tap(self, x: float, y: float) -> None:
        with pn.io.hold():
            self.editor.add_point(x, y)

    def complain(self, message: str) -> None:
        """Say in the side bar what cannot be run; an empty message takes it back."""
        self.fault.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))

    def _on_command(self, command: str) -> None:
        try:
            self.transport.playing = self._live.command(command, self.transport.stride, self._start_again)
        except ValueError as error:  # the room of the run that is over has been given to others
            self.complain(str(error))

    def _start_again(self, playing: bool) -> None:
        self._live.reserve(self._scene.memory, RUN)
        self._start(self._scene, self.tiles.selected, playing=playing)

    def _on_replay(self) -> None:
        """Look at the chains as they were at the slider's iteration; in a thread, since gauges take a tenth of a second."""
        if self.replay.follows:
            self._replay_work.forget()
            self._drawn = -1
            return
        self._replay_work.ask(partial(see_apart, self._path.copy(), self.replay.value), self._take_seen, self.complain)

    def _take_seen(self, seen: Seen | None) -> None:
        if seen is not None:
            self._seen = seen
            self._show_band(seen.band)
            self._show_words()

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: tuple[int, list[Row]] | None) -> None:
        self._ticks += 1
        over = state.status in OVER
        if rows is not None:
            self._live.cursor = rows[0]
            self._path.rows += rows[1]
        if state.version != self._drawn:
            self._drawn, self._state = state.version, state
            self.transport.param.update(
                step=state.steps, caption=caption(state), playing=self._live.playing and not over
            )
            self.replay.advance(state.steps)
            if self.replay.follows:
                self._follow(state)
        self.truth.poll()
        self._replay_work.poll()
        if state.version != self._worded and (over or self._ticks % WORD_TICKS == 0):
            self._worded = state.version
            self._show_words()
        self.preparation.poll()  # last: it may start another run, and this state is not of that one

    def _follow(self, state: State) -> None:
        """The newest band and gauges; those that were judged may be newer than the band of the last block, or older."""
        if state.estimate is not None:
            self._seen = state.estimate
        bands = [each for each in (state.snapshot and state.snapshot.band, self._seen and self._seen.band) if each]
        if bands:
            self._show_band(max(bands, key=lambda band: band.iteration))

    def _show_band(self, band: Band) -> None:
        self._band = band
        self.figure.show_band(self._scene, band, self._config)
        self.words.object = (
            f'<p class="small">{escape(band_words(self._config, band.iteration, self.replay.follows))}</p>'
        )

    def _show_words(self) -> None:
        state, visible = self._state, self.answers.visible
        gauges: Gauges | None = self._seen.gauges if self._seen is not None else None
        values = (
            {} if gauges is None else {"weights": gauges.weights, "loss": gauges.loss, "functions": gauges.functions}
        )
        self.gauges.object = draw_gauges(values)
        acceptance = math.nan if state.snapshot is None else state.snapshot.acceptance
        self.headline.object = f"<h1>{escape(headline(gauges, self._scene, acceptance))}</h1>"
        hidden = withheld(self._scene, visible)
        if self.numbers.withheld != hidden:
            self.numbers.withheld = hidden
        self.numbers.values = cell_values(self._scene, state.snapshot, self._seen, self.truth.exact, self.truth.limit)
        tone, words = verdict(state, self._seen, self.truth.exact, self.truth.words, visible)
        if state.snapshot is not None:
            self.run_panel.show_live(state.snapshot.step_size)
        # A screen reader reads this when the run rests; while numbers change it would never stop talking.
        live = "off" if state.status == "running" else "polite"
        self.verdict.object = f'<p class="{tone}" aria-live="{live}">{words}</p>'

    def _file(self, key: str) -> str:
        """The content of a CSV file; ValueError where there is nothing to put into it yet."""
        if self._seen is None:
            raise ValueError("There is nothing to save yet; wait for the first gauges.")
        answers = (self.truth.exact, self.truth.limit) if self.answers.visible else (None, None)
        if key == "bands":
            return bands_csv(self._scene, self._seen, *answers)
        return results_csv(self._scene, self._seen, distance_to(answers[0], self._seen.gauges))


PAGE = PageInfo("Weights and functions", "functions", 35, WeightsAndFunctions)
