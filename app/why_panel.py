"""The section "Why this number?": a button, and bars that appear as the causes are measured."""

from __future__ import annotations

import math
from functools import partial
from html import escape

import panel as pn
import panel_material_ui as pmui

from app import theme
from app.layout import card
from app.legend import heading
from app.runs import OVER, RunHandle, Status, manager
from app.why import WhyJob, WhyProgress, bars, opening
from app.why_drawing import drawing
from llc_core import Estimate, Potential
from llc_core.explain import Explanation

DRAW_TICKS = 6
INVITATION = (
    "Splits the difference between λ̂ and the exact λ into causes, each of which is measured by further runs: full against "
    "minibatch gradients, ε against a part of it, an exact sampler, the formulas for finite n."
)
_STYLE = f"""
.why {{ list-style: none; margin: 4px 0 0; padding: 0; display: grid; gap: 9px; font-size: .875rem; }}
.why li {{ display: grid; grid-template-columns: minmax(116px, 172px) minmax(80px, 1fr) 116px; gap: 2px 12px; align-items: center; }}
.why .name {{ font-weight: 700; line-height: 1.2; }}
.why .value {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.why .sentence {{ grid-column: 1 / -1; font-size: .8125rem; line-height: 1.35; }}
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


class WhyPanel:
    """`show` tells which problem the page has, `update` its latest estimate; `poll` and `close` belong to the split."""

    def __init__(self) -> None:
        self._problem: Potential | None = None
        self._estimate: Estimate | None = None
        self._handle: RunHandle | None = None
        self._version, self._ticks = -1, 0
        self.found: Explanation | None = None
        self.button = pmui.Button(label="Explain", size="small", variant="contained", margin=0, width=96, disabled=True)
        self.button.on_click(self._on_button)
        self.words = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=0, stylesheets=[theme.TEXT], styles={"flex": "1 1 240px"}
        )
        self.bars = pn.pane.HTML("", sizing_mode="stretch_width", margin=(8, 0, 0, 0), stylesheets=[theme.TEXT, _STYLE])
        self.view = card(
            heading("Why this number?"),
            pn.FlexBox(
                self.button,
                self.words,
                gap="12px",
                align_items="center",
                sizing_mode="stretch_width",
                margin=(4, 0, 0, 0),
            ),
            self.bars,
        )

    def show(self, problem: Potential) -> None:
        """Another run has begun: what was explained is gone."""
        self._stop()
        self._problem, self._estimate, self.found = problem, None, None
        self.button.disabled = True
        self.bars.object = ""
        self._say(INVITATION)

    def update(self, estimate: Estimate | None) -> None:
        """The page's run has this estimate now."""
        if estimate is not None and math.isfinite(estimate.llc):
            self._estimate = estimate
            if self.button.disabled:
                self.button.disabled = False

    def poll(self) -> None:
        if self._handle is None:
            return
        self._ticks += 1
        state, _ = self._handle.poll(None)
        over = state.status in OVER
        if state.version != self._version and (over or self._ticks % DRAW_TICKS == 0):
            self._version = state.version
            found = state.snapshot.explanation if isinstance(state.snapshot, WhyProgress) else None
            if state.status is Status.FAILED:
                self.words.object = f'<p class="small"><span role="alert">{escape(state.message)}</span></p>'
            elif state.status is Status.QUEUED:
                self._say(f"Waiting for a free place, number {state.place} in the queue.")
            elif state.status is Status.CANCELLED:
                self._say(state.message or "Stopped.")
            elif found is not None:
                self.words.object = opening(found) if over else _progress(found.share, found.doing)
            if found is not None and found.parts:
                self.found = found
                self.bars.object = bars(found) + f"<div hidden>{drawing(found)}</div>"
        if over:
            self._stop()

    def close(self) -> None:
        """End the run; called when the page closes. Touches nothing on the screen: it may be gone."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _on_button(self, event: object) -> None:
        with pn.io.hold():
            if self._handle is not None:
                self._stop()
                self._say("Stopped; the parts below are what was measured until then.")
            elif self._estimate is not None and self._problem is not None:
                self._version = -1
                self._handle = manager().submit(partial(WhyJob, self._estimate, self._problem))
                self.button.label = "Stop"
                self.bars.object = ""
                self._say("Starting.")

    def _stop(self) -> None:
        self.close()
        self.button.label = "Explain"

    def _say(self, text: str) -> None:
        self.words.object = f'<p class="small muted" role="status">{escape(text)}</p>'


def _progress(share: float, doing: str) -> str:
    return f'<p class="small muted">{share:.0%} done. {escape(doing)}</p>'
