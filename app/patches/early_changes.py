"""Changes that come while a browser is still drawing a page reach it.

Until a browser says that it has drawn the page, Panel drops what changes inside `pn.io.hold`, in the belief that the document has
yet to be sent. But it was sent when the browser connected, and a visitor may press and type before all is drawn.

Holds for panel 1.9.4.
Gains: a run that a visitor begins so early shows its own number of steps, and not that of the run before.
"""

from __future__ import annotations

import threading
from functools import wraps

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent, DocumentPatchedEvent, MessageSentEvent
from panel.io import document


def apply() -> None:
    """From now on, in the whole process. Nothing happens where Panel has no such function any more."""
    drain = getattr(document, "_drain_unconnected_events", None)
    if drain is None or hasattr(drain, "__wrapped__"):
        return

    @wraps(drain)
    def drained(doc: Document, lock: threading.Lock) -> list[DocumentChangedEvent]:
        with lock:
            held = list(doc.callbacks._held_events or [])
        now: list[DocumentChangedEvent] = drain(doc, lock)
        if not has_browser(doc):
            return now
        return [event for event in held if any(event is each for each in now) or _is_change(event)]

    document._drain_unconnected_events = drained


def has_browser(doc: Document | None) -> bool:
    """Whether a browser has connected, be it that it has drawn nothing yet."""
    session = getattr(getattr(doc, "session_context", None), "session", None)
    return session is not None and session.connection_count > 0


def _is_change(event: DocumentChangedEvent) -> bool:
    """Whether it changes the document. Messages do not: Panel keeps them until there is somebody to hear them."""
    return isinstance(event, DocumentPatchedEvent) and not isinstance(event, MessageSentEvent)
