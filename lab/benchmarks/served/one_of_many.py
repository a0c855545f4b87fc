"""One visitor with a browser in a class that arrives at once: when does the picture move, and when does each control answer?

    python -m lab.benchmarks.served.one_of_many --visitors 10

The others are visitors of `crowd`: pages with runs that outlast the measurement, whose drawing is the work of machines of their own.
The one with a browser draws on the machine that serves. An answer to Pause, Step and Play is what the page says of the run;
an answer to another setting is the picture of the run that it begins. Seconds count from the press that the browser notes: before
it, the robot looks where a control lies for some frames, as nobody does who has the hand on the mouse.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lab.benchmarks.machine import machine
from lab.benchmarks.served.crowd import LINKS, Visitor, link
from lab.benchmarks.served.latencies import MOST, SOURCE, launched
from lab.benchmarks.served.server import Server
from lab.benchmarks.smoke import parse, status

VIEW = {"width": 1366, "height": 768}
MOVING, ANSWERED = 6.0, 1.0
MOVES = f"() => (({SOURCE})('recent')?.step?.length ?? 0) > 0"
"""Whether the picture of Local geometry has points of the run that the page shows."""
NOTED = """for (const kind of ['pointerdown', 'keydown'])
    addEventListener(kind, (event) => { window.pressed = event.timeStamp }, true)"""
"""The browser's own time of the last press."""
SINCE = "() => (performance.now() - window.pressed) / 1000"


def _typed(name: str, value: str) -> Callable[[Any], None]:
    def do(page: Any) -> None:
        entry = page.get_by_role("textbox", name=name, exact=True)
        entry.fill(value)
        entry.press("Enter")

    return do


def _chosen(name: str, value: str) -> Callable[[Any], None]:
    def do(page: Any) -> None:
        page.get_by_role("combobox", name=name).click()
        page.get_by_role("option", name=value, exact=True).click()

    return do


def _pressed(name: str | re.Pattern[str]) -> Callable[[Any], None]:
    return lambda page: page.get_by_role("button", name=name, exact=True).click()


SETTINGS: dict[str, Callable[[Any], None]] = {
    "architecture": _typed("Layer sizes", "6, 5, 6"),
    "step size": _typed("Step size ε", "0.01"),
    "sampler": _chosen("Sampler", "SGLD"),
}
"""What begins a run."""


def visit(url: str) -> dict[str, float]:
    """Seconds of a visit: until the picture moves, and until each control has answered."""
    from playwright.sync_api import sync_playwright

    found: dict[str, float] = {}
    with sync_playwright() as playwright:
        page = launched(playwright).new_page(viewport=VIEW)
        bar, caption = page.get_by_role("toolbar", name="Run control"), page.locator(".caption")

        def timed(name: str, do: Callable[[Any], None], seen: Callable[[], None]) -> None:
            do(page)
            seen()
            found[name] = page.evaluate(SINCE)
            page.wait_for_timeout(1000)  # what comes after an answer belongs to it

        def moving() -> None:
            page.wait_for_function(MOVES, timeout=MOST)

        def begun(before: str) -> None:
            page.wait_for_function(
                """([element, before]) => element.dataset.run !== before""",
                arg=[bar.element_handle(), before], timeout=MOST,
            )  # fmt: skip
            moving()

        page.add_init_script(NOTED)
        start = time.monotonic()
        page.goto(f"{url}?page=local-geometry", wait_until="commit")
        moving()
        found["moving"] = time.monotonic() - start
        page.wait_for_timeout(1000)
        timed("Pause", _pressed("Pause"), lambda: caption.filter(has_text="paused").wait_for(timeout=MOST))
        count = page.locator(".count").text_content()
        timed(
            "Step", lambda page: page.get_by_role("button", name=re.compile("^Step: advance by")).click(),
            lambda: page.locator(".count").filter(has_not_text=count).wait_for(timeout=MOST),
        )  # fmt: skip
        timed(
            "Play",
            _pressed("Play"),
            lambda: page.get_by_role("button", name="Pause", exact=True).wait_for(timeout=MOST),
        )
        for name, do in SETTINGS.items():
            before = bar.get_attribute("data-run")
            timed(name, do, lambda before=before: begun(before))  # type: ignore[misc]
    return found


async def among(server: Server, visitors: int) -> tuple[dict[str, float], list[Visitor]]:
    """The visit of the one with a browser; the others come with it, and leave after it."""
    people = [Visitor(link(server, *LINKS[i % len(LINKS)])) for i in range(visitors - 1)]
    tasks = [asyncio.create_task(person.stay(time.monotonic() + 600)) for person in people]
    found = await asyncio.to_thread(visit, server.url)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.5)  # until all have said that they leave
    return found, people


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--rest", type=float, default=40.0, help="seconds between two tries, in which windows are made")
    options = parse(parser, globals(), visitors=2, tries=1, rest=1.0)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(machine())
    server = Server()
    try:
        asyncio.run(among(server, 1))  # the browser has been there before
        tries = []
        for _ in range(options.tries):
            time.sleep(options.rest)
            tries.append(asyncio.run(among(server, options.visitors))[0])
        late = 0
        print("| seconds | 50% | most | goal |\n|---|---|---|---|")
        for name in tries[0]:
            values = np.array([each[name] for each in tries])
            goal = MOVING if name == "moving" else ANSWERED
            late += int((values > goal).sum())
            print(f"| {name} | {np.median(values):.2f} | {values.max():.2f} | {goal:g} |", flush=True)
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {late} late")
        errors = server.errors()
        print("\n".join(errors))
        return status(late > 0) or int(bool(errors))
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
