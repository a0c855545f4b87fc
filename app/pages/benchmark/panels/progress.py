"""How far a sweep is that runs while its store is shown, and the button that stops it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import panel_material_ui as pmui

from app.pages.benchmark.scene import OpenStore, progress_of, stamp_of
from app.pages.benchmark.texts import PROGRESS_SHEET, is_alive, progress_html
from app.session.ownership import may_stop
from app.style.layout import prose
from llc_core.sweeps import ask_to_stop

ROWS_LOOKS = 4
"""While a sweep runs, its progress is shown at every look and its rows at every fourth."""
STOP, STOPPING = "Stop the sweep", "Stopping …"


class SweepProgress:
    """Follows the store that is shown. complain: called with a sentence where the sweep cannot be stopped."""

    def __init__(self, complain: Callable[[str], None]):
        self._complain = complain
        self._may_stop = may_stop()
        self._store = OpenStore()
        self._asked: Path | None = None
        """The store whose sweep was asked to stop."""
        self._looks = 0
        self._stamp: object = None
        """Of the file, when its rows were looked at last."""
        self.words = prose(PROGRESS_SHEET, margin=(0, 0, 10, 0))
        self.button = pmui.Button(label=STOP, size="small", variant="outlined", margin=(0, 0, 10, 0), visible=False)
        self.button.param.watch(self._on_stop, "clicks")

    def show(self, store: OpenStore) -> None:
        self._store = store
        self._show(store.content.progress)

    def look(self) -> bool:
        """Show how far the sweep is now. Returns whether it is time to look at the rows too: somebody wrote to the store."""
        path = self._store.path
        if path is None:
            return False
        self._looks += 1
        progress = progress_of(path)
        self._show(progress)
        if progress is not None and progress["state"] == "running" and self._looks % ROWS_LOOKS:
            return False
        stamp, self._stamp = self._stamp, stamp_of(path)
        return stamp != self._stamp

    def _show(self, progress: Mapping[str, Any] | None) -> None:
        html = progress_html(progress)
        self.words.param.update(object=html, visible=bool(html))
        runs = progress is not None and self._store.path is not None and is_alive(progress)
        if not runs or self._asked != self._store.path:
            self._asked = None
        self._show_button(self._may_stop and runs)

    def _show_button(self, visible: bool) -> None:
        waits = self._asked is not None
        self.button.param.update(visible=visible, disabled=waits, label=STOPPING if waits else STOP)

    def _on_stop(self, _: Any) -> None:
        """The sweep's own process ends it, and says so in the store, which the next look shows."""
        path = self._store.path
        if path is None or not self._may_stop or self.button.disabled:
            return
        try:
            ask_to_stop(path)
        except ValueError as error:
            self._complain(str(error))
            return
        self._asked = path
        self._show_button(True)
