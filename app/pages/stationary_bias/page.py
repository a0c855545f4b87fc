"""Page "Stationary bias": watch two samplers reach the laws they really have. Long, since it is one class: what a visitor does.

Beside them is the law that they should have.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import numpy as np
import panel as pn

from app.components.tiles import Tiles
from app.components.toggles import Toggles
from app.components.transport import Transport
from app.estimates.guessing import WATCH, hidden_tiles, without_lesson
from app.pages.base import PageInfo
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
from app.pages.stationary_bias.texts import FIRST_SHOWN, OWN_SETTINGS, SHOWN, caption
from app.runs.job import OVER, State, Status
from app.session.errors import tell
from app.session.live import Live
from app.session.preparation import Preparation
from app.session.run_words import trouble
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, complaint, page, pair, prose, side_bar, toolbar
from app.style.legend import swatch

POLL_MILLISECONDS = 100
NUMBERS_TICKS = 4
"""Figures and counter are renewed at every poll, words and numbers at every fourth."""
RUN = "This comparison"
"""What needs memory, in the sentence that refuses it."""
ANSWERS = ("prediction", "bias", "exact", "agreement", "mean_abs", "second")
"""Cells of the numbers that tell what the histogram will become."""


class StationaryBias:
    """One session's page. Everything here runs in the session's own callbacks; the run lives in the manager."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in PRESETS}
        self._live = Live(self._show, POLL_MILLISECONDS)
        self._config = PRESETS[0].config
        self._scene = get_scene(self._config)
        self._ticks = 0
        self._drawn = self._worded = -1

        self._items, self._lesson = [tile(preset) for preset in PRESETS], ""
        self.tiles = Tiles(items=self._items, sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.preparation = Preparation()
        self.transport = Transport(sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.toggles = Toggles(
            items=[{**item, "swatch": swatch(item["key"])} for item in SHOWN],
            shown=FIRST_SHOWN,
            figures=" ".join(f"law_{side}" for side in SIDES),
            sizing_mode="stretch_width",
            margin=(10, 0, 0, 0),
            styles={"flex": "1 1 300px"},
        )
        self.toggles.listener = self._on_toggles
        self.takeaway = BiasTakeaway(self.run)
        self.trouble = prose(theme.VERDICT, margin=(10, 0, 0, 0), visible=False)
        self._foot = pn.Column(sizing_mode="stretch_width", margin=0, styles={"gap": "12px"}, stylesheets=[theme.TALL])
        self._frame = Frame()
        self.sides = {side: Side(side, self._frame) for side in SIDES}
        self.answers = ExactAnswers(
            self._foot,
            *(side.verdict for side in self.sides.values()),
            cells={side.numbers: [f"{name}_{key}" for key in ANSWERS] for name, side in self.sides.items()},
            changed=self._on_answers,
        )
        self._below: Below | None = None
        self.target = TargetEditor(self._config.target)
        self.run_panel = RunPanel()
        self.fault = complaint()
        for control in (self.target, self.run_panel, *(side.panel for side in self.sides.values())):
            control.listener = self._on_settings

        self.sidebar: list[Any] = [side_bar({"Target": [self.target, self.fault], "Run": [self.run_panel]})]
        self.main: list[Any] = [
            page(
                pn.Column(self.tiles, self.lesson, self.preparation.view, sizing_mode="stretch_width", margin=0),
                card(self.transport, toolbar(self.toggles, self.takeaway.menu), self.trouble),
                pair(*(side.view for side in self.sides.values())),
                self._foot,
            )
        ]
        self._on_preset(PRESETS[0].name)

    @property
    def parts(self) -> dict[str, list[Any]]:
        words = [view for side in self.sides.values() for view in (side.formula, side.about)]
        return {"presets": [self.tiles], "texts": [self.lesson, *words], "answers": [self.answers]}

    def configuration(self) -> dict[str, Any]:
        return self._config.to_dict()

    def restore(self, configuration: Mapping[str, Any]) -> str:
        return self.run(BiasConfig.from_dict(configuration))

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        self.preparation.close()
        if self._below is not None:
            self._below.close()

    # -- one configuration, and a run of it -----------------------------------------------------------------------------

    def run(self, config: BiasConfig, preset: str = "", lesson: str = OWN_SETTINGS) -> str:
        """Run a configuration and show it in the widgets, see `app.pages.base.PageView.restore`."""

        def take(scene: Scene) -> None:
            self._live.reserve(config.memory, RUN)
            with pn.io.hold():
                self._start(config, scene, preset, lesson)
                self._complain("")
                self.target.show(config.target)
                self.run_panel.show(config)
                for side in SIDES:
                    self.sides[side].panel.show(getattr(config, side))

        return self.preparation.ask(
            partial(get_scene, config), take, lambda why: tell(f"This configuration cannot be opened: {why}")
        )

    def _start(self, config: BiasConfig, scene: Scene, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run, and clear what was drawn of the one before it. lesson: "" leaves the sentence as it is."""
        self._config, self._scene = config, scene
        self._live.start(partial(BiasJob, config), 0, playing)
        self._drawn = self._worded = -1
        self.tiles.selected = preset
        self._lesson = lesson or self._lesson
        without_lesson(self.lesson, self._lesson, self.answers.visible, WATCH)
        self.takeaway.show(config, scene)
        self._frame.reset(scene)
        for side in self.sides.values():
            side.reset(scene)
        if self._below is not None:
            self._below.reset(config)
            for name, exact in self._below.exact.points.items():
                self.sides[name].law.show_exact(exact.x, exact.density)
        self.transport.begin(config.steps, config.burn_in_steps, playing, caption(State()))
        self._show_words(State())

    # -- what the user does -------------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        self.run(preset.config, name, preset.lesson)

    def _on_settings(self) -> None:
        """What is set in the widgets, which show it already; a fault is told, and the run goes on as it was."""
        try:
            config = BiasConfig(
                target=self.target.target,
                **{side: self.sides[side].panel.value for side in SIDES},
                **self.run_panel.values,
            )
            self.preparation.ask(partial(get_scene, config), partial(self._start_own, config), self._complain)
        except ValueError as error:
            self._complain(str(error))

    def _start_own(self, config: BiasConfig, scene: Scene) -> None:
        self._live.reserve(config.memory, RUN)
        with pn.io.hold():
            self._start(config, scene, "", OWN_SETTINGS)
            self._complain("")

    def _complain(self, message: str) -> None:
        """Say in the side bar what cannot be run; an empty message takes it back."""
        self.fault.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))

    def _on_command(self, command: str) -> None:
        try:
            self.transport.playing = self._live.command(command, self.transport.stride, self._start_again)
        except ValueError as error:  # the room of the run that is over has been given to others
            self._complain(str(error))

    def _start_again(self, playing: bool) -> None:
        self._live.reserve(self._config.memory, RUN)
        self._start(self._config, self._scene, self.tiles.selected, playing=playing)

    def _on_toggles(self) -> None:
        for side in self.sides.values():
            side.law.show_only(self.toggles.shown)

    def _on_answers(self) -> None:
        """The predictions are shown or withheld now. Before the page is drawn: a legend cannot lose entries later."""
        without_lesson(self.lesson, self._lesson, self.answers.visible, WATCH)
        if not self.answers.visible:
            self.tiles.items = hidden_tiles(self._items, WATCH)
            self.toggles.items = [item for item in self.toggles.items if item["key"] not in ("predicted", "exact")]
            self.toggles.shown = [key for key in self.toggles.shown if key not in ("predicted", "exact")]
            self._on_toggles()

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: tuple[int, np.ndarray] | None) -> None:
        self._ticks += 1
        over = state.status in OVER
        if state.version != self._drawn:
            self._drawn = state.version
            self._draw(state, rows, over)
        # The histograms come first: what lies below, and the exact laws, take processor time from them.
        seen = over or state.steps > self._config.burn_in_steps or state.status is Status.PAUSED
        if self._below is not None:
            self._below.exact.poll(seen)
            self._below.llc_errors.poll()
        elif seen:
            self._below = Below(self._config, self._on_exact)
            self._foot.objects = self._below.views
            self._drawn = -1
        if state.version != self._worded and (over or self._ticks % NUMBERS_TICKS == 0):
            self._worded = state.version
            self._show_words(state)
        self.preparation.poll()  # last: it may start another run, and this state is not of that one

    def _draw(self, state: State, rows: tuple[int, np.ndarray] | None, over: bool) -> None:
        if rows is not None and self._below is not None:
            self._live.cursor = rows[0]
            self._below.distances.stream(rows[1])
        if state.snapshot is not None:
            for name, side in self.sides.items():
                side.law.show_counts(self._scene.bins, state.snapshot.side(name).counts)
        self.transport.param.update(step=state.steps, caption=caption(state), playing=self._live.playing and not over)

    def _show_words(self, state: State) -> None:
        self.takeaway.update(state.snapshot, state.estimate)
        tone, words = trouble(state)
        self.trouble.param.update(object=f'<p class="{tone}" role="status">{words}</p>', visible=bool(words))
        for side in self.sides.values():
            exact = None if self._below is None else self._below.exact.points.get(side.side)
            side.show_words(self._config, self._scene, state, exact)

    def _on_exact(self, side: str, exact: ExactBias) -> None:
        self.sides[side].law.show_exact(exact.x, exact.density)
        self._worded = -1


PAGE = PageInfo("Stationary bias", "stationary-bias", 20, StationaryBias)
