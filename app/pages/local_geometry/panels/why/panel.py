"""The section "Why this number?": a button, and bars that appear as the causes are measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

from app.pages.local_geometry.panels.why.drawing import drawing
from app.pages.local_geometry.panels.why.job import WhyJob, WhyProgress, bars, opening
from app.runs.job import OVER, Job, State
from app.session.job_panel import JobPanel
from app.style import theme
from app.style.layout import card, prose
from app.style.legend import heading
from llc_core import Estimate, Potential
from llc_core.studies.explain.parts import Explanation

DRAW_TICKS = 6
INVITATION = (
    "Where does the error come from? Extra runs measure each cause (about a minute). They compare full with "
    "minibatch gradients, ε with a part of it, and the chains with an exact sampler. Formulas for finite n "
    "give the rest."
)
_STYLE = f"""
.why {{ list-style: none; margin: 4px 0 0; padding: 0; display: grid; gap: 9px; font-size: .875rem; }}
.why li {{ display: grid; grid-template-columns: minmax(116px, 172px) minmax(80px, 1fr) 116px; gap: 2px 12px; align-items: center; }}
.why .name {{ font-weight: 700; line-height: 1.2; }}
.why .value {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.why .sentence {{ grid-column: 1 / -1; font-size: .875rem; line-height: 1.35; }}
.why .track {{ position: relative; height: 18px; }}
.why i {{ position: absolute; top: 0; bottom: 0; }}
.why .part {{ background: {theme.ESTIMATE}; border-radius: 2px; top: 2px; bottom: 2px; }}
.why .sum .part {{ background: {theme.RECENT}; }}
.why .sum {{ border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding-top: 8px; }}
.why .error {{ top: 8px; bottom: 8px; background: currentColor; min-width: 1px; }}
.why .error::before, .why .error::after {{ content: ""; position: absolute; top: -4px; bottom: -4px; width: 2px; background: currentColor; }}
.why .error::before {{ left: 0; }}
.why .error::after {{ right: 0; }}
.why .zero {{ width: 1px; background: currentColor; opacity: .55; top: -4px; bottom: -4px; }}
@media (max-width: 599px) {{ .why li {{ grid-template-columns: minmax(0, 1fr) auto; }} .why .name {{ grid-column: 1; }}
  .why .value {{ grid-column: 2; grid-row: 1; }} .why .track {{ grid-column: 1 / -1; }} }}
"""


class WhyPanel(JobPanel):
    """`show` tells which problem the page has, `update` its latest estimate; `poll` and `close` belong to the split."""

    stopped = "Stopped; the parts below are what was measured until then."
    tone = "small muted"

    def __init__(self) -> None:
        super().__init__("Explain", INVITATION, ticks=DRAW_TICKS, width=96)
        self.button.disabled = True
        self.words.styles = {"flex": "1 1 240px"}
        self._problem: Potential | None = None
        self._estimate: Estimate | None = None
        self.found: Explanation | None = None
        self.bars = prose(_STYLE, margin=(8, 0, 0, 0))
        self.view = card(
            heading("Why this number?"),
            self.bar(self.words, margin=(4, 0, 0, 0)),
            self.bars,
        )

    def show(self, problem: Potential) -> None:
        """Another run has begun: forget the former explanation."""
        self.stop()
        self._problem, self._estimate, self.found = problem, None, None
        self.button.disabled = True
        self.bars.object = ""
        self.say(INVITATION)

    def update(self, estimate: Estimate | None) -> None:
        """The page's run has this estimate now."""
        if estimate is not None and math.isfinite(estimate.llc):
            self._estimate = estimate
            if self.button.disabled:
                self.button.disabled = False

    def start(self) -> None:
        """Begin as the button does, where there is an estimate to explain and nothing is explained already."""
        if self._handle is None and not self.button.disabled:
            self._on_button(None)

    def begin(self) -> Callable[[], Job] | None:
        if self._estimate is None or self._problem is None:
            return None
        self.bars.object = ""
        self.say("Starting.")
        return partial(WhyJob, self._estimate, self._problem)

    def receive(self, state: State, items: list[Any]) -> None:
        found = state.snapshot.explanation if isinstance(state.snapshot, WhyProgress) else None
        if found is None:
            return
        self.words.object = opening(found) if state.status in OVER else _progress(found.share, found.doing)
        if found.parts:
            self.found = found
            self.bars.object = bars(found) + f"<div hidden>{drawing(found)}</div>"


def _progress(share: float, doing: str) -> str:
    return f'<p class="small muted">{share:.0%} done. {escape(doing)}</p>'
