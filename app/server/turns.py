"""Pages open one after the other: making one holds up the event loop, and a class that comes at once would stop all clocks."""

from __future__ import annotations

import asyncio
from typing import Any

from bokeh.application.handlers.handler import Handler
from bokeh.document import Document

SHARE = 0.1
"""Of the time that a page took: so long the others' pages have the event loop before the next one is made."""
LONGEST = 0.5
"""Seconds of this pause at most."""


class Turns(Handler):
    """A part of the application that changes no document. Bokeh awaits it before it makes the document of a session."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = asyncio.Lock()
        self._passing: asyncio.Task[None] | None = None

    def modify_document(self, doc: Document) -> None:
        pass

    async def on_session_created(self, session_context: Any) -> None:
        await self._turn.acquire()
        self._passing = asyncio.ensure_future(self._pass_on(asyncio.get_running_loop().time()))

    async def _pass_on(self, began: float) -> None:
        """Begins when the loop is free again: then the document has been made."""
        took = asyncio.get_running_loop().time() - began
        await asyncio.sleep(min(SHARE * took, LONGEST))
        self._turn.release()
