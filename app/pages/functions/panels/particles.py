"""The card of the torus: where chains are on the circle, and where repelling particles (W-SGLD) have ended. An answer."""

from __future__ import annotations

from html import escape

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker

from app.pages.functions.job import FunctionsProgress
from app.pages.functions.scene import Scene
from app.style import theme
from app.style.figures import house_figure
from app.style.layout import card, plotted, prose
from app.style.legend import HeardLegend
from app.style.numbers import number

LANGEVIN, BY_WEIGHTS, BY_FUNCTIONS = "Langevin", "W-SGLD, weights", "W-SGLD, functions"
ROWS = {BY_FUNCTIONS: theme.SIDES["right"], BY_WEIGHTS: theme.LOCAL, LANGEVIN: theme.ESTIMATE}
"""From below."""
REACH, BOTTOM = 0.4, 0.5
"""How far the figure reaches to both sides, and where its density begins."""
TOLD = {LANGEVIN: "of the chains", BY_WEIGHTS: "of particles that repel as weights", BY_FUNCTIONS: "as functions"}
DOT = '<circle cx="13" cy="7" r="5" fill="{}"/>'
LEGEND = [
    (DOT.format(theme.ESTIMATE), "Langevin chains, now"),
    (DOT.format(theme.LOCAL), "particles that repel as weights"),
    (DOT.format(theme.SIDES["right"]), "particles that repel as functions"),
    ("exact", "exact density"),
]
ABOUT = (
    "As many particles as chains, from the same starts, without noise. As weights, particles in different "
    "cells do not feel one another. Each falls to the mode of its own cell. As functions they are then one "
    "point, but for the few that share a cell. With the distance on the circle they keep the width."
)


class ParticlesPanel:
    """view: shown for the torus alone, and never while answers are hidden."""

    def __init__(self) -> None:
        self.plot = house_figure(
            "particles", 200, x_range=(-REACH, REACH), y_range=(0.4, 3.6), x_axis_label="phase w, modulo 1"
        )
        self.plot.yaxis.ticker = FixedTicker(ticks=list(range(1, len(ROWS) + 1)))
        self.plot.yaxis.major_label_overrides = {k + 1: name for k, name in enumerate(ROWS)}
        self.density = ColumnDataSource({"x": [], "y": []}, name="particles_exact")
        self.plot.line("x", "y", source=self.density, line_color=theme.EXACT, line_width=2.5, line_dash=[2, 4])
        self.dots = {}
        for name, color in ROWS.items():
            source = self.dots[name] = ColumnDataSource({"x": [], "y": []}, name=f"particles {name}")
            self.plot.scatter("x", "y", source=source, size=9, fill_alpha=0.45, color=color)
        self._head = HeardLegend()
        words = prose(margin=(6, 0, 0, 0))
        words.object = f'<p class="small">{escape(ABOUT)}</p>'
        self.view = card(self._head.view, plotted(self.plot), words)
        self.view.visible = False

    def reset(self, scene: Scene) -> None:
        self.view.visible = scene.case is not None and scene.case.rival is not None
        self._head.begin("Chains and repelling particles", LEGEND, "particles")
        for source in (self.density, *self.dots.values()):
            source.data = {"x": [], "y": []}
        if self.view.visible and scene.case is not None and scene.case.law is not None:
            points, shares = scene.case.law()
            inside = np.abs(points[:, 0]) < REACH
            height = shares[inside] / shares.max()
            self.density.data = {"x": points[inside, 0], "y": BOTTOM + 3 * height}

    def draw(self, weights: np.ndarray | None, seen: FunctionsProgress | None, over: bool = False) -> None:
        """weights: [C, 1] of the chains at the newest iteration.  over: whether the run is."""
        if not self.view.visible:
            return
        rival = seen.rival if seen is not None else None
        places = {
            LANGEVIN: None if weights is None else wrap_all(weights[:, 0]),
            BY_WEIGHTS: None if rival is None else rival.by_weights,
            BY_FUNCTIONS: None if rival is None else rival.by_functions,
        }
        for row, name in enumerate(ROWS, 1):
            found = places[name]
            if found is not None:
                self.dots[name].data = {"x": found, "y": np.full(len(found), float(row))}
        self._head.say(self.summary(), over)

    def summary(self) -> str:
        """The figure in sentences; empty while there is nothing to see."""
        spreads = [
            f"{words} {number(float(np.std(self.dots[name].data['x'])), 2)}"
            for name, words in TOLD.items()
            if len(self.dots[name].data["x"])
        ]
        x, height = (np.asarray(self.density.data[name], float) for name in ("x", "y"))
        if not spreads or not len(x):
            return ""
        share = height - BOTTOM
        mean = float((x * share).sum() / share.sum())
        exact = float(np.sqrt((np.square(x - mean) * share).sum() / share.sum()))
        return f"Standard deviation of the phase: {', '.join(spreads)}, exact {number(exact, 2)}."


def wrap_all(points: np.ndarray) -> np.ndarray:
    """Points of the line on the circle of length 1."""
    return np.asarray(points - np.round(points))
