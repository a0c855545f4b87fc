"""How long a visitor waits, 50% and 95% of the tries: after opening the app, warm and cold, after turning a page, after a slider.

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

from lab.benchmarks.served.seen import BAND, BOTH_SIDES, GAUGES, POINTS, SOURCE
from lab.benchmarks.served.server import ROOT, Server, launched
from lab.benchmarks.smoke import parse

MOST = 120_000
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
    page.goto(url, wait_until="commit")
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
        page.goto(url, wait_until="commit")
        page.get_by_text("Starting").first.wait_for(timeout=MOST)
        starting = time.monotonic() - start
        page.wait_for_function(POINTS, timeout=MOST)
        moving = time.monotonic() - start
        page.context.close()
    return [starting, moving]


def told(rows: list[list[float]], names: list[tuple[str, str]]) -> None:
    for (what, goal), values in zip(names, np.array(rows).T, strict=True):
        low, high = np.percentile(values, [50, 95])
        print(f"| {what} | {low:.2f} s | {high:.2f} s | {goal} | {len(values)} |", flush=True)


def repeated(times: int, once: Callable[[], list[float]]) -> list[list[float]]:
    return [once() for _ in range(times)]


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--cold", type=int, default=5)
    options = parse(parser, globals(), tries=1, cold=1)
    print("| | 50% | 95% | goal | tries |\n|---|---|---|---|---|")
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
                repeated(options.cold, lambda: cold(browser)),
                [("cold, it says that it starts", "1.5 s"), ("cold, moving", "8 s")],
            )
            print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; errors: {server.errors()}")
    finally:
        server.close()


if __name__ == "__main__":
    main()
