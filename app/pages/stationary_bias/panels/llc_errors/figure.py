"""The errors of λ̂, problem by problem."""

from __future__ import annotations

import math
import textwrap

import numpy as np
from bokeh.models import ColumnDataSource, FactorRange, NoOverlap, Range1d, Span, Whisker

from app.pages.stationary_bias.panels.llc_errors.results import percent
from app.style import theme
from app.style.figures import house_figure, signed_percent

WIDEST = 22
"""Letters of a line of a method's name: on a phone whole names took two thirds of the picture."""


def in_lines(name: str) -> str:
    return "\n".join(textwrap.wrap(name, WIDEST, break_on_hyphens=False, break_long_words=False))


class ErrorFigure:
    """Relative errors, a row of marks for each method."""

    def __init__(self, methods: list[str]):
        self.source = ColumnDataSource(
            {"row": [], "error": [], "low": [], "high": [], "problem": []}, name="llc_errors"
        )
        self._x = Range1d(-0.5, 0.5)
        self.plot = house_figure(
            "llc_error_figure",
            76 + 34 * len(methods),
            x_range=self._x,
            y_range=FactorRange(*map(in_lines, reversed(methods))),
            x_axis_label="relative error of λ̂",
            tools="pan,xbox_zoom,reset,save,hover",
            tooltips=[("problem", "@problem"), ("error", "@error{0.0%}")],
            min_border_left=6,
        )
        self.plot.xgrid.update(grid_line_color="#e5e5e5", grid_line_alpha=0.5)
        self.plot.xaxis.formatter = signed_percent()
        self.plot.xaxis.ticker.desired_num_ticks = 4  # type: ignore[attr-defined]
        self.plot.xaxis.major_label_policy = NoOverlap(min_distance=6)
        self.plot.add_layout(Span(dimension="height", location=0, line_color=theme.TARGET, line_width=2))
        whisker = Whisker(
            base="row",
            lower="low",
            upper="high",
            dimension="width",
            source=self.source,
            line_color=theme.ESTIMATE,
            line_alpha=0.6,
        )
        for head in (whisker.upper_head, whisker.lower_head):
            head.size = 0
        self.plot.add_layout(whisker)
        self.plot.scatter("error", "row", source=self.source, size=6, color=theme.ESTIMATE, alpha=0.8)

    def summary(self) -> str:
        """The figure in sentences; empty while there is nothing to see."""
        errors: dict[str, list[float]] = {}
        for (method, _), error in zip(self.source.data["row"], self.source.data["error"], strict=True):
            errors.setdefault(method.replace("\n", " "), []).append(float(error))
        return " ".join(
            f"{method}: errors of {len(found)} problems from {percent(min(found))} to {percent(max(found))}, "
            f"median {percent(float(np.median(found)))}."
            for method, found in errors.items()
        )

    def show(self, found: dict[str, list[tuple[int, float, float]]], reference: str) -> None:
        rows, values, spreads, problems = [], [], [], []
        for method, entries in found.items():
            for i, (problem, error, se) in enumerate(entries):
                if math.isfinite(error):
                    rows.append((in_lines(method), 0.5 * ((i + 0.5) / len(entries) - 0.5)))
                    values.append(error)
                    spreads.append(2 * se if math.isfinite(se) else 0.0)
                    problems.append(problem)
        error, spread = np.array(values), np.array(spreads)
        self.source.data = {
            "row": rows,
            "error": error,
            "low": error - spread,
            "high": error + spread,
            "problem": problems,
        }
        self.plot.xaxis.axis_label = f"relative error of λ̂\nagainst {reference}"  # two lines fit a phone
        if len(error):
            low, high = (float(np.quantile(error, q)) for q in (0.02, 0.98))
            room = 0.15 * max(high - low, 0.1)
            low, high = min(low - room, -0.05), max(high + room, 0.05)
            self._x.update(start=low, end=high, reset_start=low, reset_end=high)
