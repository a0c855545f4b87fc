"""The site in a browser: it fits a phone, all can use it, and it asks no other machine for anything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from page_checks import faults
from playwright.sync_api import Browser, Page, expect

from lab.site import build
from llc_core.studies.papers.items import find
from llc_core.studies.papers.running import run_item

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")
pytest.importorskip("furo")

PAGES = (
    "index",
    "docs/samplers",
    "docs/papers-small",
    "docs/reference/estimates",
    "lab/benchmarks/results/accuracy",
    "lab/notebooks/00_start_here",
)
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[str]:
    """The address of a server of files: axe-core reads styles, which browsers let no script do with files of a disk."""
    folder = tmp_path_factory.mktemp("site")
    for item in ("000/figure-2", "000/table-1"):  # less than a second
        run_item(find(item), "small", folder / "work" / "papers")
    assert build.build(folder / "html", folder / "work") == []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder / "html"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def quick(browser_type, browser_type_launch_args) -> Iterator[Browser]:
    """A browser of its own; none of these tests needs the app."""
    opened = browser_type.launch(
        executable_path=browser_type_launch_args["executable_path"], args=["--no-sandbox", "--disable-gpu"]
    )
    yield opened
    opened.close()


@pytest.fixture
def opened(quick, site, request) -> Iterator[Page]:
    """A page of a size and scheme; what it complains of, or asks another machine for, fails the test."""
    name, options = request.param
    page, problems = quick.new_page(**options), list[str]()
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith((site, "data:")) else problems.append(asked.url))
    page.goto(f"{site}/{name}.html")
    yield page
    page.close()
    assert problems == []


def at(*names: str, **options: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("opened", [(name, options) for name in names], indirect=True, ids=names)


@at("docs/how-to/my-own-model", viewport=DESK, permissions=["clipboard-read", "clipboard-write"])
def test_code_is_copied_by_a_button(opened):
    first = opened.locator("div.highlight").first
    first.hover()
    first.get_by_role("button", name="Copy").click()
    expect(first.get_by_role("button", name="Copied")).to_be_visible()
    copied = opened.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import llc_core\n") and "conclude(found)" in copied and "Copy" not in copied


@at(*PAGES, viewport=PHONE)
def test_a_page_fits_a_phone(opened):
    expect(opened.locator("article h1").first).to_be_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    opened.evaluate("window.scrollTo(500, 0)")
    assert opened.evaluate("window.scrollX") == 0
    assert faults(opened) == []


@at("index", "docs/papers-small", "docs/samplers", viewport=DESK, color_scheme="dark")
def test_a_page_in_the_dark_has_no_serious_fault(opened):
    assert faults(opened) == []
    opened.evaluate("document.querySelector('article').appendChild(document.createElement('button'))")
    assert any("button-name" in fault for fault in faults(opened)), "the check can find one"


@at("docs/samplers", viewport=DESK)
def test_formulas_are_drawn(opened):
    count = opened.locator(".math").count()
    assert count > 50 and opened.locator(".math math").count() == count
    assert opened.locator(".katex-error").count() == 0


@at("docs/papers-small", viewport=PHONE, color_scheme="dark")
def test_a_figure_of_a_paper_is_drawn_once_it_is_near(opened):
    figure = opened.locator('[data-figure="../papers/000-figure-2.js"]')
    room = figure.evaluate("of => parseInt(of.style.minHeight)")
    figure.scroll_into_view_if_needed()
    expect(figure.locator("canvas").first).to_be_visible()
    assert figure.evaluate("of => getComputedStyle(of).backgroundColor") == "rgb(255, 255, 255)"
    assert figure.evaluate("of => [of.offsetHeight, of.scrollWidth - of.clientWidth]") == [room, 0]


@at("index", viewport=DESK)
def test_the_single_file_runs_on_the_front_page(opened):
    inside = opened.frame_locator(".single-file iframe")
    opened.locator(".single-file").scroll_into_view_if_needed()
    expect(inside.get_by_role("heading", level=1)).to_contain_text("How many weights")


@at("index", viewport=DESK)
def test_words_are_found(opened):
    opened.get_by_role("textbox", name="Search").fill("multiplicity")
    opened.keyboard.press("Enter")
    expect(opened.locator("#search-results li a").first).to_be_visible()
