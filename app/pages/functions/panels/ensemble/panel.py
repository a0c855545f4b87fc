"""The card of the ensemble: √KSD against iterations, beside that of exact draws."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource

from app.pages.functions.panels.ensemble.job import MEMBERS, DistanceAt, EnsembleProgress, build, places_of
from app.pages.functions.scene import Scene
from app.runs.job import Job, State, Status
from app.runs.manager import background
from app.session.job_panel import JobPanel
from app.style import theme
from app.style.figures import house_figure
from app.style.layout import card, plotted, prose
from app.style.legend import legend
from llc_core.sweeps.csv_tables import table_csv

START = 0.5
"""Where the starts of the chains are drawn on the logarithmic axis."""
LEGEND = [
    ("estimate", f"{MEMBERS} chains, at one iteration"),
    ("exact", f"{MEMBERS} draws of the exact posterior"),
]
ABOUT = (
    "The kernel Stein discrepancy measures how far all chains together, at one iteration, are from the "
    "posterior. It needs only the slope of the exact density. The ensemble may arrive long before single "
    "chains have mixed, which is what R-hat asks. It is blind to modes far away that no chain has found."
)
INVITATION = f"Runs {MEMBERS} chains of the sampler that is set, from the prior, and compares their functions with the exact ones."


class EnsemblePanel(JobPanel):
    """view: shown where there is an exact answer to compare with, and never while answers are hidden."""

    described = "ensemble"

    def __init__(self) -> None:
        super().__init__("Measure the ensemble", INVITATION, runs=background, variant="outlined")
        self._scene: Scene | None = None
        self.rows: list[DistanceAt] = []
        self.floor: float | None = None
        self.plot = house_figure(
            "ensemble", 240, x_axis_type="log", y_axis_type="log", x_axis_label="iterations", y_axis_label="√KSD"
        )
        self.found = ColumnDataSource({"x": [], "y": []}, name="ensemble")
        self.exact = ColumnDataSource({"x": [], "y": []}, name="ensemble_exact")
        self.plot.line("x", "y", source=self.exact, line_color=theme.EXACT, line_width=2.5, line_dash=[2, 4])
        self.plot.line("x", "y", source=self.found, line_color=theme.ESTIMATE, line_width=2)
        self.plot.scatter("x", "y", source=self.found, size=7, fill_color=theme.ESTIMATE, line_color=None)
        self._figure = plotted(self.plot)
        about = prose(margin=(6, 0, 0, 0))
        about.object = f'<p class="small">{escape(ABOUT)}</p>'
        self.view = card(
            legend("When are all chains together right?", LEGEND, "ensemble"),
            self.bar(self.words, margin=(0, 0, 8, 0)),
            self._figure,
            about,
        )

    def reset(self, scene: Scene) -> None:
        """Another run is on the page: what was measured was not of it."""
        if self._handle is not None:
            self.stop()
        self._scene, self.rows, self.floor = scene, [], None
        self._draw()
        self.say(INVITATION)
        self._show()

    def begin(self) -> Callable[[], Job] | None:
        assert self._scene is not None
        self.rows, self.floor = [], None
        self._draw()
        self.say("The exact posterior is being worked out.")
        return build(self._scene)

    def receive(self, state: State, items: list[Any]) -> None:
        self.rows += items
        progress: EnsembleProgress | None = state.snapshot
        if progress is not None:
            self.floor = progress.floor
        if self.rows:
            self._draw()
            assert self._scene is not None
            at = ", ".join(f"{x:.2f}" for x in places_of(self._scene)).replace("-", "−")
            last, over = self.rows[-1], state.status is Status.FINISHED
            self.say(
                f"√KSD {last.root:.3f} after {last.iteration:,} iterations{'' if over else ' so far'}, of exact draws {self.floor:.3f}; "
                f"functions are compared at x = {at}."
            )

    def csv(self) -> str:
        """One row for each iteration; ValueError before the first."""
        if not self.rows:
            raise ValueError("Nothing is measured yet; press “Measure the ensemble”.")
        return table_csv(
            ["iteration", "root_ksd", "exact_draws"], [(r.iteration, r.root, self.floor) for r in self.rows]
        )

    def _show(self) -> None:
        scene = self._scene
        self.view.visible = scene is not None and scene.network is not None and scene.network.likelihood == "gaussian"

    def _draw(self) -> None:
        self._figure.visible = bool(self.rows)  # an empty figure says nothing
        x = np.array([max(START, row.iteration) for row in self.rows])
        self.found.data = {"x": x, "y": np.array([row.root for row in self.rows])}
        ends = [] if self.floor is None or not self.rows else [START, float(x[-1])]
        self.exact.data = {"x": ends, "y": [self.floor] * len(ends)}
