"""The card on what goes on inside one method: θ of contour sampling, the index process of a ladder; none for other methods."""

from __future__ import annotations

import panel as pn

from app.pages.many_modes.config import ModesConfig
from app.pages.many_modes.job import SideProgress
from app.pages.many_modes.panels import ladder, theta
from app.pages.many_modes.scene import Scene
from app.pages.many_modes.texts import WORDS
from app.style import theme
from app.style.layout import card, plotted, prose
from app.style.legend import legend_html, told_html
from llc_core.interactions import Contour, Interaction, ReplicaExchange


class Inside:
    """One side. Figures are made when they are first wanted: the page loads sooner."""

    def __init__(self, side: str):
        self.side = side
        self.answers = True
        self._title, self._words = prose(theme.LEGEND), prose(margin=(6, 0, 0, 0))
        self._figures = pn.Column(sizing_mode="stretch_width", margin=0)
        self.view = card(self._title, self._figures, self._words)
        self.theta: theta.ThetaFigures | None = None
        self.ladder: ladder.LadderFigures | None = None
        self._made: Interaction | None = None
        self._known: float | None = None
        """The exact λ of the surface."""

    def reset(self, config: ModesConfig) -> None:
        made = self._made = config.made(self.side)
        self.view.visible = isinstance(made, Contour | ReplicaExchange)
        self._words.object = ""
        if isinstance(made, Contour):
            if self.theta is None:
                self.theta = theta.ThetaFigures(self.side)
            known = config.target.learning_coefficient
            self.theta.show_answers(self.answers)
            self._known = None if known is None else float(known)
            self.theta.reset(made, self._known)
            self._arrange(self.theta.theta, self.theta.multiplier)
            self._head_contour(made, self.theta)
        elif isinstance(made, ReplicaExchange):
            if self.ladder is None:
                self.ladder = ladder.LadderFigures(self.side)
            self.ladder.reset(made)
            self._arrange(self.ladder.index, self.ladder.refused)
            self._head(
                "index process and barrier", [("chains", "copies")], self.ladder.index.name, self.ladder.refused.name
            )

    def _arrange(self, *plots: object) -> None:
        shown = [pane.object for pane in self._figures.objects]
        if shown != list(plots):
            self._figures.objects = [plotted(plot) for plot in plots]

    def _head_contour(self, made: Contour, figures: theta.ThetaFigures) -> None:
        log = made.scale == "log"
        second = "λ(E) = E · multiplier" if log else "multiplier"
        entries = [(self.side, "watched trial")]
        entries += [entry for entry in theta.LEGEND if self.answers or entry[0] != "exact"]
        if log and self._known is not None and self.answers:
            entries.append(("recent", f"λ = {self._known:g}"))
        self._head(f"θ and {second}", entries, figures.theta.name, figures.multiplier.name)

    def _head(self, title: str, entries: list[tuple[str, str]], *figures: str | None) -> None:
        names = " ".join(str(name) for name in figures)
        self._title.object = legend_html(f"{WORDS[self.side]}: {title}", entries, names)

    def draw(self, config: ModesConfig, scene: Scene, seen: SideProgress) -> None:
        made = self._made
        if isinstance(made, Contour) and self.theta is not None:
            self.theta.show(made, scene, self.side, seen)
            self._say(theta.words(config, made, scene, self.side, seen, self.answers))
        elif isinstance(made, ReplicaExchange) and self.ladder is not None:
            self.ladder.show(made, seen)
            self._say(ladder.words(config, made, seen))

    def show_answers(self, visible: bool) -> None:
        """Call `draw` after it."""
        self.answers = visible
        if self.theta is not None:
            self.theta.show_answers(visible)
            if isinstance(self._made, Contour):
                self._head_contour(self._made, self.theta)

    def _say(self, words: str) -> None:
        names = " ".join(str(pane.object.name) for pane in self._figures.objects)
        self._words.object = told_html(names, words)
