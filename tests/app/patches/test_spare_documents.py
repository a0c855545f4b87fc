"""Bokeh takes a document that is there for a new session, and asks for one with what the address says."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from bokeh.application import Application
from bokeh.document import Document
from bokeh.server import contexts
from bokeh.util.token import generate_jwt_token

from app.patches import spare_documents

CREATE = contexts.ApplicationContext.create_session_if_needed
REQUEST = SimpleNamespace(arguments={}, cookies={}, headers={}, protocol="http", host="", uri="", path="", method="GET")


@pytest.fixture
def unpatched(monkeypatch):
    """Other tests of this process may have patched it."""
    monkeypatch.setattr(contexts, "Document", Document)
    monkeypatch.setattr(contexts.ApplicationContext, "create_session_if_needed", getattr(CREATE, "__wrapped__", CREATE))


def _document(token: str | None) -> Document:
    async def opened() -> Document:
        context = contexts.ApplicationContext(Application())
        return (await context.create_session_if_needed("someone", REQUEST if token else None, token)).document

    with ThreadPoolExecutor(1) as thread:  # tests in a browser leave a loop that runs in the main one
        return thread.submit(asyncio.run, opened()).result()


def test_a_session_begins_with_the_document_that_is_chosen(unpatched):
    spare, asked = Document(), []

    def choose(arguments, cookies):
        asked.append((dict(arguments), dict(cookies)))
        return spare if b"start" in arguments["page"] else None

    spare_documents.apply(choose)
    for page in (b"start", b"landscapes"):
        payload = {"arguments": {"page": [page]}, "cookies": {"llc-lab-narrow": "1"}, "headers": {}}
        found = _document(generate_jwt_token("someone", extra_payload=payload))
        assert (found is spare) is (page == b"start")
        assert found.session_context is None or found.session_context.id == "someone"
    assert asked == [({"page": [page]}, {"llc-lab-narrow": "1"}) for page in (b"start", b"landscapes")]


def test_a_session_without_an_address_has_a_document_of_its_own(unpatched):
    spare_documents.apply(lambda arguments, cookies: pytest.fail("nobody knows what is asked for"))
    assert isinstance(_document(None), Document)


def test_bokeh_itself_begins_with_an_empty_document(unpatched):
    """The first test can fail, and the patch is needed."""
    assert contexts.Document is Document and not _document(None).roots
