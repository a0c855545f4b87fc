"""A served app and a browser that fails the test on any console error, page error or request to another host."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from page_scripts import SCHEME, SOURCE
from playwright.sync_api import Error, expect
from synthetic_store import failed_row, synthetic_rows, write_store

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LOCAL = {"localhost", "127.0.0.1", ""}

# A point of the window is ready for the mouse when nothing lies over the figure there: a menu that is still closing covers
# the page, and takes the first click for itself.
ON_A_FIGURE = """([x, y]) => {
  let found = document.elementFromPoint(x, y)
  while (found?.shadowRoot?.elementFromPoint(x, y) && found.shadowRoot.elementFromPoint(x, y) !== found)
    found = found.shadowRoot.elementFromPoint(x, y)
  const host = (e) => e?.parentNode instanceof ShadowRoot ? e.parentNode.host : e?.parentNode
  for (let e = found; e; e = host(e)) if (e.classList?.contains('bk-Figure')) return true
  return false
}"""
# A page on two busy cores answers late, not wrongly: no test asks how fast it is.
expect.set_options(timeout=60_000)
DIFFER = "now[0] !== old[0] && (old[1] == null || now[1] !== old[1])"


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict:
    """The system's Chromium, without a GPU. Where there is none the tests are skipped, except on CI."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"No browser: install one of {', '.join(BROWSERS)}.")
    return {"executable_path": found, "args": ["--no-sandbox", "--disable-gpu"]}


@pytest.fixture(scope="session")
def stores(tmp_path_factory) -> Path:
    """A folder with two stores of sweeps, which the served app offers."""
    folder = tmp_path_factory.mktemp("stores")
    write_store(folder / "small.sqlite", [*synthetic_rows(), failed_row()], state="finished", done=1441, total=1441)
    write_store(folder / "other.sqlite", synthetic_rows(2, ["SGLD", "SGHMC"], steps=4))
    return folder


@pytest.fixture(scope="session")
def address(browser_type_launch_args, tmp_path_factory, stores) -> Iterator[str]:
    """The app under `panel serve app`, as users start it, with the engine warm."""
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [sys.executable, "-m", "panel", "serve", "app", "--address", "127.0.0.1", "--port", str(port)]
    # Closed pages are forgotten at once, so that tests do not slow each other down.
    command += ["--unused-session-lifetime", "1500", "--check-unused-sessions", "300"]
    with log.open("w") as output:
        # Drawing for two browsers at once takes most of the time of these tests, and none of them counts frames.
        environment = {**os.environ, "LLC_LAB_STORES": str(stores), "LLC_LAB_FRAMES": "few"}
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env=environment)
    url = f"http://127.0.0.1:{port}/app"
    try:
        limit = time.monotonic() + 60
        while not answers(url):
            assert server.poll() is None and time.monotonic() < limit, log.read_text()
            time.sleep(0.2)
        time.sleep(5)  # the engine is imported in the background
        yield url
    finally:
        server.terminate()
        server.wait(20)
    text = log.read_text()
    assert "An error in a session" not in text and "A run failed" not in text, text


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return b"LLC Lab" in answer.read()
    except OSError:
        return False


@pytest.fixture
def here() -> Iterator[str]:
    """The app served from this very process, so that tests can look at what it keeps in memory."""
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


class App:
    """A page of the app, with what tests ask of it."""

    def __init__(self, page, address: str):
        self.page, self.address = page, address
        self.problems: list[str] = []
        page.on("console", lambda m: self.problems.append(f"console: {m.text}") if m.type == "error" else None)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("request", self._on_request)

    def _on_request(self, request) -> None:
        if request.url.startswith(("http", "ws")) and urlparse(request.url).hostname not in LOCAL:
            self.problems.append(f"request to another host: {request.url}")

    def open(self) -> App:
        self.page.goto(self.address)
        self.wait_for_points()
        return self

    def source(self, name: str) -> dict[str, list]:
        return self.page.evaluate(SOURCE, name) or {}

    def wait_for_points(self, seconds: float = 30) -> None:
        self.page.wait_for_function(f"() => (({SOURCE})('losses')?.step?.length ?? 0) > 0", timeout=seconds * 1000)

    @property
    def step(self) -> int:
        return int(self.page.locator(".count").text_content().split()[1].replace(",", ""))

    def number(self, key: str) -> str:
        return self.page.locator(f"[data-key={key}]").first.text_content()

    def button(self, name: str):
        return self.page.get_by_role("button", name=name, exact=True)

    def turn_to(self, title: str, seconds: float = 60) -> None:
        """Open another page; where the header is narrow the pages are in a menu."""
        menu = self.page.locator("nav > .open")
        menu.wait_for(state="attached", timeout=seconds * 1000)
        if menu.is_visible():
            menu.click()
        self.button(title).click()

    def until(self, condition: str, seconds: float = 30) -> None:
        """Wait until a JavaScript expression is true."""
        self.page.wait_for_function(f"() => {condition}", timeout=seconds * 1000)

    def place(self, script: str, argument: Any, seconds: float = 30) -> tuple[float, float]:
        """Where in the window a point of a figure is, by a script, once it holds still there and the mouse reaches it."""
        limit, last = time.monotonic() + seconds, None
        while time.monotonic() < limit:
            try:
                found = self.page.evaluate(script, argument)
            except Error:  # the figure is not there yet
                found = None
            if found is not None and found == last and self.page.evaluate(ON_A_FIGURE, found):
                return found[0], found[1]
            last = found
            self.settle(150)
        raise AssertionError(f"The figure does not hold still, or something covers it, at {last}.")

    def switch_scheme(self) -> None:
        """Turn light into dark, and wait until components and figures have followed."""
        before = self.page.evaluate(SCHEME)
        self.page.get_by_role("button", name="theme").first.click()
        self.page.wait_for_function(
            f"(old) => {{ const now = ({SCHEME})(); return {DIFFER} }}", arg=before, timeout=60_000
        )

    def settle(self, milliseconds: int = 500) -> None:
        self.page.wait_for_timeout(milliseconds)


@pytest.fixture
def app(page, address) -> Iterator[App]:
    app = App(page, address)
    page.set_viewport_size({"width": 1600, "height": 1000})
    yield app
    assert not app.problems, "\n".join(app.problems)


@pytest.fixture
def quick(app):
    """The page after a short run of few chains, so that sweeps and splits take seconds."""
    app.open()
    for name, value in (("Steps", "1000"), ("Chains", "4")):
        entry = app.page.get_by_role("textbox", name=name, exact=True)
        entry.fill(value)
        entry.press("Enter")
    expect(app.page.locator(".count")).to_contain_text("of 1,000")
    expect(app.page.locator(".caption")).to_have_text("finished")
    return app


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args) -> dict:
    return {**browser_context_args, "reduced_motion": "reduce"}
