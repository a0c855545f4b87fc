"""The card "How … moves": the sampler's update and where it comes from."""

from __future__ import annotations

from html import escape

import panel as pn

from app.style.formula import displayable
from app.style.layout import card, prose
from llc_core.samplers.base import Sampler


class MethodCard:
    def __init__(self) -> None:
        self._title, self._about = prose(), prose()
        self._formula = pn.pane.LaTeX(
            "", renderer="katex", sizing_mode="stretch_width", margin=0, styles={"overflow-x": "auto"}
        )
        self.view = card(self._title, self._formula, self._about)

    def show(self, sampler: Sampler, before: str = "") -> None:
        """before: a sentence in front of what the sampler says of itself."""
        self._title.object = f"<h2>How {escape(sampler.label or sampler.name)} moves</h2>"
        self._formula.object = displayable(sampler.formula)
        source = f' <span class="muted">{escape(sampler.source)}.</span>' if sampler.source else ""
        self._about.object = f"<p>{escape(f'{before} {sampler.about}'.strip())}{source}</p>"
