"""The panel "Bias against ε and α" and the exact distributions of both sides: one background job, polled with the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import panel as pn

from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.panels.exact.figure import BiasFigure
from app.pages.stationary_bias.panels.exact.job import ExactBias, curves, tasks
from app.pages.stationary_bias.texts import WORDS
from app.runs.handle import RunHandle
from app.runs.job import OVER, Status
from app.runs.manager import background
from app.runs.tasks import TaskJob
from app.style import theme
from app.style.layout import card, one_of, plotted, prose
from app.style.legend import HeardLegend


class ExactPanel:
    """`points` holds the exact distribution of each side once it is known; `listener` is called when one arrives."""

    def __init__(self) -> None:
        self.listener: Callable[[str, ExactBias], None] = lambda side, point: None
        self.points: dict[str, ExactBias] = {}
        self._config: BiasConfig | None = None
        self._handle: RunHandle | None = None
        self._cursor = 0
        self.figure = BiasFigure()
        self._subject = one_of({WORDS[side]: side for side in SIDES}, "left")
        self._subject.param.watch(self._on_subject, "value")
        self._legend = HeardLegend()
        self._words = prose(margin=(6, 0, 0, 0))
        self.view = card(
            pn.FlexBox(
                self._legend.view,
                self._subject,
                justify_content="space-between",
                gap="6px",
                sizing_mode="stretch_width",
            ),
            plotted(self.figure.plot),
            self._words,
        )
        self._legend.view.styles = {"flex": "1 1 260px"}

    def show(self, config: BiasConfig) -> None:
        """A comparison has begun: empty the panel unless nothing that matters here has changed."""
        old, self._config = self._config, config
        if old is not None and _question(old) == _question(config):
            return
        self.points = {}
        self._reset()

    def poll(self, ready: bool) -> None:
        """Take what is new. ready: whether the page's own run is far enough for this to begin."""
        if self._config is None:
            return
        if self._handle is None:
            if not ready:
                return
            self._handle = background().submit(partial(_job, self._config, self._subject.value))
        state, new = self._handle.poll(self._cursor)
        if new is not None:
            self._cursor, points = new
            for point in points:
                self._take(point)
        over = state.status in OVER
        if new is not None or over:
            self._tell(over)
        if state.status is Status.FAILED:
            self._say(state.message)
        if state.status is Status.CANCELLED:
            self._handle = None

    def close(self) -> None:
        if self._handle is not None and self._handle.state.status not in OVER:
            self._handle.cancel()
        self._handle = None

    def _reset(self) -> None:
        assert self._config is not None
        self.close()
        self._cursor = 0
        side = self._subject.value
        self.figure.reset(float(self._config.sampler(side).to_dict()["step_size"]))
        self._legend.begin(*curve_title(self._config, side), "bias_curves")
        note = (
            "Constant steps: the page's decreasing steps are not part of this picture. "
            if self._config.step_decay
            else ""
        )
        self._say(
            f"{note}Each point shows what the chain itself draws from at that step size, from its transition operator. "
            "Distances below 0.002 may be the grid’s own error."
        )

    def _take(self, point: ExactBias) -> None:
        if point.current and point.side not in self.points:
            self.points[point.side] = point
            self.listener(point.side, point)
        if point.side != self._subject.value or self._config is None:
            return
        if point.trouble:
            alpha = "" if point.alpha is None else f"α = {point.alpha:g}, "
            self._say(f"Not drawn: {alpha}ε = {point.step_size:.3g}. {point.trouble}")
            return
        self.figure.add(curves(self._config, point.side).index(point.alpha), point)

    def _tell(self, now: bool) -> None:
        """Say what the curves show, for those who do not see them."""
        assert self._config is not None
        alphas = curves(self._config, self._subject.value)
        self._legend.say(self.figure.summary(["" if alpha is None else f"α = {alpha:g}" for alpha in alphas]), now)

    def _on_subject(self, event: object) -> None:
        with pn.io.hold():
            self._reset()

    def _say(self, words: str) -> None:
        self._words.object = f'<p class="small muted">{escape(words)}</p>'


def _job(config: BiasConfig, subject: str) -> TaskJob:
    return TaskJob(tasks(config, subject))


def _question(config: BiasConfig) -> tuple[object, ...]:
    return config.target, config.left, config.right, config.step_decay


def curve_title(config: BiasConfig, side: str) -> tuple[str, list[tuple[str, str]]]:
    """Heading and legend of the panel of exact biases, see `legend_html`."""
    sampler = config.sampler(side)
    entries = []
    for color, alpha in zip(theme.LADDER, curves(config, side), strict=False):
        words = "distance to target" if alpha is None else f"α = {alpha:g}"
        entries.append((f'<path d="M0 7h26" stroke="{color}" stroke-width="2.5"/>', words))
    own = curves(config, side)[0]
    entries.append(
        (
            f'<path d="M0 7h26" stroke="{theme.PREDICTED}" stroke-width="2" stroke-dasharray="9 4"/>',
            "to prediction" if own is None else f"to prediction, α = {own:g}",
        )
    )
    entries.append(
        (f'<circle cx="13" cy="7" r="5" fill="none" stroke="{theme.TARGET}" stroke-width="2.5"/>', "these settings")
    )
    return f"Bias against ε: {sampler.label}, exact", entries
