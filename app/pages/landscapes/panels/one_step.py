"""One step of a chain, magnified: drift, noise, and where they lead together."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import Arrow, ColumnDataSource, NormalHead, Range1d, VeeHead
from bokeh.plotting import figure

from app.pages.landscapes.job import OneStep
from app.style import theme
from app.style.figures import house_figure
from app.style.layout import arranged, prose
from app.style.legend import legend
from app.style.numbers import number

SIZE = 210
DRIFT, NOISE, SUM, REFUSED = theme.ESTIMATE, theme.PINNED, theme.GOOD, theme.LOCAL
MARGIN = 1.25
NONE = (
    "Press Step, or turn the speed down, to see what one step of a chain is made of. The speed is among the settings."
)
EMPTY: dict[str, list[Any]] = {name: [] for name in ("x0", "y0", "x1", "y1")}


def _arrow_swatch(color: str) -> str:
    return f'<path d="M0 7h20" stroke="{color}" stroke-width="3"/><path d="M18 2l8 5-8 5z" fill="{color}"/>'


class OneStepPanel:
    """beside: another figure with the same arrows, which are made with the first step: most visitors never ask for one."""

    def __init__(self, beside: figure | None = None) -> None:
        self.plot = house_figure(
            "one_step", SIZE, width=SIZE, sizing_mode="fixed", tools="", toolbar_location=None, min_border_left=6,
            x_range=Range1d(-1, 1), y_range=Range1d(-1, 1), x_axis_type=None, y_axis_type=None,
        )  # fmt: skip
        self.plot.ygrid.grid_line_color = None
        self.sources = {
            name: ColumnDataSource(dict(EMPTY), name=f"step_{name}") for name in ("drift", "noise", "sum", "refused")
        }
        self._without = [(self.plot, 8), *([(beside, 7)] if beside is not None else [])]
        self._words = prose(theme.LESSON)
        self._shown: OneStep | None = None
        names = [(DRIFT, "drift"), (NOISE, "noise"), (SUM, "the step")]
        head = legend("One step", [(_arrow_swatch(color), name) for color, name in names], "one_step")
        words = pn.Column(head, self._words, styles={"flex": "1 1 180px", "min-width": "0"}, margin=0)
        # Not a FlexBox: a figure inside one may never be ready, and then the page is not either.
        self.view = arranged(
            theme.SIDE_BY_SIDE, words, pn.pane.Bokeh(self.plot, width=SIZE, height=SIZE, margin=0), margin=(10, 0, 0, 0)
        )
        self._say(NONE)

    def _arrows(self, head: int) -> list[Arrow]:
        """Drift, then noise from its end, and their sum; a proposal that was refused in the colour of what is lost."""
        made = []
        for name, color, dash in (
            ("drift", DRIFT, "solid"), ("noise", NOISE, "solid"), ("sum", SUM, "solid"), ("refused", REFUSED, "dashed"),
        ):  # fmt: skip
            end = (NormalHead if name in ("sum", "refused") else VeeHead)(size=head, fill_color=color, line_color=color)
            made.append(
                Arrow(
                    source=self.sources[name], x_start="x0", y_start="y0", x_end="x1", y_end="y1", end=end,
                    line_color=color, line_width=2.5, line_dash=dash,
                )
            )  # fmt: skip
        return made

    def show(self, step: OneStep | None) -> None:
        if step is self._shown:
            return
        self._shown = step
        if step is None:
            for source in self.sources.values():
                source.data = dict(EMPTY)
            self._say(NONE)
            return
        for plot, head in self._without:
            for arrow in self._arrows(head):
                plot.add_layout(arrow)
        self._without = []
        middle, end = step.start + step.drift, step.start + step.drift + step.noise
        total = _between(step.start, end)
        self.sources["drift"].data = _between(step.start, middle)
        self.sources["noise"].data = _between(middle, end)
        self.sources["sum"].data = total if step.accepted else dict(EMPTY)
        self.sources["refused"].data = dict(EMPTY) if step.accepted else total
        reach = MARGIN * max(float(np.abs(corner - step.start).max()) for corner in (middle, end))
        reach = reach if np.isfinite(reach) and reach > 0 else 1.0
        for axis, centre in zip((self.plot.x_range, self.plot.y_range), step.start, strict=True):
            axis.update(start=float(centre - reach), end=float(centre + reach))
        self._say(sentence(step))

    def _say(self, words: str) -> None:
        self._words.object = f'<p data-summary="one_step">{escape(words)}</p>'


def sentence(step: OneStep) -> str:
    """What the step did, with its lengths."""
    drift, noise = (number(float(np.linalg.norm(part))) for part in (step.drift, step.noise))
    if not step.accepted:
        return f"Drift {drift}, noise {noise}: the proposal was refused, so the chain stays where it is."
    if not step.noise.any():
        return (
            f"The momentum carries the chain by {drift}. The noise enters the momentum, and is seen in the next step."
        )
    end = "The proposal was accepted." if step.tested else "The chain moves by their sum."
    leads = "is gradient and momentum" if step.momentum else "follows the gradient"
    return f"Drift {drift} {leads}, noise {noise} is drawn. {end}"


def _between(start: np.ndarray, end: np.ndarray) -> dict[str, list[float]]:
    return {"x0": [float(start[0])], "y0": [float(start[1])], "x1": [float(end[0])], "y1": [float(end[1])]}
