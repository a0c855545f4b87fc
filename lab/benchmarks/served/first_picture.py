"""Where the time to the first picture of a page goes: of the clock, and of the processor, which other programs change less.

    python -m lab.benchmarks.served.first_picture [--tries 4]
    python -m lab.benchmarks.served.first_picture --page many-modes
    python -m lab.benchmarks.served.first_picture --page functions

Each opening is in the same tab, whose cache is full after the first; before it the tab shows a few bytes of the same server. Stages: the server has answered; the scripts are loaded and
the page connects; the figure of the regret is drawn and the first rounds are in it, or the chains of both panels move, or
the first band of functions and then the three gauges are there. Seconds of the processor are those of the server's
process and of all of the browser's, so two of them can pass in one second of the clock.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import psutil

from lab.benchmarks.machine import machine
from lab.benchmarks.served.latencies import BAND, BOTH_SIDES, DRAWN, GAUGES, MOST, ROUNDS
from lab.benchmarks.served.server import Server, launched
from lab.benchmarks.smoke import parse

SCRIPTS = ("scripts", "() => document.readyState !== 'loading'")
STAGES = {
    "decisions": (SCRIPTS, ("first picture", DRAWN), ("first rounds", ROUNDS)),
    "many-modes": (SCRIPTS, ("both panels move", BOTH_SIDES)),
    "functions": (SCRIPTS, ("first band", BAND), ("three gauges", GAUGES)),
}


def spent(processes: list[psutil.Process]) -> float:
    """Seconds of the processor so far, of those that are still there."""
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


def opening(tab: Any, server: Server, page: str) -> list[tuple[str, float, float, float]]:
    """Of each stage: its name, seconds of the clock, of the server's and of the browser's processor, all since the beginning."""
    served = [psutil.Process(server.process.pid)]

    def browsing() -> list[psutil.Process]:
        return [each for each in psutil.Process().children(recursive=True) if each.pid != served[0].pid]

    tab.goto(server.url.removesuffix("/app") + "/held")
    time.sleep(1.5)  # the server ends what the tab ran
    start, own, theirs = time.monotonic(), spent(served), spent(browsing())
    found = []
    for name, condition in (("answer", ""), *STAGES[page]):
        if condition:
            tab.wait_for_function(condition, timeout=MOST)
        else:
            tab.goto(f"{server.url}?page={page}", wait_until="commit")
        found.append((name, time.monotonic() - start, spent(served) - own, spent(browsing()) - theirs))
    return found


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=4)
    parser.add_argument("--page", choices=list(STAGES), default="decisions")
    options = parse(parser, globals(), tries=1)
    print(machine())
    server = Server()
    try:
        with sync_playwright() as playwright:
            tab = launched(playwright).new_page(viewport={"width": 1600, "height": 1000})
            opening(tab, server, options.page)  # fills the cache
            tries = [opening(tab, server, options.page) for _ in range(options.tries)]
    finally:
        server.close()
    for stage in zip(*tries, strict=True):
        name = stage[0][0]
        clock, own, theirs = (
            f"{min(values):.2f} s (of {', '.join(f'{value:.2f}' for value in values)})"
            for values in zip(*(each[1:] for each in stage), strict=True)
        )
        print(f"{name}: clock {clock}; server {own}; browser {theirs}", flush=True)
    print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; errors: {server.errors()}")


if __name__ == "__main__":
    main()
