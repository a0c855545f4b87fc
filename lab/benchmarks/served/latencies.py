"""How long a visitor waits, 50% and 95% of the tries: after opening the app, warm and cold, after turning a page, after a slider,
and for what a lesson shows.

    python -m lab.benchmarks.served.latencies [--tries 20] [--cold 5]

Warm: the server has been up for a while, and the browser has been there before. Cold: `panel serve app` was started just now, and
the browser's cache is empty. "Moving" is the first point of a run on the first page; "shown" after a page is turned is when the grey
boxes make room for the page. Times within the browser are its own clock's. Other programs make all of them longer: see the load.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lab.benchmarks.served.server import ROOT, Server, launched
from lab.benchmarks.smoke import parse

MOST = 120_000
SOURCE = """(name) => {
  const models = window.Bokeh?.documents?.[0]?._all_models
  const source = models && [...models.values()].find((m) => m.name === name && m.type === 'ColumnDataSource')
  const columns = source && (source.data instanceof Map ? Object.fromEntries(source.data) : source.data)
  return columns && Object.fromEntries(Object.entries(columns).map(([key, value]) => [key, Array.from(value)]))
}"""
UPDATES = """async (milliseconds) => {
  const source = [...Bokeh.documents[0]._all_models.values()].find((m) => m.name === 'losses' && m.type === 'ColumnDataSource')
  let updates = 0
  const count = () => { updates += 1 }
  source.streaming.connect(count)
  const start = performance.now()
  await new Promise((done) => setTimeout(done, milliseconds))
  source.streaming.disconnect(count)
  return 1000 * updates / (performance.now() - start)
}"""
POINTS = f"""() => {{
  const found = {SOURCE}
  return (found('trails')?.turn?.length ?? found('recent')?.step?.length ?? 0) > 0
}}"""
"""Whether the picture of an estimate moves: the chains' trails on the plane, or else λ̂'s curve."""
HOLE = f"""() => ['left', 'right'].map((side) => {{
  const top = ({SOURCE})(`histogram_${{side}}`)?.top ?? [0]
  return (top[39] + top[40]) / 2 / Math.max(...top)
}}).every((share, side) => side ? share > 0.9 : share < 0.6)"""
DRAWN = """() => {
  const view = [...(window.Bokeh?.index?.query?.((v) => v.model.name === 'regret' && v.model.type === 'Figure') ?? [])][0]
  return Boolean(view?.el?.getBoundingClientRect().height)
}"""
BOTH_SIDES = f"() => ['left', 'right'].every((side) => (({SOURCE})(`heads_${{side}}`)?.x?.length ?? 0) > 0)"
"""Whether the chains of both panels of "Many modes" are drawn: they come with the first steps of the run."""
BAND = f"() => (({SOURCE})('live')?.x?.length ?? 0) > 0"
GAUGES = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const said = all(document).filter((e) => /^r_hat_/.test(e.dataset?.key) && /[0-9]/.test(e.textContent)).map((e) => e.dataset.key)
  return ['r_hat_weights', 'r_hat_loss', 'r_hat_functions'].every((key) => said.includes(key))
}"""
"""Of "Weights and functions": whether there is a band of the chains, and whether all three gauges say a number."""
ROUNDS = f"() => (({SOURCE})('regrets')?.round?.length ?? 0) > 0"
VIEW = {"width": 1600, "height": 1000}
TURNED = (
    "Stationary bias",
    "Many modes",
    "Landscapes",
    "Weights and functions",
    "Decisions",
    "Benchmark",
    "Local geometry",
)
DEEP = "const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])\n"
FRAME = "const frame = () => new Promise((done) => requestAnimationFrame(done))\n"
VALUE = f"() => {{ {DEEP} return all(document).some((e) => e.dataset?.key === 'llc' && /[0-9]/.test(e.textContent)) }}"
TURN = f"""async (title) => {{
  {DEEP}{FRAME}
  const button = all(document).find((e) => e.localName === 'button' && e.textContent === title && e.closest('nav'))
  const start = performance.now()
  button.click()
  await frame()
  const grey = all(document).some((e) => e.classList?.contains('lab-skeleton')) ? performance.now() - start : NaN
  while (all(document).some((e) => e.classList?.contains('lab-skeleton'))) await frame()
  return [grey / 1000, (performance.now() - start) / 1000]
}}"""
SLIDE = f"""async (name) => {{
  {DEEP}{FRAME}
  const losses = () => (({SOURCE})('losses')?.step ?? [])
  const slider = all(document).find((e) => e.type === 'range' && e.getAttribute('aria-label') === name)
  const text = slider.parentElement.querySelector('input[type=text]'), was = text.value
  const before = losses().at(-1) ?? 0
  const start = performance.now()
  slider.value = Number(slider.value) > (Number(slider.min) + Number(slider.max)) / 2 ? slider.min : slider.max
  slider.dispatchEvent(new Event('input', {{bubbles: true}}))
  slider.dispatchEvent(new Event('change', {{bubbles: true}}))
  const echo = text.value !== was ? performance.now() - start : NaN
  while (!(losses().length && losses().at(-1) < before)) await frame()
  return [echo / 1000, (performance.now() - start) / 1000]
}}"""


