"""Page "Stationary bias": watch two samplers reach the laws they really have, beside the law they should have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

import numpy as np
import panel as pn

from app.components.tiles import Tiles
from app.components.toggles import Toggles
from app.components.transport import Transport
from app.pages.base import PageInfo
from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.controls import RunPanel
from app.pages.stationary_bias.editor import TargetEditor
from app.pages.stationary_bias.figures import DistanceFigure, Frame
from app.pages.stationary_bias.job import BiasJob
from app.pages.stationary_bias.panels.exact.panel import ExactPanel
from app.pages.stationary_bias.panels.matters.panel import Matters
from app.pages.stationary_bias.panels.side import FIRST_SHOWN, _Side
from app.pages.stationary_bias.pictures import draw_scene
from app.pages.stationary_bias.presets import ALL, BiasPreset
from app.pages.stationary_bias.scene import Point, get_scene
from app.pages.stationary_bias.takeaway import BiasTakeaway
from app.pages.stationary_bias.texts import (
    caption,
    trouble,
)
from app.runs.job import OVER, State, Status
from app.session.live import Live
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, complaint, page, pair, plotted, prose, side_bar, toolbar
from app.style.legend import legend, swatch

POLL_MILLISECONDS = 100
NUMBERS_TICKS = 4
"""Figures and counter are renewed at every poll, words and numbers at every fourth."""
OWN_SETTINGS = "Your own settings. Every change starts a new run, so that a histogram never mixes two laws."
SHOWN = [
    {"key": "histogram", "label": "histogram", "tip": "Where the chains have been since the end of burn-in."},
    {"key": "target", "label": "target p", "tip": "The law that the chains should have."},
    {"key": "predicted", "label": "prediction, ε → 0", "tip": "The law that the sampler has for steps near 0."},
    {
        "key": "exact",
        "label": "exact law at this ε",
        "tip": "The chain's own law at this step size, from its transition operator: where there is one.",
    },
]
ANSWERS = ("prediction", "bias", "exact", "agreement", "mean_abs", "second")
"""Cells of the numbers that tell what the histogram will become."""


class _Below:
    """What lies below the histograms. It is made once these are on the screen, so that they are there sooner."""

    def __init__(self, config: BiasConfig, on_exact: Callable[[str, Point], None]):
        self.distances = DistanceFigure()
        self.exact = ExactPanel()
        self.exact.listener = on_exact
        self.matters = Matters()
        distances = card(
            legend(
                "Distance of the histograms",
                [
                    ("left", "left to target"),
                    ("left_dashed", "left to prediction"),
                    ("right", "right to target"),
                    ("right_dashed", "right to prediction"),
                    ("floor", "what chance alone leaves (rough)"),
                ],
                "distances",
            ),
            plotted(self.distances.plot),
        )
        self.views = [pair(distances, self.exact.view), self.matters.view]
        self.reset(config)

    def reset(self, config: BiasConfig) -> None:
        self.distances.reset(config.steps, config.burn_in_steps)
        self.exact.show(config)

    def close(self) -> None:
        self.exact.close()
        self.matters.close()


class StationaryBias:
    """One session's page. Everything here runs in the session's own callbacks; the run lives in the manager."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in ALL}
        self._live = Live(self._show, POLL_MILLISECONDS)
        self._config = ALL[0].config
        self._scene = get_scene(self._config)
        self._ticks = 0
        self._drawn = self._worded = -1

        self.tiles = Tiles(items=[_tile(p) for p in ALL], sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.transport = Transport(sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.toggles = Toggles(
            items=[{**item, "swatch": swatch(item["key"])} for item in SHOWN],
            shown=FIRST_SHOWN,
            figures=" ".join(f"law_{side}" for side in SIDES),
            sizing_mode="stretch_width",
            margin=(10, 0, 0, 0),
        )
        self.toggles.listener = self._on_toggles
        self.takeaway = BiasTakeaway(self._on_file)
        self.trouble = prose(theme.VERDICT, margin=(10, 0, 0, 0), visible=False)
        self._foot = pn.Column(sizing_mode="stretch_width", margin=0, styles={"gap": "12px"}, stylesheets=[theme.TALL])
        self._frame = Frame()
        self.sides = {side: _Side(side, self._frame) for side in SIDES}
        self.answers = ExactAnswers(
            self._foot,
            *(side.verdict for side in self.sides.values()),
            cells={side.numbers: [f"{name}_{key}" for key in ANSWERS] for name, side in self.sides.items()},
            changed=self._on_answers,
        )
        self._below: _Below | None = None
        self.target = TargetEditor(self._config.target)
        self.run_panel = RunPanel()
        self.fault = complaint()
        for control in (self.target, self.run_panel, *(side.panel for side in self.sides.values())):
            control.listener = self._on_settings

        self.sidebar: list[Any] = [side_bar({"Target": [self.target, self.fault], "Run": [self.run_panel]})]
        self.main: list[Any] = [self._arrange()]
        self._on_preset(ALL[0].name)

    @property
    def parts(self) -> dict[str, list[Any]]:
        words = [view for side in self.sides.values() for view in (side.formula, side.about)]
        return {"presets": [self.tiles], "texts": [self.lesson, *words], "answers": [self.answers]}

    def configuration(self) -> dict[str, Any]:
        return self._config.to_dict()

    def restore(self, configuration: Mapping[str, Any]) -> None:
        config = BiasConfig.from_dict(configuration)
        get_scene(config)
        self._on_file(config)

    def close(self) -> None:
        """Free the run; called when the session ends or the page changes."""
        self._live.close()
        if self._below is not None:
            self._below.close()

    # -- layout -------------------------------------------------------------------------------------------------------

    def _arrange(self) -> pn.viewable.Viewable:
        self.toggles.styles = {"flex": "1 1 300px"}
        return page(
            pn.Column(self.tiles, self.lesson, sizing_mode="stretch_width", margin=0),
            card(self.transport, toolbar(self.toggles, self.takeaway.menu), self.trouble),
            pair(*(side.view for side in self.sides.values())),
            self._foot,
        )

    # -- what the user does -------------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        with pn.io.hold():
            self._set(preset.config)
            self._restart(name, preset.lesson)

    def _on_file(self, config: BiasConfig) -> None:
        with pn.io.hold():
            self._set(config)
            self._restart("", OWN_SETTINGS)

    def _set(self, config: BiasConfig) -> None:
        self.target.show(config.target)
        self.run_panel.show(config)
        for side in SIDES:
            self.sides[side].panel.show(getattr(config, side))

    def _on_settings(self) -> None:
        with pn.io.hold():
            self._restart("", OWN_SETTINGS)

    def _on_toggles(self) -> None:
        for side in self.sides.values():
            side.law.show_only(self.toggles.shown)

    def _on_answers(self) -> None:
        """The predictions are shown or withheld now. Before the page is drawn: a legend cannot lose entries later."""
        if not self.answers.visible:
            self.toggles.items = [item for item in self.toggles.items if item["key"] not in ("predicted", "exact")]
            self.toggles.shown = [key for key in self.toggles.shown if key not in ("predicted", "exact")]
            self._on_toggles()

    def _on_exact(self, side: str, point: Point) -> None:
        self.sides[side].law.show_exact(point.x, point.density)
        self._worded = -1

    def _on_command(self, command: str) -> None:
        self.transport.playing = self._live.command(
            command, self.transport.stride, lambda playing: self._restart(self.tiles.selected, playing=playing)
        )

    def _restart(self, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run of what is set; if that is impossible say why and leave everything as it is."""
        try:
            config = BiasConfig(
                target=self.target.target,
                **{side: self.sides[side].panel.value for side in SIDES},
                **self.run_panel.values,
            )
            scene = get_scene(config)
        except ValueError as error:
            self.fault.param.update(object=f'<span role="alert">{escape(str(error))}</span>', visible=True)
            return
        self.fault.visible = False
        self._config, self._scene = config, scene
        self._live.start(partial(BiasJob, config), 0, playing)
        self._drawn = self._worded = -1
        self.tiles.selected = preset
        if lesson:
            self.lesson.object = f"<p>{escape(lesson)}</p>"

        self.takeaway.show(config, scene)
        self._frame.reset(scene)
        for side in self.sides.values():
            side.reset(scene)
        if self._below is not None:
            self._below.reset(config)
            for name, point in self._below.exact.points.items():
                self.sides[name].law.show_exact(point.x, point.density)
        self.transport.begin(config.steps, config.burn_in_steps, playing, caption(State()))
        self._show_words(State())

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: tuple[int, np.ndarray] | None) -> None:
        self._ticks += 1
        over = state.status in OVER
        if state.version != self._drawn:
            self._drawn = state.version
            if rows is not None and self._below is not None:
                self._live.cursor = rows[0]
                self._below.distances.stream(rows[1])
            if state.snapshot is not None:
                for name, side in self.sides.items():
                    side.law.show_counts(self._scene.bins, state.snapshot.side(name).counts)
            self.transport.param.update(
                step=state.steps, caption=caption(state), playing=self._live.playing and not over
            )
        # The picture comes first: what is below, and the exact operator, share the processor with it.
        seen = over or state.steps > self._config.burn_in_steps or state.status is Status.PAUSED
        if self._below is not None:
            self._below.exact.poll(seen)
            self._below.matters.poll()
        elif seen:
            self._below = _Below(self._config, self._on_exact)
            self._foot.objects = self._below.views
            self._drawn = -1
        if state.version != self._worded and (over or self._ticks % NUMBERS_TICKS == 0):
            self._worded = state.version
            self._show_words(state)

    def _show_words(self, state: State) -> None:
        self.takeaway.update(state.snapshot, state.estimate)
        tone, words = trouble(state)
        self.trouble.param.update(object=f'<p class="{tone}" role="status">{words}</p>', visible=bool(words))
        for side in self.sides.values():
            exact = None if self._below is None else self._below.exact.points.get(side.side)
            side.show_words(self._config, self._scene, state, exact)


def _tile(preset: BiasPreset) -> dict[str, str]:
    picture = draw_scene(get_scene(preset.config))
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture}


PAGE = PageInfo("Stationary bias", "stationary-bias", 20, StationaryBias)
