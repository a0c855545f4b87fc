"""Visitors who wait for a picture: they have just come, or have changed something. It goes before what the pages of others still want.

All pages tick on one event loop. Each visitor of a class waits for all others, unless those whose picture moves give way.
"""

from __future__ import annotations

from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

LONGEST_SECONDS = 8.0
"""Who sees nothing move after that has left, has a run that rests, or must do without being preferred."""

_awaited: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
"""Documents of visitors, and since when they wait. Only the event loop reads and writes it."""


def awaited(document: Any) -> None:
    """From now on this visitor waits for the first picture of a run."""
    if document is not None:
        _awaited[document] = monotonic()


def drawn(document: Any) -> None:
    """This visitor waits no longer."""
    if document is not None:
        _awaited.pop(document, None)


def is_awaited(document: Any) -> bool:
    return document in _awaited


def give_way(document: Any) -> bool:
    """Whether this page's picture moves, or never will, while somebody else's does not yet."""
    if not _awaited:
        return False
    for other, since in list(_awaited.items()):
        if monotonic() - since > LONGEST_SECONDS:
            drawn(other)
    return bool(_awaited) and document not in _awaited