def opened(page: Any, url: str) -> list[float]:
    """Seconds until the document is there, until the run moves, and from then until λ̂ has a value."""
    start = time.monotonic()
    page.goto(f"{url}?page=landscapes", wait_until="commit")
    document = time.monotonic() - start
    page.wait_for_function(POINTS, timeout=MOST)
    moving = time.monotonic() - start
    page.wait_for_function(VALUE, timeout=MOST)
    return [document, moving, time.monotonic() - start - moving]


LEFT = 4000
"""Milliseconds after which the run of a page that was left has ended."""


def modes(page: Any, url: str) -> list[float]:
    """Seconds until the chains of both panels of "Many modes" move, opened by its address."""
    start = time.monotonic()
    page.goto(f"{url}?page=many-modes", wait_until="commit")
    page.wait_for_function(BOTH_SIDES, timeout=MOST)
    return [time.monotonic() - start]


def functions(page: Any, url: str) -> list[float]:
    """Seconds until "Weights and functions", opened by its address, shows a band of chains, and until its gauges have values."""
    page.goto("about:blank")
    page.wait_for_timeout(LEFT)
    start = time.monotonic()
    page.goto(f"{url}?page=functions", wait_until="commit")
    page.wait_for_function(BAND, timeout=MOST)
    band = time.monotonic() - start
    page.wait_for_function(GAUGES, timeout=MOST)
    return [band, time.monotonic() - start]


def turned(page: Any, title: str) -> list[float]:
    found = page.evaluate(TURN, title)
    page.wait_for_timeout(1500)  # what comes after the page is shown belongs to this page
    return found


def slid(page: Any) -> list[float]:
    # It comes after the first picture.
    page.locator("input[type=range][aria-label='Chains slider']").wait_for(state="attached")
    found = page.evaluate(SLIDE, "Chains slider")
    page.wait_for_timeout(1000)
    return found


