"""What a layout in a notebook needs of Panel beyond what Panel does for it: all changes arrive whole, and style sheets are local.

Holds for panel 1.9.4, ipykernel 7.4.0.
Gains: a second view in a notebook no longer stops the first: what a browser said was handled in a thread of its own, and parts
of two messages were mixed. Figures move, where what they are fed was dropped whenever a message came from the browser. No
request to the internet, of which Panel made up to four per component that had changed.
"""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models import InlineStyleSheet
from IPython import get_ipython
from panel.io.model import diff
from panel.io.notebook import push, send
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST
from pyviz_comms import JupyterComm

_handle = JupyterComm._handle_msg


def _on_the_main_thread(comm: JupyterComm, message: Any) -> None:
    """JupyterLab has what comes from a view handled beside the cell that runs. Pages are changed by one thread at a time."""
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None or threading.current_thread() is threading.main_thread():
        _handle(comm, message)
    else:
        kernel.io_loop.add_callback(_handle, comm, message)


JupyterComm._handle_msg = _on_the_main_thread


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
