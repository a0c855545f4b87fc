"""Pages are turned in an app that is served from this very process, so that tests can look at the runs that it keeps."""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_app import free_port
from playwright.sync_api import expect

from app.pages import load_pages
from app.pages.base import PageInfo
from app.pages.local_geometry.presets import PRESETS
from app.runs.job import OVER
from app.runs.manager import manager

ROOT = Path(__file__).resolve().parents[3]


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return b"LLC Lab" in answer.read()
    except OSError:
        return False


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address. Made once: its first pages are dear."""
    import panel as pn

    port = free_port()
    quick = {"unused_session_lifetime_milliseconds": 300, "check_unused_sessions_milliseconds": 100}
    server = pn.serve({"app": str(ROOT / "app" / "main.py")}, port, "127.0.0.1", threaded=True, show=False, **quick)
    url = f"http://127.0.0.1:{port}/app"
    limit = time.monotonic() + 60
    while not answers(url):
        assert time.monotonic() < limit
        time.sleep(0.2)
    yield url
    server.stop()


@pytest.fixture
def here(served) -> str:
    """No run of the test before is left."""
    limit = time.monotonic() + 60
    while manager().active:
        assert time.monotonic() < limit
        time.sleep(0.1)
    return served


def test_another_page_takes_over_and_ends_the_run_of_the_one_that_is_left(app, here, monkeypatch):
    """First one of the same kind, then one of another kind, and back."""
    first, other = (next(p for p in load_pages() if p.key == key) for key in ("local-geometry", "stationary-bias"))
    second = PageInfo("Second page", "second", 15, first.build)
    monkeypatch.setattr("app.window.shell.load_pages", lambda: [first, second, other])
    visitor = type(app)(app.page, here)
    visitor.open_link("local-geometry", {"problem": PRESETS[0].problem, "steps": 100_000})
    visitor.until_moving()
    left = manager()._runs[-1]
    visitor.turn_to("Second page")
    expect(app.page.locator(".count")).to_have_text(re.compile(r"step [1-9][\d,]* of 8,000"))
    assert left.handle.state.status in OVER, "the first page's run is over"
    expect(app.page.get_by_role("group", name="Presets")).to_have_count(1)

    visitor.turn_to("Stationary bias")
    visitor.page.get_by_text("Right sampler").first.wait_for()
    expect(app.page.locator(".count")).to_have_text(re.compile(r"step [1-9][\d,]* of 60,000"))
    assert manager().active == 1
    left = manager()._runs[-1]
    visitor.turn_to("Local geometry")
    expect(app.page.locator(".count")).to_have_text(re.compile(r"step [1-9][\d,]* of 8,000"))
    assert left.handle.state.status in OVER, "the second page's run is over"
    assert manager().active <= 1
    expect(visitor.page.locator("nav [aria-current=page]")).to_have_text("Local geometry")
    expect(app.page.get_by_role("group", name="Presets")).to_have_count(1)
