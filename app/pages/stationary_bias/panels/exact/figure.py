"""The bias of the chain itself against ε."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, Range1d

from app.pages.stationary_bias.figures import DISTANCE_HEIGHT, LOWEST
from app.pages.stationary_bias.panels.exact.job import STEP_SIZES, ExactBias
from app.style import theme
from app.style.figures import house_figure
from app.style.numbers import number

LEAST, MOST = STEP_SIZES[0] / 1.25, STEP_SIZES[-1] * 1.25
COLUMNS = ("step", "to_target", "to_limit")


class BiasFigure:
    """Bias of the chain itself against ε, a curve for each α, from the exact operator; the current settings marked."""

    def __init__(self) -> None:
        self._y = Range1d(LOWEST, 1.0)
        self.plot = house_figure(
            "bias_curves",
            DISTANCE_HEIGHT,
            x_axis_type="log",
            y_axis_type="log",
            x_range=Range1d(LEAST, MOST),
            y_range=self._y,
            x_axis_label="step size ε",
            y_axis_label="total variation",
        )
        self._sources: list[ColumnDataSource] = []
        for i, color in enumerate(theme.LADDER):
            source = ColumnDataSource({name: [] for name in COLUMNS}, name=f"bias_curve_{i}")
            width = 3 if i == 0 else 1.8
            self.plot.line("step", "to_target", source=source, line_color=color, line_width=width)
            self.plot.scatter("step", "to_target", source=source, size=5, color=color)
            self._sources.append(source)
        self.plot.line(
            "step", "to_limit", source=self._sources[0], line_color=theme.PREDICTED, line_width=2, line_dash=[10, 5]
        )
        self._mark = ColumnDataSource({"step": [], "value": []}, name="bias_mark")
        self.plot.scatter(
            "step", "value", source=self._mark, size=15, fill_color=None, line_color=theme.TARGET, line_width=3
        )

    def reset(self, own_step: float) -> None:
        for source in self._sources:
            source.data = {name: np.zeros(0) for name in COLUMNS}
        self._mark.data = {"step": np.zeros(0), "value": np.zeros(0)}
        low, high = min(LEAST, own_step / 1.25), max(MOST, own_step * 1.25)
        self.plot.x_range.update(start=low, end=high, reset_start=low, reset_end=high)
        self._y.update(start=1e-2, end=1.0, reset_start=1e-2, reset_end=1.0)

    def summary(self, names: Sequence[str]) -> str:
        """The curves in sentences; empty while there is nothing to see. names: of the curves, "" for one that needs none."""
        said = []
        if len(self._mark.data["step"]):
            step, value = (float(self._mark.data[name][0]) for name in ("step", "value"))
            said.append(
                f"At the step size set here, {number(step, 2)}, the chain is exactly {number(value, 2)} from the target."
            )
        for source, name in zip(self._sources, names, strict=False):
            steps, values = (np.asarray(source.data[column], float) for column in COLUMNS[:2])
            if len(steps) > 1:
                said.append(
                    f"{f'With {name} it' if name else 'It'} is {number(float(values[0]), 2)} at step size "
                    f"{number(float(steps[0]), 2)} and {number(float(values[-1]), 2)} at {number(float(steps[-1]), 2)}."
                )
        return " ".join(said)

    def add(self, curve: int, point: ExactBias) -> None:
        """curve: its place in the ladder of colours."""
        data = self._sources[curve].data
        values = [point.step_size, point.to_target, point.to_limit]
        columns = {name: np.append(data[name], value) for name, value in zip(COLUMNS, values, strict=True)}
        order = np.argsort(columns["step"])
        self._sources[curve].data = {name: column[order] for name, column in columns.items()}
        if point.current:
            self._mark.data = {"step": [point.step_size], "value": [point.to_target]}
        smallest = min((v for v in values[1:] if math.isfinite(v) and v > 0), default=1.0)
        if smallest < self._y.start:
            low = max(LOWEST, 10.0 ** math.floor(math.log10(smallest)))
            self._y.update(start=low, reset_start=low)
