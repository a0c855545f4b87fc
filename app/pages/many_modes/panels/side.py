"""The column of one side: its chains on the plane, its cells beside their exact masses, and its numbers."""

from __future__ import annotations

from html import escape

from app.components.readouts import Numbers
from app.pages.many_modes.config import ModesConfig
from app.pages.many_modes.figures import CellsFigure, PlaneFigure
from app.pages.many_modes.job import SideProgress
from app.pages.many_modes.scene import Scene
from app.pages.many_modes.texts import WORDS, cells, describe, method, readings
from app.style import theme
from app.style.layout import arranged, card, plotted, prose
from app.style.legend import Heard

SQUARES = f"""
{theme.TALL}
:host {{ display: grid !important; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 4px; container-type: inline-size; }}
"""


class Side:
    """What one method's column shows."""

    def __init__(self, side: str):
        self.side = side
        self.plane, self.cells = PlaneFigure(side), CellsFigure(side)
        self.title = prose(theme.LEGEND)
        self.numbers = Numbers(items=cells(side), row=True, sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        squares = arranged(SQUARES, plotted(self.plane.plot), plotted(self.cells.plot))
        self._heard = Heard(f"plane_{side} cells_{side}")
        self.view = card(self.title, squares, self.numbers, self._heard.view)

    def reset(self, config: ModesConfig, scene: Scene) -> None:
        self.plane.reset(scene)
        self.cells.reset(scene)
        self._heard.say("", now=True)
        name = method(config, self.side)
        self.title.object = f"<h2>{WORDS[self.side]}: {escape(name)}</h2><p class='small muted'>{escape(describe(config, self.side))}</p>"

    def draw(self, scene: Scene, seen: SideProgress) -> None:
        self.plane.show(seen)
        self.cells.show(scene, seen)

    def show_words(self, config: ModesConfig, seen: SideProgress | None) -> None:
        values = readings(config, self.side, seen)
        self.numbers.values = {key: text for key, text in values.items() if key not in self.numbers.withheld}
        self._heard.say(f"{self.plane.summary()} {self.cells.summary()}".strip(), now=True)
