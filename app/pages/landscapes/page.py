"""Page "Landscapes": chains on the plane, where the whole landscape is seen and every answer is exact."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import panel as pn

from app.components.readouts import Numbers
from app.components.tiles import Tiles
from app.components.transport import Transport
from app.controls.run_controls import Controls
from app.estimates.curves import Curves
from app.estimates.going_on import go_on
from app.estimates.method import MethodCard
from app.estimates.texts import OWN_SETTINGS, caption
from app.pages.answers import Answers
from app.pages.base import PageInfo
from app.pages.landscapes.config import get_landscape
from app.pages.landscapes.editor import LandscapeEditor
from app.pages.landscapes.job import LandscapeJob, TrailCursor, TrailRows
from app.pages.landscapes.panels.plane import PlanePanel
from app.pages.landscapes.panels.points import PointsPanel
from app.pages.landscapes.panels.volume import VolumePanel
from app.pages.landscapes.pictures import draw_landscape
from app.pages.landscapes.presets import ALL, FIRST, LandscapePreset
from app.pages.landscapes.takeaway import LandscapeTakeaway, read_config
from app.pages.landscapes.texts import ANSWERS, READOUTS, readout_values, verdict
from app.runs.allowance import check_allowance
from app.runs.job import OVER, State
from app.session.live import Live
from app.sharing.reading import PageConfig
from app.style import theme
from app.style.layout import card, complaint, page, pair, prose, side_bar, toolbar
from llc_core import Planar, RunConfig
from llc_core.engine.resolve import resolve

POLL_MILLISECONDS = 100
NUMBERS_TICKS = 5
"""Figures and counter are renewed at every poll, words and numbers at every fifth."""
LOSS_LEGEND = [("expected", "exact λ̂ at this n")]
ESTIMATE_LEGEND = [
    ("expected", "exact λ̂ at this n (quadrature)"),
    ("local", "λ at w0"),
    ("global", "least λ of the plane"),
]
VERDICT_ROOM = "p { min-height: 2.9em; } @media (max-width: 1100px) { p { min-height: 4.4em; } }"
"""The sentence has up to three parts: the page below must not move with it."""


class Landscapes:
    """One session's page. Everything here runs in the session's own callbacks; the run lives in the manager."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in ALL}
        self._live = Live(self._show, POLL_MILLISECONDS)
        self._problem: Planar | None = None
        self._config = RunConfig()
        self._exact: float | None = None
        self._ticks = 0
        self._streamed = self._worded = -1

        self.tiles = Tiles(items=[_tile(p) for p in ALL], sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.transport = Transport(sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.readouts = Numbers(items=READOUTS, sizing_mode="stretch_width", margin=(12, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, VERDICT_ROOM, margin=(10, 0, 0, 0))
        self._curves = Curves(LOSS_LEGEND, ESTIMATE_LEGEND)
        self.losses, self.estimates = self._curves.losses, self._curves.estimates
        self.plane = PlanePanel()
        self.plane.on_tap = self._on_tap
        self.volume, self.points = VolumePanel(), PointsPanel()
        self.takeaway = LandscapeTakeaway(self._on_upload, lambda: self.volume.found, lambda: self.points.found)
        self._method = MethodCard()
        self.editor = LandscapeEditor(self._presets[FIRST].problem)
        self.editor.listener = self._on_settings
        self.controls = Controls(gradients=("full",))
        self.controls.listener = self._on_settings
        self.trouble = complaint()
        self.sidebar: list[Any] = [side_bar({"Landscape": [self.editor], "Sampler": [self.trouble, self.controls]})]
        self.main: list[Any] = [self._arrange()]
        self._on_answers()
        self._on_preset(FIRST)

    @property
    def parts(self) -> dict[str, list[Any]]:
        return {"presets": [self.tiles], "texts": [self.lesson, self._method.view], "answers": [self.answers]}

    def configuration(self) -> dict[str, Any]:
        defaults = RunConfig().to_dict()
        values = RunConfig(problem=self.editor.problem, **self.controls.values).to_dict()
        return {name: value for name, value in values.items() if value != defaults[name]}

    def restore(self, configuration: Mapping[str, Any]) -> None:
        self._on_upload(read_config(RunConfig.from_dict(configuration)))

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        self.plane.close()
        self.volume.close()
        self.points.close()

    # -- layout -------------------------------------------------------------------------------------------------------

    def _arrange(self) -> pn.viewable.Viewable:
        self.answers = Answers(
            self.volume.view,
            self.points.view,
            *self.losses.answers,
            *self.estimates.answers,
            cells={self.readouts: ANSWERS},
            changed=self._on_answers,
        )
        return page(
            pn.Column(self.tiles, self.lesson, sizing_mode="stretch_width", margin=0),
            card(self.transport, self.readouts, self.verdict, toolbar(self.takeaway.menu)),
            pair(self.plane.view, card(*self._curves.estimate_parts, *self._curves.loss_parts)),
            pair(self.volume.view, self.points.view),
            self._method.view,
        )

    def _on_answers(self) -> None:
        """The exact answers are shown or withheld now."""
        self._curves.show_answers(self.answers.visible)
        self._worded = -1

    # -- what the user does -------------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        with pn.io.hold():
            self.editor.show(preset.problem)
            self.controls.show(preset.settings)
            self._restart(name, preset.lesson)

    def _on_settings(self) -> None:
        with pn.io.hold():
            self.controls.forget()
            self._restart("", OWN_SETTINGS)

    def _on_upload(self, found: PageConfig) -> None:
        """Show and run a configuration. Everything is checked before anything changes."""
        self.controls.check(found.settings)
        with pn.io.hold():
            self.editor.show(found.problem)
            self.controls.show(found.settings)
            self._restart("", OWN_SETTINGS)

    def _on_tap(self, x: float, y: float) -> None:
        with pn.io.hold():
            if self.plane.sets == "w0":
                self.editor.move_to(x, y)
            else:
                self.editor.begin_at(round(x, 3), round(y, 3))

    def _on_command(self, command: str) -> None:
        if command == "more":
            self._go_on()
            return
        self.transport.playing = self._live.command(
            command, self.transport.stride, lambda playing: self._restart(self.tiles.selected, playing=playing)
        )

    def _go_on(self) -> None:
        """Make the finished run twice as long."""
        with pn.io.hold():
            try:
                config = go_on(self._live, self._config, self.controls, self._curves, self.transport)
            except ValueError as error:
                self._complain(str(error))
                return
            if config is None:
                return
            self._config = config
            self.takeaway.show(config)

    def _complain(self, message: str) -> None:
        self.trouble.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))

    def _restart(self, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run of what the side bar says; if that is impossible say why and leave everything as it is."""
        try:
            problem = get_landscape(self.editor.problem)
            resolved = resolve(RunConfig(problem=problem.to_dict(), **self.controls.values), problem)
            config, sampler = resolved.config, resolved.sampler
            check_allowance(config, problem)
        except ValueError as error:
            self._complain(str(error))
            return
        self._complain("")
        assert config.steps is not None and config.n_beta is not None
        assert config.localization is not None
        self._problem, self._exact, self._config = problem, None, config
        self._live.start(partial(LandscapeJob, resolved), TrailCursor(), playing)
        self._streamed = self._worded = -1
        self.tiles.selected = preset
        if lesson:
            self.lesson.object = f"<p>{escape(lesson)}</p>"
        total, burn_in = config.steps, config.burn_in_steps(config.steps)
        local, best = float(problem.local_learning_coefficient), float(problem.learning_coefficient)
        self.plane.show(problem, config.n_beta, config.localization, config.chains)
        self.losses.reset(config.chains, total, burn_in, local, None)
        self.estimates.reset(total, burn_in, {"local": local, "global": best})
        self.transport.begin(total, burn_in, playing)
        self.controls.show_live({**sampler.to_dict(), "n_beta": config.n_beta})
        self._method.show(sampler, problem.model.about)
        self.volume.show(problem)
        self.takeaway.show(config)
        self._show_words(State())

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: Any) -> None:
        self._ticks += 1
        over = state.status in OVER
        if state.version != self._streamed:
            self._streamed = state.version
            if rows is not None:
                self._stream(rows)
            self.transport.param.update(
                step=state.steps,
                caption=caption(state),
                playing=self._live.playing and not over,
                more=self._live.can_go_on,
            )
        if rows is not None:  # not while the run is being built: that goes first
            self.plane.poll()
            self.volume.poll()
        self.points.poll()
        if state.version != self._worded and (over or self._ticks % NUMBERS_TICKS == 0):
            self._worded = state.version
            self._show_words(state)

    def _stream(self, new: TrailRows) -> None:
        self._live.cursor = new.cursor
        if new.exact is not None and self._exact is None:
            self._exact = new.exact
            self.losses.expect(new.exact)
            self.estimates.expect(new.exact)
        self.plane.figure.stream(new.trail)
        self.losses.stream(new.rows)
        self.estimates.stream(new.rows)

    def _show_words(self, state: State) -> None:
        assert self._problem is not None
        self.readouts.values = readout_values(state, self._problem, self._exact)
        self.takeaway.update(state.estimate)
        tone, words = verdict(state, self._problem, self._exact, self.answers.visible)
        # Read aloud when the run rests; while numbers move a screen reader would never stop talking.
        live = "off" if state.status == "running" else "polite"
        self.verdict.object = f'<p class="{tone}" aria-live="{live}">{words}</p>'
        if state.snapshot is not None:
            self.controls.show_live({"step_size": float(state.snapshot.step_size[0])})


def _tile(preset: LandscapePreset) -> dict[str, str]:
    picture = draw_landscape(get_landscape(preset.problem))
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}


PAGE = PageInfo("Landscapes", "landscapes", 30, Landscapes)
