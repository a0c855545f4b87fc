"""The cards of "in or out": digits on their scale, histograms of the entropy, AUROC, calibration, and the table of scores."""

from __future__ import annotations

from html import escape

import numpy as np
import panel as pn

from app.pages.decisions.config import DecisionsConfig
from app.pages.decisions.figures.digits import (
    COLORS,
    AurocFigure,
    CalibrationFigure,
    EntropyFigure,
    ScaleFigure,
    levels_of,
)
from app.pages.decisions.job.digits import DigitsProgress, Scores
from app.pages.decisions.panels.play import block
from app.pages.decisions.scene import Digits, Scene
from app.pages.decisions.texts import EXPLAINED, scores_table
from app.sharing.exact_answers import Withheld
from app.style import theme
from app.style.layout import arranged, card, pair, plotted, prose
from app.style.legend import HeardLegend, legend_html

IN, OUT = block(COLORS["inside"], 0.5), block(COLORS["outside"], 0.5)


class OutsidePanel:
    def __init__(self) -> None:
        self.scale, self.entropies, self.auroc = ScaleFigure(), EntropyFigure(), AurocFigure()
        self.calibration = CalibrationFigure()
        self.table = prose(theme.TABLE)
        self._digits: Digits | None = None
        self._scores: dict[str, Scores] = {}
        self.answers = True
        self._above = self._legend(
            "From sure to unsure", [(IN, "0 to 4, learned"), (OUT, "5 to 9, never shown")], "scale"
        )
        histograms = card(
            self._legend("How unsure", [(IN, "0 to 4, held out"), (OUT, "5 to 9")], "entropies"),
            plotted(self.entropies.plot),
        )
        self._auroc_legend = HeardLegend()
        curves = card(self._auroc_legend.view, plotted(self.auroc.plot))
        right = card(
            self._legend(
                "As right as it says?",
                [("estimate", "digits 0 to 4, held out"), ("expected", "calibrated")],
                "calibration",
            ),
            plotted(self.calibration.plot),
        )
        note = prose()
        note.object = "<h2>What the numbers say</h2>" + "".join(
            f"<p class='small'>{escape(each)}</p>" for each in EXPLAINED
        )
        self._later = [pair(histograms, curves), card(self.table), pair(right, card(note))]
        self._telling = Withheld(*self._later)
        self._named = self._above.object
        self.view = arranged(theme.STACK, card(self._above, plotted(self.scale.plot)))

    def complete(self) -> None:
        """Show what lies below the scale: a page that is opened has its first picture sooner without."""
        if self._later:
            self.view.extend(self._later)
            self._later = []

    def _legend(self, title: str, entries: list[tuple[str, str]], figure: str) -> pn.pane.HTML:
        pane = prose(theme.LEGEND)
        pane.object = legend_html(title, entries, figure)
        return pane

    def reset(self, config: DecisionsConfig, scene: Scene) -> None:
        assert scene.digits is not None
        digits = self._digits = scene.digits
        own = config.outside
        self._scores = {"one": Scores.of(digits.one, digits), "linear": Scores.of(digits.linear, digits)}
        self.scale.reset(digits)
        self.entropies.show(digits.one)
        self.calibration.show(digits.one, digits)
        self._auroc_legend.begin("AUROC as draws come in", AUROC_LEGEND, "auroc")
        self.auroc.reset(levels_of(digits), own.chains * ((own.steps - own.burn_in) // own.every))
        self.draw_words(config, None)

    def stream(self, rows: np.ndarray) -> None:
        """rows: [T, 4], see `DrawsLog`."""
        self.auroc.stream(rows)
        if len(rows):
            draws, entropy, information = rows[-1, :3]
            words = f"After {draws:,.0f} draws AUROC is {entropy:.3f} by the entropy and {information:.3f} by the disagreement."
            self._auroc_legend.say(f"{words} One net has {self.one.auroc:.3f}.", draws >= self.auroc.plot.x_range.end)

    @property
    def one(self) -> Scores:
        return self._scores["one"]

    def draw(self, seen: DigitsProgress) -> None:
        if seen.said is not None and self._digits is not None:
            self.scale.show(seen.said)
            self.entropies.show(seen.said)

    def draw_words(self, config: DecisionsConfig, seen: DigitsProgress | None) -> None:
        now = None if seen is None else seen.scores
        draws = 0 if seen is None else seen.draws
        rows = [("one net", self.one), (f"{draws:,} draws", now), ("logistic regression", self._scores["linear"])]
        self.table.object = scores_table(rows, self.answers)
        if seen is not None and seen.said is not None and self._digits is not None:
            self.calibration.show(seen.said, self._digits)

    def show_answers(self, visible: bool) -> None:
        """Which digits are which is not even sent while it is to be guessed."""
        self.answers = visible
        self.scale.show_answers(visible)
        self._above.object = self._named if visible else ""
        self._telling.show(visible)


def _dashed(color: str) -> str:
    return f'<path d="M0 7h26" stroke="{color}" stroke-width="2.5" stroke-dasharray="9 4"/>'


AUROC_LEGEND = [
    ("estimate", "entropy"),
    (_dashed(theme.GOOD), "disagreement"),
    (_dashed(theme.MARK), "one net"),
    ("floor", "logistic regression"),
]
