"""The card with the plane: its figure, and the choice between the loss and the posterior behind the chains."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.pages.landscapes.figures import ROOM, PlaneFigure
from app.pages.landscapes.job import SHOWN
from app.pages.landscapes.scene import posterior_heights, window
from app.session.latest import LatestWork
from app.style import theme
from app.style.layout import arranged, card, one_in_list, prose
from app.style.legend import HeardLegend
from llc_core import Planar

_RING = f'<circle cx="13" cy="7" r="5.5" fill="none" stroke="{theme.LOCAL}" stroke-width="2.2"/>'
_CROSS = '<path d="M8 2l10 10M18 2L8 12" stroke="currentColor" stroke-width="2.4"/>'
_TRUTH = f'<path d="M0 7h26" stroke="{theme.LOCAL}" stroke-width="2.5" stroke-dasharray="7 4"/>'
_HEADS = "".join(
    f'<circle cx="{5 + 8 * i}" cy="7" r="3.6" fill="{color}"/>' for i, color in enumerate(theme.CHAINS[:3])
)
ENTRIES = [(_TRUTH, "all perfect solutions"), (_RING, "w0"), (_CROSS, "start"), (_HEADS, "chains")]
HINTS = {
    "w0": "Click to move w₀ to the nearest point of the valley: λ is estimated there. {}.",
    "pen": "Draw along the valley that you want: there the loss is 0. Strokes that cross multiply, up to four. {}.",
    "start": "Click anywhere: the chains begin there. {}.",
}
ANEW = "Your next stroke begins another drawing."
BESIDE = f"""
{theme.TALL}
:host {{ display: flex !important; flex-flow: row wrap; align-items: center; gap: 4px 8px; }}
"""
CHOICES = f"""
{theme.TALL}
:host {{ display: flex !important; flex-flow: row wrap; gap: 10px; }}
"""
GROUNDS = {"loss": "Blue valley: low loss", "posterior": "Purple: where chains should go, over three powers of ten"}


class PlanePanel:
    """on_tap: called with the coordinates of a click.  sets: what the click is to set, "w0" or "start", or "pen": a drag draws.

    on_stroke: called with the coordinates of a stroke, two lists, and whether it begins another drawing.
    """

    def __init__(self) -> None:
        self.figure = PlaneFigure()
        grounds = {"loss": "loss", "posterior": "posterior"}
        self.ground = one_in_list("Behind the chains", grounds, "loss", sizing_mode="stretch_width")
        self.ground.param.watch(self._on_ground, "value")
        clicks = {"moves w₀": "w0", "moves start": "start", "draws": "pen"}
        self.click = one_in_list("The pointer", clicks, "w0", sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        self.click.param.watch(self._on_click, "value")
        self.on_stroke: Callable[[list[float], list[float], bool], None] = lambda x, y, anew: None
        self.figure.on_stroke = self._on_stroke
        self.anew = pmui.Button(label="New drawing", size="small", variant="outlined", margin=0, visible=False)
        self.anew.param.watch(self._on_anew, "clicks")
        self._drawn, self._anew = False, False
        self._later = LatestWork()
        self._ready, self._one_truth = False, False
        self._words = prose()
        self._head = HeardLegend()
        # The pane's own way to be sized replaces the figure's: stretched, a circle would be an ellipse.
        drawn = pn.pane.Bokeh(self.figure.plot, sizing_mode="scale_width", aspect_ratio=1, margin=0)
        drawn.styles = ROOM
        choices = arranged(CHOICES, self.click, self.ground, self.anew, self._words)
        choices.styles = {"flex": "1 1 8.25rem", "min-width": "0"}
        self.view = card(self._head.view, arranged(BESIDE, drawn, choices))
        self._on_ground(None)

    @property
    def sets(self) -> str:
        chosen = self.click.value
        return "start" if self._one_truth and chosen == "w0" else chosen

    @property
    def on_tap(self) -> Callable[[float, float], None]:
        return self.figure.on_tap

    @on_tap.setter
    def on_tap(self, listener: Callable[[float, float], None]) -> None:
        self.figure.on_tap = listener

    def show(self, problem: Planar, n_beta: float, localization: float, chains: int) -> None:
        """A run begins."""
        shown = window(problem, n_beta)
        self.figure.reset(problem, shown, n_beta, min(chains, SHOWN))
        self._head.begin("Loss over the two weights", ENTRIES, "plane")
        self._one_truth = problem.model.name == "quadratic"
        self._drawn, self._anew = problem.model.name == "drawn", False
        data = {key: value for key, value in problem.to_dict().items() if key != "start"}
        question = (str(data), shown, n_beta, localization)
        if localization <= 0:
            self._later.forget()
            self._ready = False
        elif self._later.ask(
            partial(posterior_heights, problem, shown, n_beta, localization),
            self._take,
            self._say,
            question,
            at_once=False,
        ):
            self._ready, self._shown = False, shown
        self._on_ground(None)
        if localization <= 0 and self.ground.value == "posterior":
            self._say(
                "With γ = 0 nothing keeps the chains near, so there is no posterior on the whole plane. The "
                "loss is shown."
            )

    def summarise(self, over: bool) -> None:
        """Say where the chains are, for those who do not see it. over: whether the run is."""
        self._head.say(self.figure.summary(), over)

    def poll(self) -> None:
        self._later.poll()

    def close(self) -> None:
        self._later.forget()

    def _take(self, heights: Any) -> None:
        self._ready = True
        self.figure.show_posterior(self._shown, heights)
        self._on_ground(None)

    def _on_ground(self, event: Any) -> None:
        chosen = self.ground.value if self._ready else "loss"
        self.figure.show_ground(chosen)
        self.anew.visible = self._drawn and self.sets == "pen" and not self._anew
        self._say(ANEW if self._anew else HINTS[self.sets].format(GROUNDS[chosen]))

    def _on_click(self, event: Any) -> None:
        self.figure.hold_pen(self.sets == "pen")
        self._anew = False
        self._on_ground(None)

    def _on_anew(self, event: Any) -> None:
        self._anew = True
        self._on_ground(None)

    def _on_stroke(self, x: list[float], y: list[float]) -> None:
        with pn.io.hold():
            self.on_stroke(x, y, self._anew)

    def _say(self, text: str) -> None:
        self._words.object = f'<p class="small muted">{escape(text)}</p>'
