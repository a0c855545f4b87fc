"""Figures of the page "Your network": training and λ̂ on the same axis of steps, and the heat map of a calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    FactorRange,
    HoverTool,
    LinearColorMapper,
    NumeralTickFormatter,
    Range1d,
    Span,
    Whisker,
)

from app.style import theme
from app.style.figures import house_figure, nice_above
from app.style.numbers import number, number_text
from llc_core import Estimate
from llc_core.networks import Training
from llc_core.studies.calibration.search import Calibration

CURVE_HEIGHT, MAP_HEIGHT = 210, 330
NAMES = ("x", "y", "llc", "alpha", "text", "ink", "reason", "frame")
"""Columns of the map's cells."""
PALE_INK = "#7d838c"
CLEAR, PALE = 0.85, 0.15
"""How opaque cells are that are fine, and that are refused."""


class TrainingFigures:
    """`losses`: of each checkpoint, trained on and held out.  `llc`: λ̂ ± 2 s.e. there. They share their x axis."""

    def __init__(self) -> None:
        self._x, self._loss, self._llc = Range1d(0, 1), Range1d(0, 1), Range1d(0, 1)
        self.source = ColumnDataSource({"step": [], "train": [], "test": []}, name="training")
        self.found = ColumnDataSource({"step": [], "llc": [], "low": [], "high": [], "words": []}, name="over_training")
        self.losses = house_figure(
            "training_figure",
            CURVE_HEIGHT,
            x_range=self._x,
            y_range=self._loss,
            y_axis_label="loss per row",
            min_border=8,
        )
        self.losses.xaxis.visible = False
        for column, kind in (("train", "left"), ("test", "right")):
            color = theme.SIDES[kind]
            self.losses.line("step", column, source=self.source, line_width=2.5, line_color=color)
            self.losses.scatter("step", column, source=self.source, size=6, color=color)
        self.llc = house_figure(
            "over_training_figure",
            CURVE_HEIGHT,
            x_range=self._x,
            y_range=self._llc,
            x_axis_label="training steps",
            y_axis_label="estimate λ̂",
            min_border=8,
        )
        self._draw_estimates()
        self._marks = []
        for plot in (self.losses, self.llc):
            plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]a")
            mark = Span(dimension="height", location=None, line_color=theme.MARK, line_width=2, line_dash=[2, 4])
            plot.add_layout(mark)
            self._marks.append(mark)

    def _draw_estimates(self) -> None:
        whisker = Whisker(
            base="step", lower="low", upper="high", source=self.found, line_color=theme.ESTIMATE, line_width=2
        )
        for head in (whisker.upper_head, whisker.lower_head):
            head.update(size=8, line_color=theme.ESTIMATE, line_width=2)
        self.llc.add_layout(whisker)
        self.llc.line("step", "llc", source=self.found, line_color=theme.ESTIMATE, line_width=1.5, line_alpha=0.6)
        points = self.llc.scatter("step", "llc", source=self.found, size=10, color=theme.ESTIMATE)
        self.llc.add_tools(
            HoverTool(renderers=[points], tooltips=[("after", "@step steps"), ("λ̂", "@llc{0.00}"), ("", "@words")])
        )

    def show(self, training: Training | None) -> None:
        kept = () if training is None else training.checkpoints
        steps = np.array([c.step for c in kept], dtype=float)
        train, test = (np.array([getattr(c, name) for c in kept]) for name in ("train_loss", "test_loss"))
        self.source.data = {"step": steps, "train": train, "test": test}
        if len(kept):
            room = 0.03 * steps[-1]
            self._x.update(start=-room, end=steps[-1] + room, reset_start=-room, reset_end=steps[-1] + room)
            high = nice_above(1.05 * float(max(train.max(), test.max())))
            self._loss.update(start=0, end=high, reset_start=0, reset_end=high)

    def summary(self) -> str:
        """Both figures in a sentence each; empty while there is nothing to see."""
        data, found = self.source.data, self.found.data
        if not len(data["step"]):
            return ""
        said = (
            f"From step {data['step'][0]:,.0f} to {data['step'][-1]:,.0f} the training loss falls from {number(data['train'][0])} to "
            f"{number(data['train'][-1])}. On held-out data it falls from {number(data['test'][0])} to {number(data['test'][-1])}."
        )
        if not len(found["step"]):
            return said
        first, last = ((number(found["llc"][k]), f"{found['step'][k]:,.0f}") for k in (0, -1))
        return f"{said} λ̂ is {first[0]} at step {first[1]} and {last[0]} at step {last[1]}."

    def mark(self, step: int | None) -> None:
        for span in self._marks:
            span.location = step

    def show_found(self, found: Sequence[tuple[int, Estimate]]) -> None:
        rows = sorted(
            (step, e.llc, e.llc_se if math.isfinite(e.llc_se) else 0.0, str(e.converged)) for step, e in found
        )
        steps, llc, se = (np.array([row[i] for row in rows], dtype=float) for i in range(3))
        words = [row[3] if len(row[3]) < 90 else row[3][:87] + "…" for row in rows]
        self.found.data = {"step": steps, "llc": llc, "low": llc - 2 * se, "high": llc + 2 * se, "words": words}
        finite = np.isfinite(llc)
        if finite.any():
            low, high = float((llc - 2 * se)[finite].min()), float((llc + 2 * se)[finite].max())
            room = 0.12 * max(high - low, abs(high), 1e-9)
            low = min(0.0, low - room) if low < 0 else 0.0
            self._llc.update(start=low, end=high + room, reset_start=low, reset_end=high + room)


