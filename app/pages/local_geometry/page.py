"""Page "Local geometry": watch samplers estimate the local learning coefficient of a deep linear network."""

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
from app.estimates.compare_panel import ComparePanel
from app.estimates.curves import Curves
from app.estimates.going_on import go_on
from app.estimates.method import MethodCard
from app.estimates.texts import OWN_SETTINGS, READOUTS, caption, readout_values, verdict, without_answers
from app.pages.answers import Answers
from app.pages.base import PageInfo
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.editor import NetworkEditor
from app.pages.local_geometry.panels.sweep.panel import SweepPanel
from app.pages.local_geometry.panels.why.panel import WhyPanel
from app.pages.local_geometry.pictures import draw_network, draw_scale
from app.pages.local_geometry.presets import Preset, available
from app.pages.local_geometry.takeaway import Takeaway, read_config
from app.pages.local_geometry.texts import EXACT, exact_values
from app.runs.allowance import check_allowance
from app.runs.history import Cursor
from app.runs.job import OVER, State
from app.runs.llc_job import LlcJob
from app.session.live import Live
from app.sharing.reading import PageConfig
from app.style import theme
from app.style.layout import card, complaint, page, pair, prose, side_bar, stacks, toolbar
from app.style.legend import heading
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.resolve import resolve
from llc_core.samplers.registry import samplers

COUNTER_TICKS, NUMBERS_TICKS = 2, 10
"""The counter is renewed at every second poll, words and numbers at every tenth; the figures at every poll."""
LOSS_LEGEND = [("expected", "expected λ̂")]
ESTIMATE_LEGEND = [("local", "local λ"), ("global", "global λ"), ("expected", "expected λ̂")]


