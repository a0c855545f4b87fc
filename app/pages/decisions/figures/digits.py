"""Figures of "in or out": digits on a scale from sure to unsure, histograms of the entropy, and AUROC as draws come in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, LinearColorMapper, Range1d, Span

from app.pages.decisions.job.digits import Scores
from app.pages.decisions.scene import Digits, Said
from app.style import theme
from app.style.figures import house_figure
from llc_core.networks.data.splits import KNOWN

SCALE_HEIGHT, HISTOGRAM_HEIGHT, CURVE_HEIGHT = 270, 230, 230
MOST = math.log(KNOWN)
"""Entropy of five equally likely classes."""
ROWS = 3
"""Lanes of either kind, so that digits of like entropy lie beside each other."""
BINS = 24
WIDTH = 0.052
KINDS = ("inside", "outside")
COLORS = {"inside": theme.SIDES["left"], "outside": theme.TRUTH}
GRAY = "#8a8f98"
COLUMNS = ("draws", "entropy", "information", "step")


def _shades(color: str) -> list[str]:
    return [f"{color}{round(255 * a):02x}" for a in np.linspace(0.0, 1.0, 17)]


class ScaleFigure:
    """Digits from sure (left) to unsure (right): where the entropy of the mean puts them now. Learned ones above, others below."""

    def __init__(self) -> None:
        self.plot = house_figure(
            "scale", SCALE_HEIGHT, x_range=Range1d(-0.05, MOST + 0.09), y_range=Range1d(-0.1, 2 * ROWS + 0.4),
            x_axis_label="entropy in nats: sure → unsure", toolbar_location=None,
            min_border_left=16,
        )  # fmt: skip
        self.plot.yaxis.visible = False
        self.plot.ygrid.grid_line_color = None
        self.plot.add_layout(
            Span(dimension="width", location=ROWS + 0.15, line_color=GRAY, line_width=1, line_dash=[3, 3])
        )
        self.sources = {
            kind: ColumnDataSource({name: [] for name in ("image", "x", "y", "dw", "dh")}, name=f"scale_{kind}")
            for kind in KINDS
        }
        self._images = {
            kind: self.plot.image(
                "image", "x", "y", "dw", "dh", source=source,
                color_mapper=LinearColorMapper(palette=_shades(COLORS[kind]), low=0, high=1),
            )
            for kind, source in self.sources.items()
        }  # fmt: skip
        self.answers = True
        self._given: Digits | None = None
        self._said: Said | None = None

    def reset(self, digits: Digits) -> None:
        """The single net's entropies, before a draw has come."""
        self._given = digits
        self.show(digits.one)

    def show(self, said: Said) -> None:
        assert self._given is not None
        self._said = said
        inputs = {"inside": self._given.split.test_inputs, "outside": self._given.outside}
        drawn: dict[str, dict[str, Any]] = {}
        for k, kind in enumerate(KINDS):
            places = self._given.shown[k]
            pictures = inputs[kind][places].view(-1, 8, 8).flip(1).numpy()
            entropy = getattr(said, kind).entropy_of_mean[places].numpy()
            drawn[kind] = {
                "image": list(pictures),
                "x": np.clip(entropy, 0, MOST) - WIDTH / 2,
                "y": [(1 - k) * (ROWS + 0.3) + place % ROWS for place in range(len(places))],
                "dw": [WIDTH] * len(places),
                "dh": [0.86] * len(places),
            }
        for kind, columns in (drawn if self.answers else mixed(drawn)).items():
            self.sources[kind].data = columns

    def show_answers(self, visible: bool) -> None:
        self.answers = visible
        for kind, image in self._images.items():
            image.glyph.color_mapper.palette = _shades(COLORS[kind] if visible else GRAY)
        if self._said is not None:
            self.show(self._said)


