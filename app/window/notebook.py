"""The pages in a notebook cell: the same objects as in the window of `app/window/shell.py`, with a plainer frame around them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models import InlineStyleSheet, UIElement
from panel.io.model import diff
from panel.io.notebook import patch_inline_stylesheets, push, send
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST

from app.components.beacon import Beacon
from app.components.navigation import Navigation
from app.components.notice import Notice
from app.pages.base import PageInfo, PageView
from app.session.errors import show_errors_with
from app.style import theme
from app.window.known_defaults import know_defaults

SEND_MILLISECONDS = 50
GONE_LOOKS = 100
"""A view that has been in no notebook for so many looks is closed: its cell was deleted or run again."""

_BAR = ":host { background: #0B4A73; border-radius: 10px; padding: 4px 8px; box-sizing: border-box; }"

know_defaults()


class Wire:
    """Sends a layout's changes to its notebook.

    Panel does so for its own components. What Bokeh's figures are fed waits for the next such change, and is dropped when a
    message from the browser comes first. Here it is collected and sent at every look.
    """

    def __init__(self, layout: pn.viewable.Viewable):
        self._layout = layout
        self._outboxes: dict[str, list[DocumentPatchedEvent]] = {}

    def send(self) -> bool:
        """Send what has changed; returns whether the layout is in a notebook."""
        for ref in self._layout._models:
            _, _, document, comm = pn.state._views[ref]
            if ref not in self._outboxes:
                self._outboxes[ref] = outbox = []
                document.callbacks.on_change(partial(_keep, outbox, comm.id if comm else None))
                document.hold("combine")
                pn.state._stylesheets[document] = _LocalSheets()
            if comm is None or not comm._comm:
                continue
            outbox, self._outboxes[ref][:] = self._outboxes[ref][:], []
            if outbox and (message := diff(document, events=outbox)) is not None:
                send(comm, message)
            push(document, comm)
        return bool(self._layout._models)


def _keep(outbox: list[DocumentPatchedEvent], sender: str | None, event: Any) -> None:
    if isinstance(event, DocumentPatchedEvent) and event.setter != sender:
        outbox.append(event)


class _LocalSheets(dict[str, Any]):
    """Panel's style sheets of one document by address. Those it would fetch from the internet are read from its own files:
    at every change of a pane Panel asks for them again, whatever `pn.extension` was told.
    """

    def __contains__(self, url: object) -> bool:
        return super().__contains__(url) or _local_file(str(url)) is not None

    def __getitem__(self, url: str) -> Any:
        found = self.get(url)
        path = _local_file(url)
        # A sheet is emptied when the last component that had it leaves.
        if path is not None and not (isinstance(found, InlineStyleSheet) and "url" in vars(found) and _alive(found)):
            found = InlineStyleSheet(css=path.read_text(encoding="utf-8"))
            object.__setattr__(found, "url", "")  # Panel reads it to see whether the sheet is alive
            self[url] = found
        return found if path is not None else super().__getitem__(url)


def _alive(sheet: InlineStyleSheet) -> bool:
    try:
        return bool(sheet.css)
    except UnsetValueError:
        return False


def _local_file(url: str) -> Path | None:
    """Panel's own copy of a style sheet, where it has one."""
    for start in (CDN_DIST, LOCAL_DIST):
        if url.startswith(start):
            path = Path(DIST_DIR) / url.removeprefix(start).split("?")[0]
            return path if path.is_file() else None
    return None


def _style_inline(view: Any, root: Any, changed: Any, old_models: Any = None) -> None:
    """The same for components that are added later."""
    model, _ = changed._models.get(root.ref["id"], (None, None))
    if model is not None:
        for element in model.select({"type": UIElement}):
            patch_inline_stylesheets(element)


class Inline:
    """layout: what the cell shows.  pages: those to choose from; the first opens when the browser has drawn the frame."""

    def __init__(self, pages: Sequence[PageInfo]):
        self._pages = {page.title: page for page in pages}
        self._view: PageView | None = None
        self._absent = 0
        titles = list(self._pages)
        self._side = pn.Column(
            sizing_mode="stretch_width", margin=0, styles={"flex": "1 1 280px", "max-width": "360px"}
        )
        self._main = pn.Column(sizing_mode="stretch_width", margin=0, styles={"flex": "1000 1 640px", "min-width": "0"})
        self._main.append(pn.pane.HTML("<p>Starting…</p>", stylesheets=[theme.TEXT]))
        body = pn.FlexBox(self._side, self._main, gap="12px", align_items="flex-start", sizing_mode="stretch_width")
        beacon = Beacon(width=0, height=0, margin=0)
        beacon.listener = self._start
        self._notice = Notice(width=0, height=0, margin=0)
        self.layout = pn.Column(body, beacon, self._notice, sizing_mode="stretch_width", margin=0)
        self.layout._hooks.append(_style_inline)
        if len(titles) > 1:
            navigation = Navigation(titles=titles, current=titles[0], margin=0)
            navigation.listener = self._open
            self.layout.insert(0, pn.Row(navigation, sizing_mode="stretch_width", stylesheets=[_BAR]))
        self._wire = Wire(self.layout)
        self._sending: Any = None

    def close(self) -> None:
        if self._sending is not None:
            self._sending.stop()
        if self._view is not None:
            self._view.close()

    def _start(self) -> None:
        if self._view is None:
            show_errors_with(self._show_error)
            self._wire.send()
            self._sending = pn.state.add_periodic_callback(self._send, period=SEND_MILLISECONDS)
            self._open(next(iter(self._pages)))

    def _open(self, title: str) -> None:
        if self._view is not None:
            self._view.close()
        self._view = self._pages[title].build()
        self._main.objects, self._side.objects = self._view.main, self._view.sidebar

    def _show_error(self, text: str) -> None:
        self._notice.text = text

    def _send(self) -> None:
        """Nobody says that a cell is gone; Panel only drops its models."""
        self._absent = 0 if self._wire.send() else self._absent + 1
        if self._absent >= GONE_LOOKS:
            self.close()
