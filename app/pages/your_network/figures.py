"""Figures of the page "Your network": training, λ̂ and ν̂ on the same axis of steps, and the heat map of a calibration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

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

CURVE_HEIGHT, MAP_HEIGHT = 180, 330
ESTIMATED = {"llc": "λ̂", "nu": "ν̂"}
FOUND = ("step", "words", *(name + end for name in ESTIMATED for end in ("", "_low", "_high", "_fill")))
"""Columns of what was estimated over training."""
NAMES = ("x", "y", "llc", "alpha", "text", "ink", "reason", "frame")
"""Columns of the map's cells."""
PALE_INK = "#7d838c"
CLEAR, PALE = 0.85, 0.15
"""How opaque cells are that are fine, and that are refused."""


class TrainingFigures:
    """Of one optimiser, and of another one beside it: `losses` trained on and held out, `llc` and `nu` with two errors.

    They share their x axis. A dot is hollow where the number is not trusted, or its error is not known.
    """

    def __init__(self) -> None:
        self._x, self._ranges = Range1d(0, 1), {name: Range1d(0, 1) for name in ("loss", *ESTIMATED)}
        self.losses = self._empty("training_figure", "loss", "loss per row")
        self.llc = self._empty("over_training_figure", "llc", "estimate λ̂")
        self.nu = self._empty("fluctuation_figure", "nu", "estimate ν̂")
        self.losses.xaxis.visible = self.llc.xaxis.visible = False
        self.nu.xaxis.axis_label = "training steps"
        self.plots = (self.losses, self.llc, self.nu)
        self.sources = [
            ColumnDataSource({"step": [], "train": [], "test": []}, name=f"training{k}") for k in ("", "_beside")
        ]
        empty: dict[str, Any] = {name: [] for name in FOUND}
        self.found = [ColumnDataSource(dict(empty), name=f"over_training{k}") for k in ("", "_beside")]
        for kept, found, color in zip(self.sources, self.found, theme.SIDES.values(), strict=True):
            self._draw(kept, found, color)
        self._marks = []
        for plot in self.plots:
            plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]a")
            mark = Span(dimension="height", location=None, line_color=theme.MARK, line_width=2, line_dash=[2, 4])
            plot.add_layout(mark)
            self._marks.append(mark)

    def _empty(self, name: str, of: str, label: str) -> Any:
        ranges = {"x_range": self._x, "y_range": self._ranges[of]}
        return house_figure(name, CURVE_HEIGHT, **ranges, y_axis_label=label, min_border=8)

    def _draw(self, kept: ColumnDataSource, found: ColumnDataSource, color: str) -> None:
        for column, dash, filled in (("train", [], 1), ("test", [8, 5], 0)):
            self.losses.line("step", column, source=kept, line_width=2.5, line_color=color, line_dash=dash)
            self.losses.scatter("step", column, source=kept, size=6, color=color, fill_alpha=filled)
        for plot, name in ((self.llc, "llc"), (self.nu, "nu")):
            whisker = Whisker(
                base="step", lower=f"{name}_low", upper=f"{name}_high", source=found, line_color=color, line_width=2
            )
            for head in (whisker.upper_head, whisker.lower_head):
                head.update(size=8, line_color=color, line_width=2)
            plot.add_layout(whisker)
            plot.line("step", name, source=found, line_color=color, line_width=1.5, line_alpha=0.6)
            points = plot.scatter(
                "step", name, source=found, size=10, color=color, line_width=2, fill_alpha=f"{name}_fill"
            )
            shown = [("after", "@step steps"), (ESTIMATED[name], f"@{name}{{0.00}}"), ("", "@words")]
            plot.add_tools(HoverTool(renderers=[points], tooltips=shown))

    def show(self, *trainings: Training | None) -> None:
        """Of the one optimiser, and of the one beside it."""
        highest, end = 0.0, 0.0
        for source, training in itertools.zip_longest(self.sources, trainings):
            kept = () if training is None else training.checkpoints
            columns = {"step": "step", "train": "train_loss", "test": "test_loss"}
            source.data = {name: np.array([getattr(c, of) for c in kept], dtype=float) for name, of in columns.items()}
            highest = max([highest, *source.data["train"], *source.data["test"]])
            end = max([end, *source.data["step"]])
        if end:
            _span(self._x, -0.03 * end, 1.03 * end)
            _span(self._ranges["loss"], 0, nice_above(1.05 * highest))

    def summary(self) -> str:
        """The figures in a sentence each; empty while there is nothing to see."""
        data, found = self.sources[0].data, self.found[0].data
        if not len(data["step"]):
            return ""
        said = (
            f"From step {data['step'][0]:,.0f} to {data['step'][-1]:,.0f} the training loss falls from {number(data['train'][0])} to "
            f"{number(data['train'][-1])}. On held-out data it falls from {number(data['test'][0])} to {number(data['test'][-1])}."
        )
        for k, source in enumerate(self.found):
            found, whose = source.data, " of the optimiser beside it" if k else ""
            for name, symbol in ESTIMATED.items() if len(found["step"]) else ():
                first, last = (f"{number(found[name][at])} at step {found['step'][at]:,.0f}" for at in (0, -1))
                said += f" {symbol}{whose} is {first} and {last}."
        return said

    def mark(self, step: int | None) -> None:
        for span in self._marks:
            span.location = step

    def show_found(self, *found: Sequence[tuple[int, Estimate]]) -> None:
        """What was estimated after training by the one optimiser, and by the one beside it."""
        for source, items in itertools.zip_longest(self.found, found, fillvalue=()):
            source.data = _columns(sorted(items, key=lambda item: item[0]))
        for name in ESTIMATED:
            ends = [source.data[f"{name}_{end}"] for source in self.found for end in ("low", "high")]
            known = np.concatenate(ends)
            known = known[np.isfinite(known)]
            if known.size:
                low, high = float(known.min()), float(known.max())
                room = 0.12 * max(high - low, abs(high), 1e-9)
                _span(self._ranges[name], min(0.0, low - room) if low < 0 else 0.0, high + room)


def _columns(items: Sequence[tuple[int, Estimate]]) -> dict[str, Any]:
    """Columns of FOUND."""
    words = [str(e.converged) for _, e in items]
    columns: dict[str, Any] = {
        "step": np.array([step for step, _ in items], dtype=float),
        "words": [each if len(each) < 90 else each[:87] + "…" for each in words],
    }
    for name, of in (("llc", "llc"), ("nu", "singular_fluctuation")):
        value, se = (np.array([getattr(e, each) for _, e in items], dtype=float) for each in (of, f"{of}_se"))
        half = 2 * np.nan_to_num(se)
        trusted = np.array([bool(e.converged) for _, e in items], dtype=bool) & np.isfinite(se)
        shown = {"": value, "_low": value - half, "_high": value + half, "_fill": trusted.astype(float)}
        columns |= {name + end: each for end, each in shown.items()}
    return columns


def _span(shown: Range1d, low: float, high: float) -> None:
    shown.update(start=low, end=high, reset_start=low, reset_end=high)


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
