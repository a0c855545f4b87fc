"""The column of one sampler: its settings, its histogram and metric, and what they say."""

from __future__ import annotations

from html import escape

import panel as pn

from app.components.readouts import Numbers
from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.controls.sampler import SamplerPanel
from app.pages.stationary_bias.figures import DistributionFigure, Frame, MetricFigure
from app.pages.stationary_bias.job import BiasEstimate
from app.pages.stationary_bias.panels.exact.job import ExactBias
from app.pages.stationary_bias.panels.side.laws import burn_in_note, explanation, formula, verdict
from app.pages.stationary_bias.panels.side.readouts import exact_values, readout_values, readouts
from app.pages.stationary_bias.scene import Scene
from app.pages.stationary_bias.texts import FIRST_SHOWN, WORDS
from app.runs.job import State
from app.style import theme
from app.style.formula import displayable
from app.style.layout import card, plotted, prose
from app.style.legend import Heard


class Side:
    """What one sampler's column shows."""

    def __init__(self, side: str, frame: Frame):
        self.side = side
        self._told = True
        self._scene: Scene | None = None
        self.panel = SamplerPanel(side)
        self.law, self.metric = DistributionFigure(side, frame), MetricFigure(side, frame)
        self.law.show_only(FIRST_SHOWN)
        self.numbers = Numbers(items=readouts(side), sizing_mode="stretch_width", margin=(10, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, margin=(4, 0, 0, 0))
        """Straight below the histogram, on the first screen of a small window."""
        self.formula = pn.pane.LaTeX(
            "", renderer="katex", sizing_mode="stretch_width", margin=(10, 0, 0, 0), styles={"overflow-x": "auto"}
        )
        self.about = prose(margin=(4, 0, 0, 0))
        self._heard = Heard(f"law_{side} metric_figure_{side}")
        self._title = prose("h2 { margin: 0; }")
        self.view = card(
            self._title,
            plotted(self.law.plot),
            self.verdict,
            plotted(self.metric.plot, margin=(8, 0, 0, 0)),
            self.panel.further,
            self.formula,
            self.about,
            self.numbers,
            self._heard.view,
        )

    def show_answers(self, visible: bool) -> None:
        """Show what tells the distribution, or do not even send it."""
        self._told = visible
        self.law.show_answers(visible)
        self._tell(True)
        if self._scene is not None:
            self._write(self._scene)
        if not visible:
            self.verdict.object = ""

    def reset(self, scene: Scene) -> None:
        self._scene = scene
        self.law.reset(scene)
        self.metric.reset(scene)
        self._write(scene)

    def _write(self, scene: Scene) -> None:
        prediction = scene.side(self.side)
        name = prediction.sampler.label or prediction.sampler.name
        self._title.object = f"<h2>{WORDS[self.side]}: {escape(name)}</h2>"
        self.formula.object = displayable(formula(prediction)) if self._told else ""
        self.about.object = f"<p>{escape(explanation(prediction))}</p>" if self._told else ""

    def _tell(self, now: bool) -> None:
        self._heard.say(f"{self.law.summary()} {self.metric.summary()}".strip(), now)

    def show_words(self, config: BiasConfig, scene: Scene, state: State, exact: ExactBias | None) -> None:
        estimate: BiasEstimate | None = state.estimate
        measured = None if estimate is None else estimate.side(self.side)
        prediction = scene.side(self.side)
        masses = None if state.snapshot is None else state.snapshot.side(self.side).masses()
        values = {
            **readout_values(self.side, prediction, scene, measured),
            **exact_values(self.side, exact, None if config.step_decay else masses),
        }
        self.numbers.values = {key: text for key, text in values.items() if key not in self.numbers.withheld}
        self._tell(state.status != "running")
        if not self._told:
            return
        tone, words = verdict(config, prediction, measured)
        note = burn_in_note(config, prediction)
        note = f' <span class="note">{escape(note)}</span>' if note else ""
        # A screen reader reads this when the run rests; while numbers change it would never stop talking.
        live = "off" if state.status == "running" else "polite"
        self.verdict.object = f'<p class="{tone}" aria-live="{live}"><b>{WORDS[self.side]} panel:</b> {words}{note}</p>'
