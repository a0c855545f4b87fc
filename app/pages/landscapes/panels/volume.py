"""The panel "Volume scaling": how the volume of {K < ε} shrinks with ε, and λ and m read off it."""

from __future__ import annotations

from functools import partial
from html import escape

import numpy as np
from bokeh.models import ColumnDataSource, Range1d

from app.components.readouts import Numbers
from app.session.latest import LatestWork
from app.style import theme
from app.style.figures import house_figure
from app.style.layout import card, plotted, prose
from app.style.legend import HeardLegend
from app.style.numbers import UNKNOWN, exact, number
from llc_core import Planar, VolumeScaling, volume_scaling
from llc_core.references.volume import local_radius
from llc_core.sweeps.csv_tables import table_csv

HEIGHT = 300
EVERY = 3
"""Every third point of the curve is drawn."""
NOT_HERE = "The volume is worked out for the named landscapes: the valley of a formula or a drawing may lie anywhere."

CELLS = [
    {
        "key": "slope",
        "label": "fitted λ",
        "main": True,
        "tip": "Slope of log V against log ε, fitted together with the multiplicity.",
    },
    {"key": "exact", "label": "exact λ", "tip": "The learning coefficient at w0."},
    {"key": "fitted_m", "label": "fitted m", "tip": "The power of −log ε that fits best, plus one."},
    {"key": "exact_m", "label": "exact m", "tip": "The multiplicity at w0."},
]


class VolumePanel:
    """`found` is the curve of the present landscape, or None while it is worked out."""

    def __init__(self) -> None:
        self.found: VolumeScaling | None = None
        self._problem: Planar | None = None
        self._later = LatestWork()
        self.plot = house_figure(
            "volume_figure",
            HEIGHT,
            x_range=Range1d(-31, -1),
            y_range=Range1d(-16, 1),
            x_axis_label="log₁₀ ε",
            y_axis_label="log₁₀ V(ε)",
        )
        self.source = ColumnDataSource({"x": [], "y": []}, name="volume")
        self.fit = ColumnDataSource({"x": [], "y": []}, name="volume_fit")
        self.plot.line(
            "x", "y", source=self.fit, line_color=theme.LOCAL, line_width=2.5, line_dash=theme.DASHES["predicted"]
        )
        self.plot.scatter("x", "y", source=self.source, size=7, fill_color=theme.ESTIMATE, line_color=None)
        self.numbers = Numbers(items=CELLS, least="84px", sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        self._words = prose(margin=(8, 0, 0, 0))
        dots = "".join(f'<circle cx="{x}" cy="7" r="3" fill="{theme.ESTIMATE}"/>' for x in (4, 13, 22))
        dashes = f'<path d="M0 7h26" stroke="{theme.LOCAL}" stroke-width="2.5" stroke-dasharray="9 4"/>'
        entries = [(dots, "V(ε): share of parameters with K(w) < ε"), (dashes, "fit c·ε^λ·(−log ε)^(m − 1)")]
        self._head = HeardLegend()
        self._head.begin("Volume scaling", entries, "volume_figure")
        self.view = card(
            self._head.view,
            plotted(self.plot),
            self.numbers,
            self._words,
        )

    def show(self, problem: Planar) -> None:
        """The page shows this landscape now."""
        if not problem.model.on_axes:
            self._later.forget()
            self._problem, self.found = problem, None
            self.source.data = self.fit.data = {"x": np.zeros(0), "y": np.zeros(0)}
            self.numbers.values = dict.fromkeys(("slope", "exact", "fitted_m", "exact_m"), UNKNOWN)
            self._say(NOT_HERE)
            self._head.say("", now=True)
            return
        radius = local_radius(problem)
        question = (problem.model.name, str(problem.model.parameters), radius)
        self._problem = problem
        if not self._later.ask(partial(volume_scaling, problem), self._take, self._say, question, at_once=False):
            return
        self.found = None
        self._head.say("", now=True)
        self.source.data = self.fit.data = {"x": np.zeros(0), "y": np.zeros(0)}
        truth = problem.local_learning_coefficient
        assert truth is not None
        self.numbers.values = {
            "slope": UNKNOWN,
            "fitted_m": UNKNOWN,
            "exact": exact(truth.value),
            "exact_m": str(truth.multiplicity),
        }
        self._say(
            f"In a box of half width {radius:g} around w0. The fewer parameters are nearly perfect, the larger λ."
        )

    def poll(self) -> None:
        self._later.poll()

    def close(self) -> None:
        self._later.forget()

    def _take(self, found: VolumeScaling) -> None:
        self.found = found
        x, y = np.log10(found.epsilon), np.log10(found.volume)
        low = 5 * np.floor((y[0] - 0.5) / 5) if y[0] < -5 else np.floor(y[0])
        self.plot.y_range.update(start=low, end=0.5, reset_start=low, reset_end=0.5)
        self.source.data = {"x": x[::EVERY], "y": y[::EVERY]}
        self.fit.data = {"x": x, "y": np.log10(found.fitted)}
        self.numbers.values = {
            **self.numbers.values,
            "slope": f"{found.learning_coefficient:.4f}",
            "fitted_m": str(found.multiplicity),
        }
        self._head.say(summary(found), now=True)

    def _say(self, text: str) -> None:
        self._words.object = f'<p class="small muted">{escape(text)}</p>'


def summary(found: VolumeScaling) -> str:
    """The figure in a sentence. It lies on a card of answers."""
    epsilon, volume = np.log10(found.epsilon), np.log10(found.volume)
    small, large = int(epsilon.argmin()), int(epsilon.argmax())
    return (
        f"ε goes from 10 to the power {number(float(epsilon[large]))} to 10 to the power {number(float(epsilon[small]))}. The volume "
        f"falls from 10 to the power {number(float(volume[large]))} to 10 to the power {number(float(volume[small]))}. The fit has "
        f"λ = {found.learning_coefficient:.4f} and m = {found.multiplicity}."
    )


def volume_csv(found: VolumeScaling) -> str:
    """One row for each ε: the volume, its slope, the fit."""
    columns = (found.epsilon, found.volume, found.slope, found.fitted)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return table_csv(["epsilon", "volume", "slope", "fitted"], rows)
