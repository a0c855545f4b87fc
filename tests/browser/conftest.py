"""A served app and a browser that fails the test on any console error, page error or request to another host."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path
from urllib.parse import urlparse

import pytest
from browser_app import QUICK, WIDE, App, Kept
from playwright.sync_api import BrowserContext, Page, Request, expect
from served_panel import served_panel
from synthetic_store import failed_row, synthetic_rows, write_store

# The first is Chromium without the parts that only a window needs: a page costs it a quarter less of the processor.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Scripts of a page that lives for seconds are interpreted and compiled plainly; to optimise them costs more than it spares, by
# either of the two compilers that do: without the second a page costs the browser a tenth less.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--js-flags=--no-opt --no-maglev"]

# What a test waits for is looked for ten times a second. Otherwise it is at every frame, for which the page would have to draw one.
Page.wait_for_function = partialmethod(Page.wait_for_function, polling=100)

PATIENCE = 120_000
"""Milliseconds. A page on two busy cores answers late, not wrongly: no test asks how fast it is."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict:
    """The system's Chromium, without a GPU. Where there is none the tests are skipped, except on CI."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"No browser: install one of {', '.join(BROWSERS)}.")
    return {"executable_path": found, "args": ARGUMENTS}


@pytest.fixture(scope="session")
def lasting(browser_type, browser_type_launch_args, browser_context_args, tmp_path_factory) -> Iterator[BrowserContext]:
    """A browser with a profile on disk: it keeps the app's scripts as it has compiled them, which spares a page an eighth."""
    folder = tmp_path_factory.mktemp("profile")
    context = browser_type.launch_persistent_context(folder, **browser_type_launch_args, **browser_context_args)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def context(lasting, kept_page) -> Iterator[BrowserContext]:
    """The browser as a new visitor has it: nothing is left of the test before but the scripts."""
    visited = set[str]()

    def note(request: Request) -> None:
        if request.is_navigation_request():
            visited.add("{0.scheme}://{0.netloc}".format(urlparse(request.url)))

    lasting.on("request", note)
    yield lasting
    lasting.remove_listener("request", note)
    empty = lasting.pages[0]  # the one that the browser opened with
    for page in lasting.pages[1:]:
        if kept_page.app is None or page != kept_page.app.page:
            page.close()
    lasting.clear_cookies()
    lasting.clear_permissions()
    control = lasting.new_cdp_session(empty)
    for origin in visited:
        control.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
    control.detach()


@pytest.fixture(scope="session")
def stores(tmp_path_factory) -> Path:
    """A folder with two stores of sweeps, which the served app offers."""
    folder = tmp_path_factory.mktemp("stores")
    write_store(folder / "small.sqlite", [*synthetic_rows(), failed_row()], state="finished", done=1441, total=1441)
    write_store(folder / "other.sqlite", synthetic_rows(2, ["SGLD", "SGHMC"], steps=4))
    return folder


@pytest.fixture(scope="session")
def address(browser_type_launch_args, tmp_path_factory, stores) -> Iterator[str]:
    with served_panel(tmp_path_factory.mktemp("server") / "log.txt", stores) as url:
        yield url


@pytest.fixture
def app(page, address) -> Iterator[App]:
    app = App(page, address)
    page.set_viewport_size(WIDE)
    yield app
    assert not app.problems, "\n".join(app.problems)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="module")
def kept_page(lasting, address) -> Iterator[Kept]:
    """A page that is loaded once for a file."""
    kept = Kept(lasting.new_page, address)
    yield kept
    kept.close()
    lasting.clear_cookies()  # one of them names the page that was used last


@pytest.fixture
def kept(kept_page, request) -> Iterator[Kept]:
    """For the fixture of a file whose tests use one page one after another."""
    yield kept_page
    kept_page.give_back(request.node.stash.get(FAILED, False))


@pytest.fixture
def started(kept) -> App:
    """The page that the app opens with, its first preset running: loaded for this test, or left in order by another."""

    def again(app: App) -> None:
        app.first_preset()
        expect(app.button("Pause")).to_be_visible()
        app.wait_for_points()

    return kept.get(App.open, again)


def open_quick(app: App) -> None:
    app.open_link("local-geometry", QUICK)
    wait_for_quick(app)


def wait_for_quick(app: App) -> None:
    expect(app.page.locator(".count")).to_contain_text("of 1,000")
    expect(app.page.locator(".caption")).to_have_text("finished")
    app.wait_for_points()  # what lies below the first picture is there


@pytest.fixture
def quick(kept) -> App:
    """The page after a short run of few chains of its first preset, so that sweeps and splits take seconds."""

    def again(app: App) -> None:
        app.bring(QUICK)
        wait_for_quick(app)

    return kept.get(open_quick, again)


@pytest.fixture
def still(kept) -> App:
    """The same, as a test has left it, for tests that ask nothing of its run."""
    return kept.get(open_quick, lambda app: None)


@pytest.fixture
def long(started) -> App:
    """The page with a long run of its first preset, which is on while a test needs it. Keys are the page's."""
    steps = started.page.get_by_role("textbox", name="Steps", exact=True)
    steps.fill("100000")
    steps.press("Enter")
    expect(started.page.locator(".count")).to_contain_text("of 100,000")
    started.wait_for_points()
    started.page.locator("h1").click()
    return started


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args) -> dict:
    return {**browser_context_args, "reduced_motion": "reduce"}
