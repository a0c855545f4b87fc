"""The target on the page "Stationary bias": a named distribution, points dragged on a plot or typed, or a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField
from app.pages.stationary_bias.controls.expression import ExpressionEditor
from app.pages.stationary_bias.controls.points import PointsEditor
from app.style.formula import displayable
from app.style.layout import Viewed, cell, complain, complaint, prose
from llc_core.fields import Hyper
from llc_core.potentials.line.build import landscape, line_price
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.line.named import LANDSCAPES

POINTS, EXPRESSION = "points", "expression"


class TargetEditor(Viewed):
    """`target` is the last valid description; bad input leaves it as it was and shows a sentence beside the entry.

    `listener` is called when the user has made another valid target.
    """

    def __init__(self, target: Mapping[str, Any]):
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.target: dict[str, Any] = dict(target)
        self._quiet = False
        labels = {name: landscape(name).label for name in LANDSCAPES}
        labels |= {POINTS: "Draw your own", EXPRESSION: "Write your own"}
        self.choice = ChoiceField(
            "target",
            Hyper(choices=tuple(labels), help="The distribution that the chains should draw from."),
            "normal",
            labels,
            label="Target",
        )
        self.choice.listener = self._on_choice
        self.formula = pn.pane.LaTeX("", renderer="katex", sizing_mode="stretch_width", margin=0)
        self.about = prose(margin=(4, 0, 0, 0))
        self.message = complaint(margin=0)
        self._own = cell(visible=False)
        self._view = cell(self.choice, self._own, self.message, self.formula)
        self._points: PointsEditor | None = None
        self._expression: ExpressionEditor | None = None
        self.show(target)

    def show(self, target: Mapping[str, Any]) -> None:
        """Set the entries to a target, without reporting a change."""
        kind = POINTS if POINTS in target else EXPRESSION if EXPRESSION in target else target["name"]
        self.target = dict(target)
        self.choice.set(kind)
        self._arrange(kind)
        if kind == POINTS:
            self._editor(kind).show(target[POINTS])
        elif kind == EXPRESSION:
            self._editor(kind).show(target[EXPRESSION], target.get("of", "density"))

    def describe(self, made: Landscape) -> None:
        """Words and formula of the target, once it has been made: that takes a while, and is not done here."""
        self.formula.object = displayable(made.formula) if made.formula else ""
        self.about.object = f'<p class="small muted">{escape(made.about)}</p>'

    def _editor(self, kind: str) -> Any:
        """Made when it is first wanted: the page loads sooner."""
        if kind == POINTS:
            if self._points is None:
                self._points = PointsEditor(self._on_own)
            return self._points
        if self._expression is None:
            self._expression = ExpressionEditor(self._on_own)
        return self._expression

    def _arrange(self, kind: str) -> None:
        own = kind in (POINTS, EXPRESSION)
        self._own.visible = own
        self._own.objects = [self._editor(kind).view] if own else []
        self._complain("")

    def _on_choice(self) -> None:
        kind = self.choice.value
        self._arrange(kind)
        if kind in (POINTS, EXPRESSION):
            self._on_own()
        else:
            self._take({"kind": "landscape", "name": kind})

    def _on_own(self) -> None:
        try:
            self._take(self._editor(self.choice.value).read())
        except ValueError as error:
            self._complain(str(error))

    def _take(self, target: dict[str, Any]) -> None:
        line_price(target)  # what is no target at all is refused here, what has no distribution by the page
        self._complain("")
        if target != self.target:
            self.target = target
            self.listener()

    def _complain(self, message: str) -> None:
        complain(self.message, message)
