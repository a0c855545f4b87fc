"""Visitors who have come and see nothing move yet. Their first picture goes before what the pages of others still want.

All pages tick on one event loop. Of a class that comes at once each waits for all, unless those whose picture moves give way.
"""

from __future__ import annotations

from time import monotonic
from weakref import WeakKeyDictionary

from bokeh.document import Document

LONGEST_SECONDS = 8.0
"""Who sees nothing move after that has left, has a run that rests, or must do without being preferred."""

_came: WeakKeyDictionary[Document, float] = WeakKeyDictionary()
"""When they came. Only the event loop reads and writes it."""


def comes(document: Document | None) -> None:
    """A visitor of a page on which something is to move."""
    if document is not None:
        _came[document] = monotonic()


def moves(document: Document | None) -> None:
    """This visitor waits no longer."""
    if document is not None:
        _came.pop(document, None)


def give_way(document: Document | None) -> bool:
    """Whether this page's picture moves, or never will, while somebody else's does not yet."""
    if not _came:
        return False
    for other, since in list(_came.items()):
        if monotonic() - since > LONGEST_SECONDS:
            moves(other)
    return bool(_came) and document not in _came
