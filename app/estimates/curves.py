"""The curves of every page that estimates λ̂: losses and running estimate, each with its legend."""

from __future__ import annotations

from collections.abc import Sequence

from app.estimates.figures import EstimateFigure, LossFigure
from app.runs.history import NewRows
from app.style.layout import plotted
from app.style.legend import legend, legend_html

CHAINS = ("chains", "nβ (L(w) − L(w₀)) of each chain")
ESTIMATE = [("estimate", "λ̂ ± 2 s.e."), ("recent", "moving average")]
EXACT_LINES = ("local", "global", "expected")
"""Kinds of lines that show exact answers."""


class Curves:
    """losses, estimates: what a page's legends have beside the chains, and beside the estimate and its moving average."""

    def __init__(self, losses: Sequence[tuple[str, str]] = (), estimates: Sequence[tuple[str, str]] = ()):
        self.losses, self.estimates = LossFigure(), EstimateFigure()
        self._entries = (
            ("Loss traces", [CHAINS, *losses], "losses"),
            ("Running estimate", [*ESTIMATE, *estimates], "estimates"),
        )
        self.legends = [legend(*entries) for entries in self._entries]
        self.loss_parts = (self.legends[0], plotted(self.losses.plot))
        self.estimate_parts = (self.legends[1], plotted(self.estimates.plot))

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
        for pane, (title, entries, figure) in zip(self.legends, self._entries, strict=True):
            kept = [entry for entry in entries if visible or entry[0] not in EXACT_LINES]
            pane.object = legend_html(title, kept, figure)