class CalibrationFigure:
    """λ̂ by step size (rows) and localisation (three columns, which fit a phone). Refused cells are pale, the pick is framed."""

    def __init__(self) -> None:
        self._x, self._y = FactorRange(), FactorRange()
        self.source = ColumnDataSource({name: [] for name in NAMES}, name="calibration")
        self._colors = LinearColorMapper(palette="Viridis256", low=0, high=1, nan_color="#8a8f98")
        self.plot = house_figure(
            "calibration_figure",
            MAP_HEIGHT,
            x_range=self._x,
            y_range=self._y,
            x_axis_label="localisation γ",
            y_axis_label="step size ε",
            tools="save",
        )
        cells = self.plot.rect(
            "x", "y", 0.98, 0.96, source=self.source, fill_color={"field": "llc", "transform": self._colors},
            fill_alpha="alpha", line_color=theme.MARK, line_width="frame",
        )  # fmt: skip
        self.plot.text(
            "x",
            "y",
            "text",
            source=self.source,
            text_color="ink",
            text_align="center",
            text_baseline="middle",
            text_font_size="12px",
        )
        self.plot.add_tools(
            HoverTool(renderers=[cells], tooltips=[("ε", "@y"), ("γ", "@x"), ("λ̂", "@text"), ("", "@reason")])
        )
        self.plot.add_layout(
            ColorBar(color_mapper=self._colors, width=10, label_standoff=6, background_fill_alpha=0), "right"
        )

    def show(self, found: Calibration) -> None:
        """Draw the map at the nβ of the pick, or at the first nβ where nothing was picked."""
        b = found.chosen[2] if found.chosen is not None else 0
        steps, gammas = [number_text(e) for e in found.step_size], [number_text(g) for g in found.localization]
        self._x.factors, self._y.factors = gammas, steps
        good = found.llc[:, :, b][found.ok[:, :, b]]
        if not good.size:
            good = found.llc[:, :, b][np.isfinite(found.llc[:, :, b])]
        low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 1.0)
        high = high if high > low else low + 1
        self._colors.update(low=low, high=high)
        rows = []
        for e, y in enumerate(steps):
            for g, x in enumerate(gammas):
                llc, fine = float(found.llc[e, g, b]), bool(found.ok[e, g, b])
                text = f"{llc:.3g}" if math.isfinite(llc) else "diverged"
                # The low end of the colour scale is dark. Pale cells show the page's background, which may be light or dark.
                ink = PALE_INK if not fine else "#ffffff" if llc < low + 0.6 * (high - low) else "#000000"
                frame = 4 if found.chosen is not None and found.chosen[:2] == (e, g) else 0
                rows.append((x, y, llc, CLEAR if fine else PALE, text, ink, str(found.reason[e, g, b]), frame))
        self.source.data = {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}

    def summary(self) -> str:
        """The map in a sentence; empty while there is nothing to see."""
        data = self.source.data
        good = [llc for llc, alpha in zip(data["llc"], data["alpha"], strict=True) if alpha > PALE]
        if not len(data["llc"]):
            return ""
        if not good:
            return f"All of {len(data['llc'])} settings are refused."
        return (
            f"{len(good)} of {len(data['llc'])} settings are not refused, and there λ̂ is between {number(min(good))} "
            f"and {number(max(good))}."
        )
