"""A server that is told to come late does: half a second by the clock of its loop, in order, and without holding up what follows."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from bokeh.server.views.ws import WSHandler
from bokeh.util.tornado import _AsyncPeriodic, _CallbackGroup
from late_callbacks import VARIABLE, come_late
from tornado.ioloop import IOLoop

LATE = 0.1
EARLY = 0.002
"""A loop's clock may call so much too soon."""


def in_a_loop(coroutine: Coroutine) -> Any:
    """Of a thread of its own: in this one a browser's driver may have a loop that runs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture
def plain(monkeypatch):
    """What is replaced is put back."""
    for owner, name in ((WSHandler, "on_message"), (_CallbackGroup, "__init__"), (_AsyncPeriodic, "start")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    return monkeypatch


def test_messages_are_heard_late_in_order_and_beside_each_other(plain):
    heard = []

    async def on_message(self, fragment):
        heard.append((fragment, asyncio.get_running_loop().time()))

    plain.setattr(WSHandler, "on_message", on_message)
    come_late(LATE)

    async def say():
        browser, sent = SimpleNamespace(ws_connection=object()), asyncio.get_running_loop().time()
        for number in range(10):
            WSHandler.on_message(browser, str(number))
        assert not heard
        await browser._late
        browser.ws_connection = None
        WSHandler.on_message(browser, "of one who has left")
        await browser._late
        return sent

    sent = in_a_loop(say())
    assert [fragment for fragment, _ in heard] == [str(number) for number in range(10)]
    assert all(at - sent >= LATE - EARLY for _, at in heard)
    assert heard[-1][1] - heard[0][1] < LATE, "all of them were late at the same time"


def test_callbacks_come_late_and_what_is_repeated_keeps_its_period(plain):
    late = 5 * LATE
    come_late(late)
    called: dict[str, list[float]] = {"tick": [], "timeout": [], "period": []}

    async def ask():
        loop = asyncio.get_running_loop()
        group, asked = _CallbackGroup(IOLoop.current()), loop.time()

        def note(name):
            return lambda: called[name].append(loop.time() - asked)

        group.add_next_tick_callback(note("tick"), "1")
        group.add_timeout_callback(note("timeout"), 50, "2")
        group.add_periodic_callback(note("period"), 20, "3")
        while len(called["period"]) < 5:
            await asyncio.sleep(0.01)
        group.remove_all_callbacks()

    in_a_loop(ask())
    assert called["tick"][0] >= late - EARLY and called["timeout"][0] >= late + 0.05 - EARLY
    assert called["period"][0] >= late + 0.02 - EARLY and called["period"][4] - called["period"][0] < 2 * late
    assert len(called["tick"]) == len(called["timeout"]) == 1


def test_without_the_variable_nothing_is_late(plain):
    before = WSHandler.on_message
    plain.delenv(VARIABLE, raising=False)
    come_late()
    assert WSHandler.on_message is before
    plain.setenv(VARIABLE, "0.1")
    come_late()
    assert WSHandler.on_message is not before
