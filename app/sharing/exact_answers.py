"""What a page shows of the exact answers, as one switch: a link for a class can leave them out, to let people guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from app.components.readouts import Numbers


class ExactAnswers:
    """shown: panes and lines that show them.  cells: keys of numbers that do.  changed: called after a change.

    Columns are emptied while answers are withheld, since what only is not seen would still be sent. `visible` is what `app.window.shell` sets; words that depend on the answers ask it.
    """

    def __init__(
        self, *shown: Any, cells: Mapping[Numbers, list[str]] | None = None, changed: Callable[[], None] = lambda: None
    ):
        self._shown, self._cells, self._changed = shown, cells or {}, changed
        self._visible = True
        self._kept: list[tuple[Any, list[Any]]] = []
        """Columns that are empty now, and what belongs into them."""

    @property
    def visible(self) -> bool:
        return self._visible

    @visible.setter
    def visible(self, value: bool) -> None:
        was, self._visible = self._visible, value
        for part in self._shown:
            part.visible = value
        if was and not value:
            self._kept = [(part, list(part.objects)) for part in self._shown if isinstance(part, pn.Column)]
            for column, _ in self._kept:
                column.objects = []
        elif value and not was:
            for column, objects in self._kept:
                column.objects = [*objects, *(part for part in column.objects if part not in objects)]
        for numbers, keys in self._cells.items():
            numbers.withheld = [] if value else keys
        self._changed()
