"""The runs behind one point of the figures: one row for each problem, with a link that opens the run to watch it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from app.estimates.comparison import tip
from app.estimates.texts import VARIANCE, from_variance
from app.pages.benchmark.table import SCROLL, percent, scrolling
from app.sharing.links import PARAMETER, Link, encode
from app.style import theme
from app.style.layout import card
from app.style.legend import heading
from app.style.numbers import number_text, with_error
from llc_core import RunConfig
from llc_core.sweeps.judging import all_errors
from llc_core.sweeps.scales import label
from llc_core.sweeps.series import (
    ESTIMATOR_WORDS,
    TRUTH_WORDS,
    TRUTHS,
    Curve,
    Row,
    estimate_of,
    finite_or_nan,
)
from llc_core.sweeps.table import Table

PAGE_OF = {"dln": "local-geometry"}
NOT_CARRIED = ("grid", "device")
MOST = 100
UNTOLD = "Not known: the run was too short or too noisy for it, or the store did not keep it yet."
WORDS = (
    "What is behind a point: click it in a chart, or choose here. “Open” runs the same configuration on the page Local "
    "geometry, live."
)
HEAD = ("Problem", "λ̂", VARIANCE["label"], "truth", "Relative error", "R-hat", "ESS", "Diverged chains", "Run")


class RunsPanel:
    """`show` gives the curves and their rows; `choose` a point of them.

    chosen: key and place of the point that is shown.  lines: its rows, and their errors.  title: what the point is.
    """

    def __init__(self) -> None:
        self._curves: dict[str, Curve] = {}
        self._rows = Table.of(())
        self._estimator, self._truth, self._cut = "same_batch", "expected", True
        self._quiet = False
        self.chosen: tuple[str, int] | None = None
        self.lines: tuple[list[Row], list[float]] = [], []
        self.title = ""
        self.curve = pmui.Select(label="Curve", options={}, size="small", margin=0, width=300)
        self.step = pmui.Select(label="Step size", options={}, size="small", margin=0, width=150)
        for select in (self.curve, self.step):
            select.param.watch(self._on_select, "value")
        self.table = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=0, stylesheets=[theme.TEXT, theme.TABLE, SCROLL, _OPEN]
        )
        self._words = pn.pane.HTML(
            f"<p class='small muted'>{escape(WORDS)}</p>",
            sizing_mode="stretch_width",
            margin=(0, 0, 6, 0),
            stylesheets=[theme.TEXT],
        )
        bar = pn.FlexBox(self.curve, self.step, gap="12px", sizing_mode="stretch_width", margin=(2, 0, 8, 0))
        self.view = card(heading("Runs at a point"), self._words, bar, self.table)

    def show(self, found: Sequence[Curve], rows: Sequence[Row], estimator: str, truth: str, cut: bool = True) -> None:
        self._curves = {c.key: c for c in found}
        self._rows, self._estimator, self._truth, self._cut = Table.of(rows), estimator, truth, cut
        self.view.visible = bool(found)
        if found:
            key = self.curve.value if self.curve.value in self._curves else found[0].key
            self._set(key, self.step.value if key == self.curve.value else None)

    def choose(self, key: str, index: int) -> None:
        """A point of a figure: the curve's key and the place of its step size."""
        found = self._curves.get(key)
        if found is not None and 0 <= index < len(found.step_size):
            self._set(key, float(found.step_size[index]))

    def _set(self, key: str, step: float | None) -> None:
        """Show a curve and a step size, the best one where the step size is none of its own."""
        found = self._curves[key]
        steps = {number_text(float(e)): float(e) for e in found.step_size}
        if step not in steps.values():
            step = float(found.step_size[found.best or 0])
        self._quiet = True
        try:
            curves = {label(c.sampler, c.gradient): c.key for c in self._curves.values()}
            self.curve.param.update(options=curves, value=key)
            self.step.param.update(options=steps, value=step)
        finally:
            self._quiet = False
        self.chosen = key, found.step_size.tolist().index(step)
        self.table.object = self._html(found, step)

    def _on_select(self, event: Any) -> None:
        if not self._quiet and self.curve.value in self._curves:
            with pn.io.hold():
                self._set(self.curve.value, self.step.value)

    def _html(self, found: Curve, step: float) -> str:
        self.title = f"{label(found.sampler, found.gradient)}, ε = {number_text(step)}"
        self.lines = [], []
        try:
            rows, errors, count = self._farthest(found, step)
        except ValueError as error:  # the sweep has replaced them since
            return f"<p class='small'><span role='alert'>{escape(str(error))}</span></p>"
        self.lines = rows, errors
        truth = TRUTH_WORDS[self._truth]
        tips = {VARIANCE["label"]: tip(f"{VARIANCE['tip']} {UNTOLD}")}
        head = "".join(
            f"<th scope=col{tips.get(text, '')}>{escape(truth if text == 'truth' else text)}</th>" for text in HEAD
        )
        body = "".join(map(self._line, rows, errors))
        left = f"<p class='small muted'>The {MOST} farthest of {count:,} runs.</p>" if count > MOST else ""
        words = f"{self.title}, {ESTIMATOR_WORDS[self._estimator]}"
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return scrolling(words, table) + left

    def _farthest(self, found: Curve, step: float) -> tuple[list[Row], list[float], int]:
        """The MOST rows of a point whose errors are largest, those without one first; their errors; how many rows there are."""
        table = self._rows
        steps = table.numbers["step_size"]
        near = np.abs(steps - step) <= 1e-5 * np.maximum(np.abs(steps), abs(step))
        mine = table.names["sampler"].among([found.sampler]) & table.names["gradient"].among([found.gradient]) & near
        there = table.take(mine)
        errors = all_errors(there, self._estimator, self._truth, self._cut)
        order = np.argsort(-np.where(np.isfinite(errors), np.abs(errors), np.inf), kind="stable")[:MOST]
        return list(there.take(order)), errors[order].tolist(), len(there)

    def _line(self, row: Row, error: float) -> str:
        llc, se = estimate_of(row, self._estimator, self._cut), finite_or_nan(row["llc_se"])
        name = name_of(row)
        if row["status"] == "error":
            cells = ["failed", "", "", "", "", "", ""]
        else:
            cells = [
                with_error(llc, se) if math.isfinite(llc) else "diverged",
                from_variance(*(finite_or_nan(row[name]) for name in ("llc_from_variance", "llc_from_variance_se"))),
                _short(finite_or_nan(row[TRUTHS[self._truth]])),
                percent(error, signed=True),
                _short(finite_or_nan(row["r_hat"])),
                _short(finite_or_nan(row["ess"])),
                f"{row['dead'] or 0} of {row['chains']}",
            ]
        data = "".join(f"<td>{escape(text)}</td>" for text in cells)
        return f"<tr><th scope=row>{escape(name)}</th>{data}<td>{_link(row, name)}</td></tr>"


def name_of(row: Mapping[str, Any]) -> str:
    """Size class, kind of ranks and number of the problem of a row."""
    return f"{row['size_class']}, {row['ranks']}, {row['problem']}"


def run_link(row: Mapping[str, Any]) -> str:
    """The value of `?c=` that opens the run of a row on its page; ValueError where no page runs such a configuration."""
    config = RunConfig.from_json(row["config"])
    page = PAGE_OF.get(str(config.problem.get("kind")))
    if page is None or config.grid:
        raise ValueError("No page runs this configuration.")
    return encode(Link(page, {k: v for k, v in config.changed().items() if k not in NOT_CARRIED}))


def _link(row: Row, name: str) -> str:
    try:
        address = f"?{PARAMETER}={run_link(row)}"
    except (ValueError, TypeError):
        return "–"
    return f'<a href="{escape(address)}" target="_blank" rel="noopener" aria-label="Open run {escape(name)}">Open</a>'


def _short(value: float) -> str:
    return number_text(value) if math.isfinite(value) else "–"


_OPEN = """
.scroll { max-height: 420px; }
a { color: var(--panel-primary-color); font-weight: 700; }
thead th { position: sticky; top: 0; background: var(--panel-surface-color); opacity: 1; z-index: 1; }
"""