class LocalGeometry:
    """One session's page. Everything here runs in the session's own callbacks; the run lives in the manager."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in available(samplers())}
        first = next(iter(self._presets.values()))
        self._live = Live(self._show)
        self._problem: DeepLinearNetwork | None = None
        self._config = RunConfig()
        self._expected: float | None = None
        self._ticks = 0
        self._streamed = self._counted = self._worded = -1

        self.tiles = Tiles(items=[_tile(p) for p in self._presets.values()], sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.transport = Transport(sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.readouts = Numbers(items=READOUTS, sizing_mode="stretch_width", margin=(12, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, margin=(10, 0, 0, 0))
        self._curves = Curves(LOSS_LEGEND, ESTIMATE_LEGEND)
        self.losses, self.estimates = self._curves.losses, self._curves.estimates
        self.compare = ComparePanel(self.estimates)
        self.sweep = SweepPanel()
        self.sweep.listener = self._on_value
        self.why = WhyPanel()
        self.takeaway = Takeaway(self._on_upload, lambda: self.sweep.found, lambda: self.why.found)
        self.exact = Numbers(items=EXACT, least="84px", sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        self.scale = prose(margin=(12, 0, 0, 0))
        self._method = MethodCard()
        self.editor = NetworkEditor(first.problem)
        self.editor.listener = self._on_settings
        self.controls = Controls()
        self.controls.listener = self._on_settings
        self.trouble = complaint()

        self.sidebar: list[Any] = [side_bar({"Network": [self.editor], "Sampler": [self.trouble, self.controls]})]
        self.main: list[Any] = [self._arrange()]
        self._on_answers()
        self._on_preset(first.name)

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
        """Free the run; called when the session ends."""
        self._live.close()
        self.sweep.close()
        self.why.close()

    # -- layout -------------------------------------------------------------------------------------------------------

    def _arrange(self) -> pn.viewable.Viewable:
        tools = toolbar(self.compare.button, self.takeaway.menu, self.compare.words)
        self._exact = card(heading("Exact answer"), self.exact, self.scale)
        self.answers = Answers(
            self._exact,
            self.sweep.view,
            self.why.view,
            *self.losses.answers,
            *self.estimates.answers,
            cells={self.readouts: ["expected", "error"]},
            changed=self._on_answers,
        )
        return page(
            pn.Column(self.tiles, self.lesson, sizing_mode="stretch_width", margin=0),
            card(self.transport, self.readouts, self.verdict, tools, self.compare.table),
            pair(card(*self._curves.loss_parts), card(*self._curves.estimate_parts)),
            stacks([self.sweep.view], [self.why.view, self._exact]),
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
        """Show and run a configuration from a file. Everything is checked before anything changes."""
        self.controls.check(found.settings)
        with pn.io.hold():
            self.editor.show(found.problem)
            self.controls.show(found.settings)
            self._restart("", OWN_SETTINGS)

    def _on_value(self, name: str, value: float) -> None:
        """One field has been given a value elsewhere than in the side bar."""
        with pn.io.hold():
            self.controls.choose(name, value)
            self._restart("", OWN_SETTINGS)

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
            self.compare.go_on(config)
            self.takeaway.show(config)

    def _complain(self, message: str) -> None:
        self.trouble.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))

    def _restart(self, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run of what the side bar says; if that is impossible say why and leave everything as it is."""
        try:
            problem = get_problem(self.editor.problem)
            resolved = resolve(RunConfig(problem=problem.to_dict(), **self.controls.values), problem)
            config, sampler = resolved.config, resolved.sampler
            check_allowance(config, problem)
        except ValueError as error:
            self._complain(str(error))
            return
        self._complain("")
        self._problem, self._config = problem, config
        self.compare.begin(config)
        self._live.start(partial(LlcJob, resolved), Cursor(), playing)
        self._streamed = self._counted = self._worded = -1
        self.tiles.selected = preset
        if lesson:
            self.lesson.object = f"<p>{escape(lesson)}</p>"

        assert config.steps is not None and config.n_beta is not None
        total, burn_in = config.steps, config.burn_in_steps(config.steps)
        local, best = problem.local_learning_coefficient, problem.learning_coefficient
        self._expected = problem.expected_llc(config.n_beta)
        known = {"local": float(local), "global": float(best), "expected": self._expected}
        self.losses.reset(config.chains, total, burn_in, float(local), self._expected)
        self.estimates.reset(total, burn_in, known)
        self.compare.draw()
        self.exact.values = exact_values(problem, config.n_beta, self._expected)
        self.editor.drawing.object = draw_network(problem.widths, problem.layer_ranks)
        self._method.show(sampler)
        self.transport.begin(total, burn_in, playing)
        self.controls.show_live({**sampler.to_dict(), "n_beta": config.n_beta})
        self.sweep.show(config, problem, sampler)
        self.why.show(problem)
        self.takeaway.show(config)
        self._show_words(State())

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: Any) -> None:
        self._ticks += 1
        over = state.status in OVER
        if rows is not None and state.version != self._streamed:
            self._live.cursor, self._streamed = rows.cursor, state.version
            self.losses.stream(rows)
            self.estimates.stream(rows)
        if state.version != self._counted and (over or self._ticks % COUNTER_TICKS == 0):
            self._counted = state.version
            self.transport.param.update(
                step=state.steps,
                caption=caption(state),
                playing=self._live.playing and not over,
                more=self._live.can_go_on,
            )
        self.sweep.poll()
        self.why.poll()
        if state.version != self._worded and (over or self._ticks % NUMBERS_TICKS == 0):
            self._worded = state.version
            self._show_words(state)

    def _show_scale(self, state: State) -> None:
        problem, estimate = self._problem, state.estimate
        if problem is None:
            return
        exact = problem.dim / 2, float(problem.local_learning_coefficient), float(problem.learning_coefficient)
        self.scale.object = (
            draw_scale(*exact) if estimate is None else draw_scale(*exact, estimate.llc, estimate.llc_se)
        )

    def _show_words(self, state: State) -> None:
        self.readouts.values = readout_values(state, self._expected)
        self.compare.update(self.readouts.values if self.answers.visible else without_answers(self.readouts.values))
        self.why.update(state.estimate)
        self.takeaway.update(state.estimate)
        self._show_scale(state)
        tone, words = verdict(state, self.answers.visible)
        # Read aloud when the run rests; while numbers move a screen reader would never stop talking.
        live = "off" if state.status == "running" else "polite"
        self.verdict.object = f'<p class="{tone}" aria-live="{live}">{words}</p>'
        if state.snapshot is not None:
            self.controls.show_live({"step_size": float(state.snapshot.step_size[0])})


def _tile(preset: Preset) -> dict[str, str]:
    picture = draw_network(preset.widths, preset.ranks, width=112, height=52, labels=False)
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}


PAGE = PageInfo("Local geometry", "local-geometry", 10, LocalGeometry)
