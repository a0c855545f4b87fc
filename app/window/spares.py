"""Windows that are made before their visitors come: of ten who open one link at once most need not wait for each other's.

A window that is made takes the event loop for a third of a second, on which all pages tick. Here that is done while nobody waits.
Nothing of a visitor is in a window that was made ahead, and it has only one: see `Shell.arrive`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn
from bokeh.document import Document
from panel.io.location import Location
from panel.io.state import set_curdoc

from app.pages import load_pages
from app.patches import spare_documents
from app.session.errors import report
from app.sharing.links import from_arguments, named
from app.window import warmup
from app.window.shell import Shell

log = logging.getLogger(__name__)

FIRST = "start"
EACH = 1
"""Windows that wait for the visitors of each page that the header names."""
OF_LAST, LAST = 8, 2
"""The same for each of the two pages that were opened last: a class opens what its teacher has opened, or what comes first."""

_made: dict[str, list[Document]] = {}
"""By the key of the page."""
_shells: WeakKeyDictionary[Document, Shell] = WeakKeyDictionary()
_last: list[str] = []
"""Keys of the pages that were asked for last, the newest first; an empty key is that of the first page of all."""


def extend() -> None:
    """Panel's settings of one document."""
    # No notification area of Panel's: it would keep every closed page in memory. Shell has its own place for messages.
    pn.extension("katex", exception_handler=report)


def window() -> None:
    """Put a window into the session's document, unless it is there."""
    document = pn.state.curdoc
    shell = _shells.pop(document, None) if document is not None else None
    if shell is None:
        Shell().page.servable()
        return
    location, here = pn.state.location, Location.from_request(document.session_context.request)
    with pn.util.edit_readonly(location):
        location.param.update(
            **{name: getattr(here, name) for name in ("href", "hostname", "pathname", "protocol", "port", "search")}
        )
    shell.arrive()


def is_made(document: Document) -> bool:
    return document in _shells


def count() -> int:
    """Windows that wait for a visitor."""
    return sum(map(len, _made.values()))


def choose(arguments: Mapping[str, Any], cookies: Mapping[str, str]) -> Document | None:
    """A window for this visitor, which nobody else gets; None where there is none that fits."""
    try:
        link = from_arguments(arguments)
        key = named(arguments).page if link is None else link.page
    except ValueError:
        return None
    key = key or cookies.get("llc-lab-page", "")
    _last[:] = [key, *(other for other in _last if other != key)][:LAST]
    if cookies.get("llc-lab-dark") == "1":  # its components are made in dark colours
        return None
    waiting = _made.get(key or FIRST)
    return waiting.pop() if waiting else None


def make_one(server: Any) -> bool:
    """Make a window where one is missing; the caller is on the event loop. Returns whether it has.

    server: its context, by which Panel knows where scripts lie.
    """
    if not warmup.ready() or warmup.error():
        return False
    known = {page.key for page in load_pages()}
    wanted = {key: OF_LAST for key in (last or FIRST for last in _last or [FIRST]) if key in known}
    wanted = {page.key: EACH for page in load_pages() if page.main} | wanted
    key = next((key for key, most in wanted.items() if len(_made.get(key, ())) < most), None)
    if key is None:
        return False
    document = spare_documents.spare(server)
    with set_curdoc(document):
        extend()
        try:
            shell = Shell(key)
            shell.page.server_doc(document)
        except Exception:
            log.exception("A window could not be made ahead; its visitors wait until it is made for them.")
            return False
    _shells[document] = shell
    _made.setdefault(key, []).append(document)
    return True
