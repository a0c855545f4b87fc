"""What a page shows of the exact answers, as one switch: a link for a class can leave them out, to let people guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from app.components.readouts import Numbers


class Withheld:
    """Columns that are empty, and not seen, while answers are hidden: what only is not seen would still be sent."""

    def __init__(self, *columns: pn.Column):
        self._columns = columns
        self._kept: list[list[Any]] = []

    def show(self, visible: bool) -> None:
        """Give the columns back what belongs into them, or take it out. Nothing changes where that is so already."""
        if not visible and not self._kept:
            self._kept = [list(column.objects) for column in self._columns]
            for column in self._columns:
                column.objects = []
        elif visible and self._kept:
            for column, objects in zip(self._columns, self._kept, strict=True):
                column.objects = [*objects, *(part for part in column.objects if part not in objects)]
            self._kept = []
        for column in self._columns:
            column.visible = visible


class ExactAnswers:
    """shown: panes and lines that show them.  cells: keys of numbers that do.  changed: called after a change.

    Columns are emptied while answers are withheld, see `Withheld`. `visible` is what `app.window.shell` sets; words that depend on the answers ask it.
    """

    def __init__(
        self, *shown: Any, cells: Mapping[Numbers, list[str]] | None = None, changed: Callable[[], None] = lambda: None
    ):
        self._shown, self._cells, self._changed = shown, cells or {}, changed
        self._visible = True
        self._columns = Withheld(*(part for part in shown if isinstance(part, pn.Column)))

    @property
    def visible(self) -> bool:
        return self._visible

    @visible.setter
    def visible(self, value: bool) -> None:
        self._visible = value
        self._columns.show(value)
        for part in self._shown:
            part.visible = value
        for numbers, keys in self._cells.items():
            numbers.withheld = [] if value else keys
        self._changed()
