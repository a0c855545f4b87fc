"""A slider over what has been recorded: it follows what is newest until the visitor moves it, and again from its right end on."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn

from app.controls.fields import NumberField
from llc_core.fields import Hyper

LONGEST = 1e12


class Replay(pn.viewable.Viewer):
    """`listener` is called after the visitor has moved it.  live: while it is dragged, too, for what is shown at once."""

    def __init__(self, label: str, help: str, integer: bool = True, live: bool = False) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self._edge = 0.0
        self.follows = True
        self._field = NumberField(
            label.lower(), Hyper(0, LONGEST, help=help), 0, integer=integer, span=(0, 100), label=label
        )
        self._field.widget.live = live
        self._field.listener = self._on_change

    def __panel__(self) -> pn.viewable.Viewable:
        return self._field.widget

    @property
    def value(self) -> float:
        return self._field.value or 0

    def begin(self, end: float, edge: float = 0) -> None:
        """Another recording.  end: the slider's.  edge: from here on it follows, until `advance` says more."""
        self._edge, self.follows = edge, True
        self._field.about = Hyper(0, end, help=self._field.about.help)
        grain = {} if self._field.widget.integer else {"grain": end / 200}
        self._field.widget.param.update(end=end, **grain)
        self._field.set(0)

    def advance(self, at: float, edge: float | None = None) -> None:
        """at: what is newest.  edge: as of `begin`; None: the same."""
        self._edge = at if edge is None else edge
        if self.follows and self.value != at:
            self._field.set(at)

    def go(self, to: float) -> None:
        """As if the visitor had moved it here."""
        self._field.set(min(to, self._field.widget.end))
        self._on_change()

    def _on_change(self) -> None:
        self.follows = self.value >= self._edge
        self.listener()
