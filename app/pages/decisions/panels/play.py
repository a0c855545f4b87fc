"""The cards of a play: regret, the mushroom of the moment, and what is remembered."""

from __future__ import annotations

from html import escape

import numpy as np

from app.pages.decisions.config import DecisionsConfig
from app.pages.decisions.figures.bandit import KIND_COLORS, MemoryFigure, MomentFigure, RegretFigure
from app.pages.decisions.job.bandit import BanditProgress
from app.pages.decisions.scene import Scene
from app.pages.decisions.texts import (
    BASELINE,
    brief,
    memory_words,
    moment_words,
    mushroom_words,
    players_table,
)
from app.sharing.exact_answers import Withheld
from app.style import theme
from app.style.layout import arranged, card, one_of, pair, plotted, prose
from app.style.legend import HeardLegend, legend_html

MUSHROOM = """
ul.mushroom { margin: 0 0 6px; padding: 0; list-style: none; font-size: .875rem; columns: 2; column-gap: 18px; min-height: 6.4em; }
ul.mushroom li { break-inside: avoid; line-height: 1.5; }
@media (max-width: 600px) { ul.mushroom { columns: 1; } }
.said p { margin: 0 0 2px; font-size: .875rem; min-height: 1.45em; }
"""
CURVE = f"""
{theme.TALL}
:host {{ display: flex !important; flex-flow: row wrap; align-items: center; gap: 4px 20px; }}
.names {{ flex: 1 1 20rem !important; width: auto !important; min-width: 0; }}
.which {{ flex: none; }}
.picture {{ flex: 0 0 100% !important; width: 100% !important; min-width: 0; }}
@media (max-width: 1199px) {{ .which {{ order: 1; }} }}
"""
"""The choice of the regret stands beside the legend, or where there is no room below the picture."""
HARDEST = "The mushroom of the moment"
NARROW = "table { font-size: .875rem; } th, td { padding-right: 6px; } th[scope=row] { white-space: normal; }"
MEANING = (
    "Regret: what a perfect player expects, 5 or 0, minus what the agent got. An edible mushroom gives 5, a "
    "poisonous one −35 or 5 with equal chance. Leaving it gives 0. All agents meet the same mushrooms and the "
    "same luck."
)
WHICH = "The mushroom of the last round on which they disagree most. Dots: what each expects. Bar: their mean."


def block(color: str, opacity: float) -> str:
    """The swatch of a bar."""
    return f'<rect y="2" width="26" height="10" fill="{color}" fill-opacity="{opacity}"/>'


SHADE = block("#8a8f98", 0.3)


class PlayPanel:
    def __init__(self) -> None:
        self.regret, self.moment, self.memory = RegretFigure(), MomentFigure(), MemoryFigure()
        self._legend = HeardLegend()
        self._mushroom = prose(MUSHROOM)
        self._said = prose(MUSHROOM)
        self._which = prose()
        self._which.object = f"<h2>{HARDEST}</h2><p class='small muted'>{escape(WHICH)}</p>"
        self.table = prose(theme.TABLE, NARROW, margin=(8, 0, 0, 0))
        self._memory_legend, self._memory_words = prose(theme.LEGEND), prose()
        self.which = one_of({"All regret": False, "Own decisions": True}, False)
        self.which.param.watch(lambda event: self.regret.show_own(event.new), "value")
        meaning = prose(margin=(8, 0, 0, 0))
        meaning.object = f"<p class='small muted'>{escape(MEANING)}</p>"
        picture = plotted(self.regret.plot)
        for part, name in ((self._legend.view, "names"), (self.which, "which"), (picture, "picture")):
            part.css_classes = [name]
        self.curve = arranged(CURVE, self._legend.view, self.which, picture)
        self.curves = card(self.curve, self.table, meaning)
        moment = card(self._which, self._mushroom, plotted(self.moment.plot), self._said)
        memory = card(self._memory_legend, plotted(self.memory.plot), self._memory_words)
        self._later = [moment, memory]
        self._telling = Withheld(memory, self.curve)
        self._beside = arranged(theme.STACK)
        self.view = pair(self.curves, self._beside, leading=True)
        kinds = zip(KIND_COLORS, (0.45, 0.8, 0.8), ("left", "eaten, +5", "eaten, −35"), strict=True)
        entries = [(block(color, opacity), words) for color, opacity, words in kinds]
        self._memory_legend.object = legend_html("What the nets remember", entries, "memory")
        self.answers = True

    def complete(self) -> None:
        """Show what is empty before the first round: a page that is opened has its first picture sooner without."""
        if self._later:
            self._beside.objects, self._later = self._later, []

    def reset(self, config: DecisionsConfig, scene: Scene) -> None:
        assert scene.mushrooms is not None
        self.regret.reset(config, scene.mushrooms.random_regret or 0.0)
        self.moment.reset()
        self.memory.reset(config)
        entries = [("left", brief(config, "left")), ("right_dashed", brief(config, "right"))]
        if not config.bandit.has_linear:
            entries.append(("recent", BASELINE))
        entries += [
            ("expected", "chance"),
            ("global", "perfect player"),
            (SHADE, "at random"),
        ]
        self._legend.begin(f"Regret: {scene.mushrooms.name}", entries, "regret")
        self._mushroom.object = self._said.object = ""
        self.draw_words(config, None)

    def stream(self, rows: np.ndarray) -> None:
        """rows: [T, 5], see `RegretLog`."""
        self.regret.stream(rows)
        self._legend.say(self.regret.summary(), self.regret.full)

    def draw(self, seen: BanditProgress) -> None:
        self.memory.show(dict(seen.players))

    def draw_words(self, config: DecisionsConfig, seen: BanditProgress | None) -> None:
        self.table.object = players_table(config, seen, self.answers)
        self._memory_words.object = f'<p class="small">{escape(memory_words(config, seen))}</p>'
        if seen is not None and seen.moment is not None:  # the dots with the words, or they would be of two mushrooms
            self.moment.show(seen.moment)
            self._mushroom.object = mushroom_words(seen.moment)
            self._said.object = f'<div class="said">{moment_words(config, seen.moment, self.answers)}</div>'

    def show_answers(self, visible: bool) -> None:
        """Regret, and what eaten mushrooms gave, are not even sent while they are hidden."""
        self.answers = visible
        self.moment.show_answers(visible)
        self.regret.show_answers(visible)
        self._telling.show(visible)
