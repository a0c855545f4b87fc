"""Does the served app stay the same size? Browser sessions open, run, change and close for minutes.

    python -m lab.benchmarks.served.soak --minutes 30

Starts a server of its own (the process whose memory is counted) and visits it with a headless Chromium. Prints, once a minute,
the server's resident memory, the runs it holds, the page objects that are alive and the errors in its log. The bar: less than
5% growth after the first five minutes, no run without a page, no error in the log.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.benchmarks.served.server import KEPT_SECONDS, Server, launched
from lab.benchmarks.smoke import parse, status

WARM_MINUTES = 5.0
GROWTH = 0.05
PATIENCE_MILLISECONDS = 120_000
GONE_SECONDS = 60
"""So long a session may outlive its page before it counts as left behind: the server keeps it for a quarter of that."""


@dataclass(frozen=True)
class Sample:
    """minutes: since the first visit.  rss: megabytes.  runs, pages: held in the server.  errors: lines in its log."""

    minutes: float
    rss: float
    visits: int
    runs: int
    pages: int
    errors: int

    def __str__(self) -> str:
        return (
            f"{self.minutes:6.1f} min  {self.rss:7.1f} MB  {self.visits:4d} visits  {self.runs:2d} runs  "
            f"{self.pages:2d} page objects  {self.errors} errors"
        )


@dataclass(frozen=True)
class Verdict:
    """growth: from the first sample after the warm time to the largest later one, as a fraction of the first."""

    growth: float
    runs: int
    pages: int
    errors: int

    @property
    def passed(self) -> bool:
        return self.growth < GROWTH and not (self.runs or self.pages or self.errors)


def judge(samples: list[Sample], last: Sample, warm_minutes: float = WARM_MINUTES) -> Verdict:
    """last: taken when all sessions had been closed and forgotten."""
    warm = [s.rss for s in samples if s.minutes >= warm_minutes]
    growth = max(warm) / warm[0] - 1 if warm else 0.0
    return Verdict(growth, last.runs, last.pages, last.errors)


def sample(server: Server, minutes: float, visits: int) -> Sample:
    held = server.held()
    return Sample(minutes, held["rss"], visits, int(held["runs"]), int(held["pages"]), len(server.errors()))


def visit(context: object, url: str, seconds: float, turn: int) -> None:
    """One visitor: look, press a preset, change the page, sometimes reload, leave."""
    page = context.new_page()  # type: ignore[attr-defined]
    page.set_default_timeout(PATIENCE_MILLISECONDS)
    try:
        page.goto(f"{url}?page=landscapes", wait_until="commit")
        if turn % 5 == 4:  # one who leaves at once
            page.wait_for_timeout(300)
            return
        page.locator(".count").first.wait_for()
        page.wait_for_timeout(1000 * seconds)
        if turn % 3 == 0:
            page.get_by_role("button", name="Regular").first.click()
            page.wait_for_timeout(1000 * seconds)
        if turn % 3 == 1:
            page.get_by_role("button", name="Stationary bias", exact=True).click()
            page.wait_for_timeout(2000 * seconds)
        if turn % 4 == 3:
            page.reload()
            page.wait_for_timeout(1000 * seconds)
    finally:
        page.close()


def soak(
    minutes: float,
    seconds: float = 3.0,
    every: float = 60.0,
    say: Callable[[str], None] = print,
    kept: float = KEPT_SECONDS,
) -> tuple[list[Sample], Sample, str]:
    """Visits for so many minutes, each visitor looking a few seconds. Returns the samples, the one after all had left,
    and for a failure its cause: who keeps the pages that are left, and the whole log if there are errors in it."""
    from playwright.sync_api import sync_playwright

    server = Server(kept)
    samples: list[Sample] = []
    try:
        with sync_playwright() as playwright:
            browser = launched(playwright)
            start, visits, due = time.monotonic(), 0, 0.0
            while (now := time.monotonic() - start) < 60 * minutes:
                if now >= due:
                    samples.append(sample(server, now / 60, visits))
                    say(str(samples[-1]))
                    due += every
                if visits % 20 == 0:
                    context = browser.new_context(viewport={"width": 1600, "height": 1000})
                visit(context, server.url, seconds, visits)
                visits += 1
                if visits % 20 == 0:
                    context.close()
            browser.close()
        samples.append(sample(server, (time.monotonic() - start) / 60, visits))
        say(str(samples[-1]))
        left = time.monotonic() + GONE_SECONDS
        while (last := sample(server, (time.monotonic() - start) / 60, visits)) and last.pages + last.runs:
            if time.monotonic() > left:
                break
            time.sleep(1)
        say(f"{last}  (all gone)")
        kept = server.holders() + "\n" if last.pages else ""
        return samples, last, kept + (server.log.read_text() if last.errors else "")
    finally:
        server.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seconds", type=float, default=3, help="how long a visitor looks at one thing")
    parser.add_argument("--every", type=float, default=60, help="seconds between two lines")
    parser.add_argument(
        "--kept", type=float, default=KEPT_SECONDS, help="seconds that the server keeps a page that is gone"
    )
    parser.add_argument("--json", type=Path, help="write the samples there")
    options = parse(parser, globals(), minutes=0.1, seconds=0.5, every=2.0, WARM_MINUTES=0.02)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    samples, last, log = soak(
        options.minutes, options.seconds, options.every, lambda line: print(line, flush=True), options.kept
    )
    verdict = judge(samples, last)
    print(
        f"growth after {WARM_MINUTES:g} minutes {100 * verdict.growth:+.1f}%: {'passed' if verdict.passed else 'FAILED'}"
    )
    print(log)
    if options.json:
        options.json.write_text(json.dumps({"samples": [asdict(s) for s in samples], "last": asdict(last)}, indent=1))
    return status(not verdict.passed)


if __name__ == "__main__":
    sys.exit(main())