@contextlib.contextmanager
def fresh_server() -> Iterator[str]:
    """`panel serve app`, as soon as it takes connections."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", "app", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/app"
    finally:
        process.terminate()
        process.wait(30)


def cold(browser: Any) -> list[float]:
    """Seconds until the page says that the engine starts, and until the run moves."""
    with fresh_server() as url:
        page = browser.new_context(viewport=VIEW).new_page()
        start = time.monotonic()
        page.goto(f"{url}?page=landscapes", wait_until="commit")
        page.get_by_text("Starting").first.wait_for(timeout=MOST)
        starting = time.monotonic() - start
        page.wait_for_function(POINTS, timeout=MOST)
        moving = time.monotonic() - start
        page.context.close()
    return [starting, moving]


def updates(page: Any, url: str) -> list[float]:
    """Drawn updates a second, of ten chains."""
    page.goto(f"{url}?page=local-geometry")
    page.wait_for_function(POINTS, timeout=MOST)
    steps = page.get_by_role("textbox", name="Steps", exact=True)
    steps.fill("100000")
    steps.press("Enter")
    page.get_by_text("of 100,000").first.wait_for(timeout=MOST)
    page.wait_for_function(POINTS, timeout=MOST)
    return [float(page.evaluate(UPDATES, 3000))]


def tiny(page: Any, url: str) -> list[float]:
    """Seconds until a run of "Tiny" is finished, and |λ̂ − expected| in standard errors."""
    start = time.monotonic()
    page.goto(f"{url}?page=local-geometry")
    page.locator(".caption", has_text="finished").wait_for(timeout=MOST)
    spent = time.monotonic() - start
    page.get_by_text("Trust it.").wait_for(timeout=MOST)
    llc, se = map(float, page.locator("[data-key=llc]").first.text_content().split(" ± "))
    return [spent, abs(llc - float(page.locator("[data-key=expected]").first.text_content())) / se]


def hole(page: Any, url: str) -> list[float]:
    """Seconds from the click on "Stationary bias" to the hole on the left side and none on the right."""
    page.goto(f"{url}?page=landscapes")
    button = page.get_by_role("button", name="Stationary bias", exact=True)
    button.wait_for(timeout=MOST)
    start = time.monotonic()
    button.click()
    page.wait_for_function(HOLE, timeout=MOST)
    return [time.monotonic() - start]


def told(rows: list[list[float]], names: list[tuple[str, str]]) -> None:
    for (what, goal), values in zip(names, np.array(rows).T, strict=True):
        low, high = np.percentile(values, [50, 95])
        print(f"| {what} | {low:.2f} | {high:.2f} | {goal} | {len(values)} |", flush=True)


def repeated(times: int, once: Callable[[], list[float]]) -> list[list[float]]:
    return [once() for _ in range(times)]


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--cold", type=int, default=5)
    options = parse(parser, globals(), tries=1, cold=1)
    print("| seconds where nothing else is said | 50% | 95% | goal | tries |\n|---|---|---|---|---|")
    server = Server()
    try:
        with sync_playwright() as playwright:
            browser = launched(playwright)
            page = browser.new_page(viewport=VIEW)
            opened(page, server.url)
            told(
                repeated(options.tries, lambda: opened(page, server.url)),
                [("warm, the document", "–"), ("warm, moving", "2.5 s"), ("a first λ̂ after the first point", "2 s")],
            )
            told(
                repeated(options.tries, lambda: slid(page)),
                [("slider, its number", "at once"), ("slider, new run drawn", "1 s")],
            )
            turns = [turned(page, TURNED[k % len(TURNED)]) for k in range(max(options.tries, len(TURNED)))]
            told(turns, [("page turned, grey boxes", "0.1 s"), ("page turned, shown", "1.2 s")])
            modes(page, server.url)
            told(repeated(options.tries, lambda: modes(page, server.url)), [("Many modes, both panels move", "2 s")])
            functions(page, server.url)
            told(
                repeated(options.tries, lambda: functions(page, server.url)),
                [("Weights and functions, first band", "1.5 s"), ("its gauges", "5 s")],
            )
            told(
                repeated(options.tries, lambda: updates(page, server.url)),
                [("ten chains, drawn updates a second", "15 or more")],
            )
            told(
                repeated(options.tries, lambda: tiny(page, server.url)),
                [("“Tiny” finished", "10 s"), ("its λ̂ from the expected one, in standard errors", "two")],
            )
            told(
                repeated(options.tries, lambda: hole(page, server.url)),
                [("the hole of PSGLD, and none beside it, after the click", "5 s")],
            )
            told(
                repeated(options.cold, lambda: cold(browser)),
                [("cold, it says that it starts", "1.5 s"), ("cold, moving", "8 s")],
            )
            print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; errors: {server.errors()}")
    finally:
        server.close()


if __name__ == "__main__":
    main()
