"""Pages open one after the other: making one holds up the event loop, and a class that comes at once would stop all clocks.

Windows that are made already (`app.window.spares`) wait for no turn, and are made again when nobody waits.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Any

from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from tornado.ioloop import PeriodicCallback

from app.runs.giving_way import pages_wait

SHARE = 0.1
"""Of the time that a page took: so long the others' pages have the event loop before the next one is made."""
LONGEST = 0.5
"""Seconds of this pause at most."""
IN_A_ROW = 16
"""Pages between which no garbage is looked for: a look takes as long as a page, and there would be one with every second page."""
LOOK_MILLISECONDS = 250
"""Between two looks whether a window can be made ahead."""
EACH_LOOKS = 10
"""So many more looks between two such windows for each visitor who is there and sees a jerk."""


class Turns(Handler):
    """A part of the application that changes no document. Bokeh awaits it before it makes the document of a session."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = asyncio.Lock()
        self._passing: asyncio.Task[None] | None = None
        self._waiting = self._row = self._looks = 0
        self._context: Any = None

    def modify_document(self, doc: Document) -> None:
        pass

    def on_server_loaded(self, server_context: Any) -> None:
        from app.patches import spare_documents
        from app.window.spares import choose
        from app.window.warmup import WARM
        from llc_core.fields import of_environment

        if of_environment("LLC_LAB_WARM", WARM) == "all":
            self._context = server_context
            spare_documents.apply(choose)
            looking = PeriodicCallback(self._look, LOOK_MILLISECONDS)
            server_context.application_context.io_loop.add_callback(looking.start)

    async def on_session_created(self, session_context: Any) -> None:
        from app.patches import spare_documents
        from app.window import spares

        self._looks = 0
        document = spare_documents.document_of(session_context)
        if document is not None and spares.is_made(document):
            return
        self._waiting += 1
        pages_wait.set()
        try:
            await self._turn.acquire()
        except BaseException:
            self._had()
            raise
        self._row += 1
        gc.disable()
        self._passing = asyncio.ensure_future(self._pass_on(asyncio.get_running_loop().time()))

    async def _pass_on(self, began: float) -> None:
        """Begins when the loop is free again: then the document has been made."""
        took = asyncio.get_running_loop().time() - began
        self._had()
        await asyncio.sleep(min(SHARE * took, LONGEST))
        self._turn.release()

    def _had(self) -> None:
        """Somebody waits no longer."""
        self._waiting -= 1
        if not self._waiting or self._row >= IN_A_ROW:
            self._row = 0
            gc.enable()
        if not self._waiting:
            pages_wait.clear()

    def _look(self) -> None:
        """Make a window for somebody who may come, if nobody waits for anything."""
        from app.window import spares

        self._looks += 1
        if self._waiting or self._looks <= EACH_LOOKS * len(list(self._context.sessions)):
            return
        self._looks = 0
        spares.make_one(self._context)
