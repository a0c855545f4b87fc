"""A session may begin with a document that was made before it.

Bokeh makes an empty document for each session, and the application fills it while the browser waits and all other pages stand
still.

Holds for bokeh 3.9.2.
Gains: the last of ten who come at once has a page after 3.8 to 5.8 processor seconds in place of 13.5 to 14.5
(`lab/benchmarks/results/served.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from types import SimpleNamespace
from typing import Any

from bokeh.document import Document
from bokeh.server import contexts
from bokeh.util.token import get_token_payload

Choose = Callable[[Mapping[str, Any], Mapping[str, str]], Document | None]

_token: ContextVar[str | None] = ContextVar("token", default=None)
"""Of the session that is begun: it says what the address asks for."""


def spare(server: Any) -> Document:
    """A document with a session that is never begun, and asks for nothing.

    Without one Panel takes a document for one that is on the screen.  server: its context.
    """
    document = Document()
    context = contexts.BokehSessionContext("ahead", server, document)
    context._request = SimpleNamespace(arguments={}, cookies={}, headers={})
    document._session_context = lambda: context  # Bokeh puts the visitor's in its place
    return document


def document_of(session_context: Any) -> Document | None:
    """The document of a session that begins."""
    return getattr(session_context, "_document", None)


def apply(choose: Choose) -> None:
    """From now on, in the whole process. Nothing happens where Bokeh has no such function any more.

    choose: gets arguments and cookies of a request. Returns the document of its session, None for an empty one.
    """
    whole = getattr(contexts.ApplicationContext, "create_session_if_needed", None)
    if whole is None or hasattr(whole, "__wrapped__") or getattr(contexts, "Document", None) is not Document:
        return

    @wraps(whole)
    async def create_session_if_needed(
        self: Any, session_id: Any, request: Any = None, token: str | None = None
    ) -> Any:
        before = _token.set(token)
        try:
            return await whole(self, session_id, request, token)
        finally:
            _token.reset(before)

    def document() -> Document:
        token = _token.get()
        asked = get_token_payload(token) if token else {}
        found = choose(asked["arguments"], asked["cookies"]) if {"arguments", "cookies"} <= set(asked) else None
        return Document() if found is None else found

    contexts.ApplicationContext.create_session_if_needed = create_session_if_needed
    contexts.Document = document
