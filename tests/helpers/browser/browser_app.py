"""A page of the app in a browser, with what tests ask of it; and one page that tests of a file use one after another."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlparse

from page_scripts import SCHEME, SOURCE
from playwright.sync_api import Error, expect

from app.pages.local_geometry.presets import PRESETS
from app.sharing.links import Link, encode

LOCAL = {"localhost", "127.0.0.1", ""}
WIDE = {"width": 1600, "height": 1000}
QUICK = {"problem": PRESETS[0].problem, "steps": 1000, "chains": 4}
"""The first preset of "Local geometry" for a moment: a test that asks nothing of a long run would pay for it."""
UNUSED_MILLISECONDS = 4000
"""How long the served app waits for the browser that has asked for a page."""

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
# Where everything lies that a person could press or look at; the numbers of a run change their width while it is on.
BOXES = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const kinds = 'h1, h2, button, input, summary, .lab-card, .bk-Figure, [role]'
  return JSON.stringify(all(document).filter((e) => e.matches(kinds)).map((e) => {
    const box = e.getBoundingClientRect()
    return [Math.round(box.x), Math.round(box.y)]
  }))
}"""
DIFFER = "now[0] !== old[0] && (old[1] == null || now[1] !== old[1])"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class App:
    """A page of the app. problems: errors of the console and of scripts, and requests to other hosts."""

    def __init__(self, page: Any, address: str):
        self.page, self.address = page, address
        self.problems: list[str] = []
        self.dark = False
        page.on("console", lambda m: self.problems.append(f"console: {m.text}") if m.type == "error" else None)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("request", self._on_request)

    def _on_request(self, request: Any) -> None:
        if request.url.startswith(("http", "ws")) and urlparse(request.url).hostname not in LOCAL:
            self.problems.append(f"request to another host: {request.url}")

    def open(self) -> App:
        """The page "Local geometry", moving. What lies below its first picture comes a moment later: see `wait_for_points`."""
        self.open_page("local-geometry")
        self.until_moving()
        return self

    def open_short(self) -> App:
        """The same page with a run that is soon over."""
        self.open_link("local-geometry", QUICK)
        self.until_moving()
        return self

    def open_link(self, key: str, config: dict[str, Any]) -> App:
        """Open a page with this configuration, as a link brings it."""
        self.page.goto(f"{self.address}?c={encode(Link(key, config))}")
        return self

    def until_moving(self) -> None:
        """Until the first picture of an estimate has points."""
        self.until(f"(({SOURCE})('recent')?.step?.length ?? 0) > 0")

    def open_page(self, key: str) -> App:
        """Open the page with this key at once: the one that the app begins with is not built first."""
        self.page.goto(f"{self.address}?page={key}")
        return self

    def source(self, name: str) -> dict[str, list]:
        return self.page.evaluate(SOURCE, name) or {}

    def wait_for_points(self, seconds: float = 30) -> None:
        """Until the loss traces have points, and with them the whole page is there."""
        self.page.wait_for_function(f"() => (({SOURCE})('losses')?.step?.length ?? 0) > 0", timeout=seconds * 1000)

    @property
    def step(self) -> int:
        return int(self.page.locator(".count").text_content().split()[1].replace(",", ""))

    def number(self, key: str) -> str:
        return self.page.locator(f"[data-key={key}]").first.text_content()

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def turn_to(self, title: str, seconds: float = 60) -> None:
        """Open another page: it may stand in the header, below “More pages”, or in the menu of a narrow header."""
        menu = self.page.locator("nav > .open")
        menu.wait_for(state="attached", timeout=seconds * 1000)
        chosen = self.page.locator("nav button[data-key]", has_text=re.compile(f"^{re.escape(title)}$"))
        if menu.is_visible():
            menu.click()
        elif not chosen.is_visible():
            self.page.locator("nav .more").click()
        chosen.click()

    @contextmanager
    def begins(self) -> Iterator[None]:
        """For what starts a run: at the end the page shows that run, and nothing of the one before."""
        bar = self.page.get_by_role("toolbar", name="Run control")
        before = bar.get_attribute("data-run")
        yield
        expect(bar).not_to_have_attribute("data-run", before)

    def choose(self, preset: str) -> None:
        """Press the tile of this name; in a low window the tiles lie behind one button."""
        tile, fold = self.page.locator(f"[data-name={preset}]"), self.page.locator(".fold")
        tile.wait_for(state="attached")
        if fold.is_visible() and not tile.is_visible():
            fold.click()
        tile.click()

    def first_preset(self) -> App:
        """The configuration that the page opens with, and its run from the beginning."""
        with self.begins():
            self.page.get_by_role("group", name="Presets").get_by_role("button").first.click()
        return self

    def bring(self, config: dict[str, Any]) -> None:
        """Open a configuration from a file, which starts its run."""
        with self.begins():
            self.give(config)

    def give(self, config: dict[str, Any]) -> None:
        """Hand the page a configuration as a file."""
        file = {"name": "a.json", "mimeType": "application/json", "buffer": json.dumps(config).encode()}
        self.page.locator("input[type=file][accept^='.json']").set_input_files(file)

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
            self.page.wait_for_timeout(150)
        raise AssertionError(f"The figure does not hold still, or something covers it, at {last}.")

    def drag(self, *points: tuple[float, float]) -> None:
        """Press the mouse at the first point of the window and let go at the last one. A busy page puts moves of one frame
        together, and would see none between the two: so each waits for a frame.
        """
        for number, point in enumerate(points):
            self.page.mouse.move(*point)
            self.page.evaluate(
                "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
            )
            if number == 0:
                self.page.mouse.down()
        self.page.mouse.up()

    def turn_colours(self) -> None:
        """Press the switch among the settings, which are as open afterwards as before."""
        opens, switch = self.button("Open drawer"), self.page.get_by_role("switch", name="Dark colours")
        closed = opens.is_visible()
        if closed:
            opens.click()
        switch.click()
        if not closed:
            return
        if self.page.locator(".MuiDrawer-modal").count():  # in a narrow window the settings lie over the page
            self.page.keyboard.press("Escape")
        else:
            self.button("Close drawer").click()
        switch.wait_for(state="hidden")

    def switch_scheme(self) -> None:
        """Turn light into dark or back, and wait until components and figures have followed."""
        before = self.page.evaluate(SCHEME)
        self.turn_colours()
        self.page.wait_for_function(
            f"(old) => {{ const now = ({SCHEME})(); return {DIFFER} }}", arg=before, timeout=60_000
        )
        self.dark = not self.dark

    def until_taken(self, name: str) -> None:
        """Until the button for files has this name: it is made anew with it, and a file given to the one before would be lost."""
        self.page.get_by_role("button", name=name, exact=True).wait_for()

    def still(self, seconds: float = 60) -> None:
        """Until nothing has moved, come or gone between two looks, a dozen frames apart."""
        limit, last = time.monotonic() + seconds, None
        while (now := self.page.evaluate(BOXES)) != last:
            assert time.monotonic() < limit, "The page does not come to rest."
            last = now
            self.page.wait_for_timeout(200)


class Kept:
    """One page for the tests of a file that leave it in order: to load and build it takes most of a short test's time.

    A test that fails leaves nothing to the next one, which gets a new page.
    """

    def __init__(self, new_page: Callable[[], Any], address: str):
        self._new_page, self._address = new_page, address
        self.app: App | None = None

    def get(self, first: Callable[[App], Any], again: Callable[[App], Any]) -> App:
        """first: opens the page.  again: brings a page that a test has left back to how it opens."""
        if self.app is None:
            self.app = App(self._new_page(), self._address)
            self.app.page.set_viewport_size(WIDE)
            first(self.app)
        else:
            again(self.app)
        return self.app

    def give_back(self, failed: bool) -> None:
        """To be called after each test; AssertionError where the page had problems."""
        assert self.app is not None
        problems = list(self.app.problems)
        if failed or problems:
            self.close()
        assert not problems, "\n".join(problems)

    def close(self) -> None:
        if self.app is not None:
            self.app.page.close()
        self.app = None
