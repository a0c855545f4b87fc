"""The curves of every page that estimates λ̂: losses and running estimate, each with its legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.estimates.figures import EstimateFigure, one_truth
from app.estimates.loss_figure import LossFigure
from app.runs.history import NewRows
from app.style.layout import plotted
from app.style.legend import legend, legend_html

LOSSES = [
    ("band", "middle 80%"),
    ("one_chain", "one chain; point: all"),
    ("marginal", "mean λ̂"),
    ("predicted", "Gamma(λ̂, 1)"),
]
ESTIMATE = [("estimate", "λ̂ ± 2 s.e."), ("recent", "moving average")]
EXACT_LINES = ("local", "global", "expected")
"""Kinds of lines that show exact answers."""
ONE_TRUTH = "exact λ"


class Curves:
    """losses, estimates: what a page's legends have beside the chains, and beside the estimate and its moving average."""

    def __init__(self, losses: Sequence[tuple[str, str]] = (), estimates: Sequence[tuple[str, str]] = ()):
        self.losses, self.estimates = LossFigure(), EstimateFigure()
        self._entries = (
            ("Loss traces", [*LOSSES, *losses], "losses"),
            ("Running estimate", [*ESTIMATE, *estimates], "estimates"),
        )
        self._visible, self._one_truth = True, False
        self._summaries = ["", ""]
        self._said = (0, 0, False)
        self.legends = [legend(*entries) for entries in self._entries]
        self.loss_parts = (self.legends[0], plotted(self.losses.plot, filling=True))
        self.estimate_parts = (self.legends[1], plotted(self.estimates.plot, filling=True))

    def reset_estimates(
        self,
        total_steps: int,
        burn_in: int,
        values: Mapping[str, float | None],
        around: Sequence[float] | None = None,
    ) -> None:
        """Empty the figure of the estimate, see `EstimateFigure.reset`; where two truths are one, the legend says so."""
        self.estimates.reset(total_steps, burn_in, values, around)
        self._one_truth = one_truth(values)
        self._summaries = ["", ""]
        self._write()

    def frame(self, total_steps: int, burn_in: int) -> None:
        """The run has been made longer; its rows come anew."""
        self.losses.frame(total_steps, burn_in)
        self.estimates.frame(total_steps, burn_in)

    def stream(self, rows: NewRows) -> None:
        """New rows of the run's log."""
        self.losses.stream(rows)
        self.estimates.stream(rows)

    def show_answers(self, visible: bool) -> None:
        """The legends name the exact answers, or do not."""
        self._visible = visible
        self.losses.show_answers(visible)
        self.estimates.show_answers(visible)
        self._summaries[1] = self.estimates.summary()
        self._write()

    def summarise(self, steps: int, total_steps: int, over: bool) -> None:
        """Say in words what the two figures show, for those who do not see them: at every tenth of a run, and at its end."""
        now = total_steps, steps * 10 // max(total_steps, 1), over
        if now != self._said:
            self._said = now
            self._summaries = [self.losses.summary(), self.estimates.summary()]
            self._write()

    def _write(self) -> None:
        for pane, (title, entries, figure), words in zip(self.legends, self._entries, self._summaries, strict=True):
            pane.object = legend_html(title, self._named(entries), figure, summary=words)

    def _named(self, entries: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        kept = [entry for entry in entries if self._visible or entry[0] not in EXACT_LINES]
        if self._one_truth:
            kept = [
                ("local", ONE_TRUTH) if kind == "local" else (kind, words) for kind, words in kept if kind != "global"
            ]
        return kept
