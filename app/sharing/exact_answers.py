"""What a page shows of the exact answers, as one switch: a link for a class can leave them out, to let people guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.components.readouts import Numbers


class ExactAnswers:
    """shown: panes and lines that show them.  cells: keys of numbers that do.  changed: called after a change.

    `visible` is what `app.window.shell` sets; words that depend on the answers ask it.
    """

    def __init__(
        self, *shown: Any, cells: Mapping[Numbers, list[str]] | None = None, changed: Callable[[], None] = lambda: None
    ):
        self._shown, self._cells, self._changed = shown, cells or {}, changed
        self._visible = True

    @property
    def visible(self) -> bool:
        return self._visible

    @visible.setter
    def visible(self, value: bool) -> None:
        self._visible = value
        for part in self._shown:
            part.visible = value
        for numbers, keys in self._cells.items():
            numbers.withheld = [] if value else keys
        self._changed()
