"""The card with the plane: its figure, and the choice of what is behind the chains and beside them. Long, since all of them are drawn
in one picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from app.pages.landscapes.config import Look
from app.pages.landscapes.figures import DRAWN, DRAWN_EDGE, ROOM, PlaneFigure
from app.pages.landscapes.job import SHOWN
from app.pages.landscapes.scene import Window, posterior_heights, weight_heights, window
from app.session.latest import LatestWork
from app.style import theme
from app.style.layout import arranged, card, one_in_list, prose
from app.style.legend import HeardLegend
from llc_core import Planar
from llc_core.references.nuts import nuts_draws

_RING = f'<circle cx="13" cy="7" r="5.5" fill="none" stroke="{theme.LOCAL}" stroke-width="2.2"/>'
_CROSS = '<path d="M8 2l10 10M18 2L8 12" stroke="currentColor" stroke-width="2.4"/>'
_TRUTH = f'<path d="M0 7h26" stroke="{theme.LOCAL}" stroke-width="2.5" stroke-dasharray="7 4"/>'
_HEADS = "".join(
    f'<circle cx="{5 + 8 * i}" cy="7" r="3.6" fill="{color}"/>' for i, color in enumerate(theme.CHAINS[:3])
)
_DRAWS = "".join(
    f'<rect x="{x}" y="{y}" width="5" height="5" fill="{DRAWN}" stroke="{DRAWN_EDGE}"/>'
    for x, y in ((2, 6), (11, 2), (19, 7))
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
GROUNDS = {
    "loss": "Blue valley: low loss",
    "posterior": "Purple: where chains should go, over three powers of ten",
    "weight": "Green: exp(−nβ·K), without data and pull",
}
NUTS_CHAINS, NUTS_STEPS, NUTS_WARMUP = 8, 60, 100
"""Chains of NUTS, draws of each, and the steps before them in which its step size is adapted."""
SEVERAL = 0.05
"""Share of trajectories that were cut off from which on it is said."""


@dataclass(frozen=True)
class NutsDraws:
    """places: of all chains together, w, [N, 2].  cut: share of the trajectories that were cut off."""

    places: np.ndarray
    cut: float


def nuts_of(problem: Planar, n_beta: float, localization: float) -> NutsDraws:
    """A second of one core; some where nothing holds the chains, which makes trajectories long."""
    found = nuts_draws(
        problem, chains=NUTS_CHAINS, steps=NUTS_STEPS, warmup=NUTS_WARMUP, n_beta=n_beta, localization=localization
    )
    places = found.places.reshape(-1, problem.dim) + np.array(problem.model.w0)
    return NutsDraws(places, found.divergences / ((NUTS_WARMUP + NUTS_STEPS) * NUTS_CHAINS))


NOTHING = NutsDraws(np.zeros((0, 2)), 0.0)


class PlanePanel:
    """on_tap: called with the coordinates of a click.  sets: what the click is to set, "w0" or "start", or "pen": a drag draws.

    on_stroke: called with the coordinates of a stroke, two lists, and whether it begins another drawing.
    on_look: called when the visitor has changed `look`.
    """

    def __init__(self) -> None:
        self.figure = PlaneFigure()
        self.on_look: Callable[[], None] = lambda: None
        self._quiet = False
        grounds = {"loss": "loss", "posterior": "posterior", "exp(−nβK)": "weight"}
        self.ground = one_in_list("Behind the chains", grounds, "loss", sizing_mode="stretch_width")
        self.ground.param.watch(self._on_look, "value")
        beside = {"nothing": False, "NUTS": True}
        self.beside = one_in_list("Beside them", beside, False, sizing_mode="stretch_width")
        self.beside.param.watch(self._on_look, "value")
        clicks = {"moves w₀": "w0", "moves start": "start", "draws": "pen"}
        self.click = one_in_list("The pointer", clicks, "w0", sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        self.click.param.watch(self._on_click, "value")
        self.on_stroke: Callable[[list[float], list[float], bool], None] = lambda x, y, anew: None
        self.figure.on_stroke = self._on_stroke
        self.anew = pmui.Button(label="New drawing", size="small", variant="outlined", margin=0, visible=False)
        self.anew.param.watch(self._on_anew, "clicks")
        self._drawn, self._anew = False, False
        self._later, self._nuts = LatestWork(), LatestWork()
        self._ready, self._one_truth = False, False
        self._run: tuple[Planar, Window, float, float] | None = None
        """What is shown: the landscape, the window, nβ and γ."""
        self._of_nuts, self._over = "", False
        self._words = prose()
        self._head = HeardLegend()
        # The pane's own way to be sized replaces the figure's: stretched, a circle would be an ellipse.
        drawn = pn.pane.Bokeh(self.figure.plot, sizing_mode="scale_width", aspect_ratio=1, margin=0)
        drawn.styles = ROOM
        choices = arranged(CHOICES, self.click, self.ground, self.beside, self.anew, self._words)
        choices.styles = {"flex": "1 1 8.25rem", "min-width": "0"}
        self.view = card(self._head.view, arranged(BESIDE, drawn, choices))
        self._on_ground()

    @property
    def look(self) -> Look:
        """What is drawn with the chains."""
        return Look(self.ground.value, self.beside.value)

    def set_look(self, look: Look) -> None:
        """Without reporting a change; `show` follows."""
        self._quiet = True
        try:
            self.ground.value, self.beside.value = look.behind, look.nuts
        finally:
            self._quiet = False

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
        self._run, self._over = (problem, shown, n_beta, localization), False
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
            self._ready = False
        self._show_look()

    def _show_look(self) -> None:
        """What is behind the chains, and beside them."""
        if self._run is None:
            return
        problem, shown, n_beta, localization = self._run
        if self.ground.value == "weight":
            self.figure.show_heights("weight", shown, weight_heights(problem, shown, n_beta))
        if not self.beside.value or localization <= 0:
            self._nuts.forget()
            self._take_nuts(NOTHING)
        elif self._nuts.ask(
            partial(nuts_of, problem, n_beta, localization),
            self._take_nuts,
            self._miss_nuts,
            (str(problem.to_dict()), n_beta, localization),
            at_once=False,
        ):
            self._take_nuts(NOTHING)
            self._of_nuts = "NUTS is being run."
        entries = [*ENTRIES, (_DRAWS, "NUTS")] if self.beside.value else ENTRIES
        self._head.begin("Loss over the two weights", entries, "plane")
        self._on_ground()
        behind = self.ground.value == "posterior"
        if localization <= 0 and (behind or self.beside.value):
            lacking = [
                *(["The loss is shown."] if behind else []),
                *(["NUTS has nothing to draw."] if self.beside.value else []),
            ]
            none = "With γ = 0 nothing keeps the chains near, so there is no posterior on the whole plane."
            self._say(" ".join([none, *lacking]))

    def summarise(self, over: bool) -> None:
        """Say where the chains are, for those who do not see it. over: whether the run is."""
        self._over = over
        self._head.say(self.figure.summary(), over)

    def poll(self) -> None:
        self._later.poll()
        self._nuts.poll()

    def close(self) -> None:
        self._later.forget()
        self._nuts.forget()

    def _take(self, heights: Any) -> None:
        assert self._run is not None
        self._ready = True
        self.figure.show_heights("posterior", self._run[1], heights)
        self._on_ground()

    def _take_nuts(self, found: NutsDraws) -> None:
        self.figure.show_draws(found.places)
        count = len(found.places)
        self._of_nuts = f"Squares: {count} draws of NUTS, from {NUTS_CHAINS} chains." if count else ""
        if found.cut > SEVERAL:
            self._of_nuts += f" {found.cut:.0%} of its trajectories were cut off, so that narrow parts may lack draws."
        self._on_ground()
        self.summarise(self._over)

    def _miss_nuts(self, why: str) -> None:
        self._of_nuts = why
        self._on_ground()

    def _on_look(self, event: Any) -> None:
        if not self._quiet:
            with pn.io.hold():
                self._show_look()
                self.summarise(self._over)
                self.on_look()

    def _on_ground(self) -> None:
        chosen = "loss" if self.ground.value == "posterior" and not self._ready else self.ground.value
        self.figure.show_ground(chosen)
        self.anew.visible = self._drawn and self.sets == "pen" and not self._anew
        self._say(ANEW if self._anew else HINTS[self.sets].format(GROUNDS[chosen]))

    def _on_click(self, event: Any) -> None:
        self.figure.hold_pen(self.sets == "pen")
        self._anew = False
        self._on_ground()

    def _on_anew(self, event: Any) -> None:
        self._anew = True
        self._on_ground()

    def _on_stroke(self, x: list[float], y: list[float]) -> None:
        with pn.io.hold():
            self.on_stroke(x, y, self._anew)

    def _say(self, text: str) -> None:
        """What the picture shows, and what there is to say of NUTS."""
        self._words.object = f'<p class="small muted">{escape(f"{text} {self._of_nuts}".strip())}</p>'
