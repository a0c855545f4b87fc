"""A page that was made before its visitor came moves and answers as any other, in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from browser_app import App
from playwright.sync_api import expect

from lab.benchmarks.served.server import Server

PATIENCE = 180.0


@pytest.fixture(scope="module")
def server(browser_type_launch_args) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLC_LAB_WARM", "all")  # other servers of tests make no windows ahead
        server = Server()
    yield server
    server.close()


def test_it_moves_and_answers(server, page):
    limit = time.monotonic() + PATIENCE
    while server.held()["waiting"] < 10:
        assert time.monotonic() < limit, "no windows are made"
        time.sleep(0.2)
    app = App(page, server.url)
    app.open()
    assert server.held()["arrived"] == 1
    app.wait_for_points()
    app.button("Pause").click()
    expect(page.locator(".caption")).to_contain_text("paused")
    entry = page.get_by_role("textbox", name="Layer sizes", exact=True)
    entry.fill("6, 5, 6")
    entry.press("Enter")
    expect(app.button("Pause")).to_be_visible()
    app.until_moving()
    app.open_page("stationary-bias")
    expect(app.button("Pause")).to_be_visible()
    assert server.held()["arrived"] == 2
    assert not app.problems and not server.errors()
