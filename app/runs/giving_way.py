"""Who goes first: pages that wait to be made before chains that move, and first pictures before what other pages still want.

All want one interpreter, and all pages tick on one event loop. A visitor whose page is not there sees nothing; one who has just
come, or has changed something, waits for all others, unless those whose picture moves give way.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

SHARE = 3.0
"""So many times as long as it computed a run rests while pages wait."""
LONGEST_SECONDS = 8.0
"""Who sees nothing move after that has left, has a run that rests, or must do without being preferred."""

pages_wait = threading.Event()
"""Set by the event loop, read by the threads of runs."""
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