def mixed(drawn: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """While answers are hidden: all digits in one source, in the order of their entropy, and the lanes in turn."""
    first, second = (drawn[kind] for kind in KINDS)
    x = np.concatenate([first["x"], second["x"]])
    order = np.argsort(x, kind="stable")
    images = [*first["image"], *second["image"]]
    lanes = [place % (2 * ROWS) for place in range(len(x))]
    everything = {
        "image": [images[i] for i in order],
        "x": x[order],
        "y": [lane + (0.3 if lane >= ROWS else 0.0) for lane in lanes],
        "dw": [WIDTH] * len(x),
        "dh": [0.86] * len(x),
    }
    return {KINDS[0]: everything, KINDS[1]: {name: [] for name in everything}}


class EntropyFigure:
    """Shares of the held-out digits within and of those outside, over their entropy."""

    def __init__(self) -> None:
        self._y = Range1d(0, 1)
        self.plot = house_figure(
            "entropies", HISTOGRAM_HEIGHT, x_range=Range1d(0, MOST), y_range=self._y,
            x_axis_label="entropy of the ensemble", y_axis_label="share of digits",
        )  # fmt: skip
        names = ("left", "right", *KINDS)
        self.source = ColumnDataSource({name: [] for name in names}, name="entropies")
        for kind in KINDS:
            self.plot.quad(
                left="left", right="right", bottom=0, top=kind, source=self.source, fill_color=COLORS[kind],
                fill_alpha=0.35, line_color=COLORS[kind], line_dash="solid" if kind == "inside" else "dashed",
            )  # fmt: skip

    def show(self, said: Said) -> None:
        edges = np.linspace(0, MOST, BINS + 1)
        tops = {}
        for kind in KINDS:
            values = np.clip(getattr(said, kind).entropy_of_mean.numpy(), 0, MOST)
            tops[kind] = np.histogram(values, edges)[0] / len(values)
        self.source.data = {"left": edges[:-1], "right": edges[1:], **tops}
        top = math.ceil(10 * float(max(tops["inside"].max(), tops["outside"].max()))) / 10
        if top != self._y.end:
            self._y.update(start=0, end=top, reset_start=0, reset_end=top)


@dataclass(frozen=True)
class Levels:
    """AUROC of one net, and of a logistic regression."""

    one: float
    linear: float


class AurocFigure:
    """AUROC against the number of draws, by the entropy and by the mutual information, beside one net and a linear model."""

    def __init__(self) -> None:
        self._x, self._y = Range1d(0, 400), Range1d(0.85, 1.0)
        self.plot = house_figure(
            "auroc", CURVE_HEIGHT, x_range=self._x, y_range=self._y, x_axis_label="draws", y_axis_label="AUROC"
        )
        self.source = ColumnDataSource({name: [] for name in COLUMNS}, name="aurocs")
        self._spans = {
            name: Span(dimension="width", location=0.5, line_color=color, line_width=2, line_dash=dash)
            for name, color, dash in (("one", theme.MARK, [10, 5]), ("linear", theme.RECENT, [2, 4]))
        }
        for span in self._spans.values():
            self.plot.add_layout(span)
        self.plot.line(
            "draws", "information", source=self.source, line_color=theme.GOOD, line_width=2, line_dash=[10, 4]
        )
        self.plot.line("draws", "entropy", source=self.source, line_color=theme.ESTIMATE, line_width=2.6)

    def reset(self, levels: Levels, draws: int) -> None:
        """draws: how many there will be."""
        self.source.data = {name: np.zeros(0) for name in COLUMNS}
        for name, span in self._spans.items():
            span.location = getattr(levels, name)
        self._x.update(start=0, end=draws, reset_start=0, reset_end=draws)
        self._reach(min(levels.one, levels.linear, 0.9) - 0.02)

    def _reach(self, low: float) -> None:
        self._y.update(start=low, end=1.0, reset_start=low, reset_end=1.0)

    def stream(self, rows: np.ndarray) -> None:
        """rows: [T, 4], see `DrawsLog`."""
        if not len(rows):
            return
        self.source.stream({name: rows[:, k] for k, name in enumerate(COLUMNS)})
        low = float(np.nanmin(rows[:, 1:3]))
        if low < self._y.start:
            self._reach(low - 0.02)


class CalibrationFigure:
    """How often the ensemble is right, of the digits within, where it is so sure; on the diagonal it is as right as it says."""

    def __init__(self) -> None:
        self.plot = house_figure(
            "calibration", CURVE_HEIGHT, x_range=Range1d(0.2, 1.02), y_range=Range1d(0, 1.05),
            x_axis_label="confidence", y_axis_label="share right",
        )  # fmt: skip
        self.plot.yaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
        ends = ColumnDataSource({"x": [0.2, 1.0]}, name="calibration_line")
        self.plot.line("x", "x", source=ends, line_color=theme.TRUTH, line_width=2, line_dash=[2, 4])
        self.source = ColumnDataSource({name: [] for name in ("confidence", "right", "size")}, name="calibration")
        self.plot.line("confidence", "right", source=self.source, line_color=theme.ESTIMATE, line_width=1.5)
        self.plot.scatter(
            "confidence", "right", source=self.source, size="size", fill_color=theme.ESTIMATE, fill_alpha=0.5,
            line_color=theme.ESTIMATE,
        )  # fmt: skip

    def show(self, said: Said, digits: Digits) -> None:
        curve = said.inside.calibration_curve(digits.split.test_targets, 10)
        size = 5 + 22 * np.sqrt(curve.counts / curve.counts.sum())
        self.source.data = {"confidence": curve.confidence, "right": curve.accuracy, "size": size}


def levels_of(digits: Digits) -> Levels:
    return Levels(Scores.of(digits.one, digits).auroc, Scores.of(digits.linear, digits).auroc)
