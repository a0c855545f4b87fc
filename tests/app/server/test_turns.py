"""Visitors who come at once have their pages made in turn, and those who are there already go on in between."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from bokeh.application import Application

from app.app_hooks import on_server_loaded
from app.server.turns import Turns

OPENING = 0.02


def _opened(application: Application, visitors: int) -> list[str]:
    """What the event loop did, in order: "open", and "tick" of somebody else's page."""
    seen: list[str] = []

    async def visitor() -> None:
        await application.on_session_created(SimpleNamespace())
        time.sleep(OPENING)  # as a page that is made: nobody else has the event loop
        seen.append("open")

    async def all_of_them() -> None:
        coming = asyncio.gather(*(visitor() for _ in range(visitors)))
        while not coming.done():
            seen.append("tick")
            await asyncio.sleep(OPENING / 10)

    with ThreadPoolExecutor(1) as thread:  # tests in a browser leave a loop that runs in the main one
        thread.submit(asyncio.run, all_of_them()).result()
    return seen


def test_others_go_on_between_two_pages():
    seen = _opened(Application(Turns()), 4)
    places = [k for k, what in enumerate(seen) if what == "open"]
    assert len(places) == 4
    assert all("tick" in seen[first:second] for first, second in zip(places, places[1:], strict=False))


def test_without_turns_all_pages_are_made_at_once():
    """The test above can fail."""
    assert "open open open open" in " ".join(_opened(Application(), 4))


def test_the_server_has_them():
    application = Application()
    on_server_loaded(SimpleNamespace(application_context=SimpleNamespace(application=application)))
    assert [type(handler) for handler in application.handlers] == [Turns]
    application.create_document()
