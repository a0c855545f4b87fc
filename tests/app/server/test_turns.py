"""Visitors who come at once have their pages made in turn, and those who are there already go on in between."""

from __future__ import annotations

import asyncio
import gc
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from bokeh.application import Application
from bokeh.document import Document

from app.app_hooks import on_server_loaded
from app.runs.giving_way import pages_wait
from app.server.turns import IN_A_ROW, Turns
from app.window import spares

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


def test_who_has_a_window_already_waits_for_no_turn(monkeypatch):
    document = Document()
    monkeypatch.setattr(spares, "_shells", {document: None})

    async def came() -> tuple[bool, bool]:
        application = Application(Turns())
        await application.on_session_created(SimpleNamespace(_document=Document()))  # whose page is being made
        both = [
            asyncio.ensure_future(application.on_session_created(SimpleNamespace(_document=each)))
            for each in (document, Document())
        ]
        await asyncio.sleep(0)
        there = both[0].done(), both[1].done()
        await asyncio.gather(*both)
        while pages_wait.is_set():
            await asyncio.sleep(OPENING / 10)
        return there

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, came()).result() == (True, False)


def test_meanwhile_chains_give_way_and_no_garbage_is_looked_for():
    seen: list[tuple[bool, bool]] = []

    async def visitor(application: Application) -> None:
        await application.on_session_created(SimpleNamespace())
        seen.append((pages_wait.is_set(), gc.isenabled()))

    async def all_of_them() -> None:
        application = Application(Turns())
        await asyncio.gather(*(visitor(application) for _ in range(IN_A_ROW + 2)))
        while pages_wait.is_set():
            await asyncio.sleep(OPENING / 10)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, all_of_them()).result()
    assert all(waiting for waiting, _ in seen) and not any(collects for _, collects in seen)
    assert not pages_wait.is_set() and gc.isenabled()


def test_a_class_without_end_has_its_garbage_collected():
    turns, seen = Turns(), []

    async def visitors() -> None:
        turns._waiting = 1  # there is always one more
        for _ in range(2 * IN_A_ROW):
            await turns.on_session_created(SimpleNamespace())
            await turns._passing
            seen.append(gc.isenabled())

    with ThreadPoolExecutor(1) as thread:
        try:
            thread.submit(asyncio.run, visitors()).result()
        finally:
            gc.enable()
            pages_wait.clear()
    assert [k + 1 for k, collects in enumerate(seen) if collects] == [IN_A_ROW, 2 * IN_A_ROW]


def test_the_server_has_them():
    application = Application()
    on_server_loaded(SimpleNamespace(application_context=SimpleNamespace(application=application)))
    assert [type(handler) for handler in application.handlers] == [Turns]
    application.create_document()
