"""Errors never vanish: they go to the log in full and to the user in words."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakMethod

import bokeh.server.connection
import panel as pn
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

log = logging.getLogger(__name__)

_places: WeakKeyDictionary[Any, WeakMethod[Callable[[str], None]]] = WeakKeyDictionary()
_notebook: list[WeakMethod[Callable[[str], None]]] = []
"""Where a notebook's errors go: the view that was made last. There is no document to tell views apart by."""


class _Leaving(logging.Filter):
    """A visitor who leaves while messages are under way is no error.

    A message to a closed socket raises an exception that nobody retrieves (panel #3341). A message from a visitor who has left
    reaches Bokeh after the connection has lost its session; an assertion fails there.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, AssertionError):
            places = traceback.extract_tb(error.__traceback__)
            return not (
                places and places[-1].filename == bokeh.server.connection.__file__ and places[-1].name == "session"
            )
        return not isinstance(error, (WebSocketClosedError, StreamClosedError))


for _name in ("asyncio", "bokeh.server.protocol_handler", "tornado.application"):
    logging.getLogger(_name).addFilter(_Leaving())


def show_errors_with(show: Callable[[str], None]) -> None:
    """From now on errors of the current session are told to the method `show`, which is held weakly."""
    if pn.state.curdoc is None:
        _notebook[:] = [WeakMethod(show)]
    else:
        _places[pn.state.curdoc] = WeakMethod(show)


def report(error: Exception) -> None:
    """Panel's exception handler for everything that happens in a session's callbacks."""
    log.error("An error in a session.", exc_info=error)
    tell(str(error) if isinstance(error, ValueError) else f"Something went wrong ({type(error).__name__}: {error}).")


def tell(text: str) -> None:
    """Say it to the visitor of the current session, where its errors are shown."""
    place = _notebook[0] if _notebook else None
    if pn.state.curdoc is not None:
        place = _places.get(pn.state.curdoc, place)
    show = place() if place is not None else None
    if show is not None:
        show(text[:300])
