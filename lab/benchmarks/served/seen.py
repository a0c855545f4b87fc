"""What a visitor sees, and when: the app's times in a browser.

    python -m lab.benchmarks.served.seen [--tries 3]

From opening the app to the first points of a run, with a full cache as a second visit has it (goal: 3 s); drawn updates a
second with ten chains (15); from opening it to a finished "Tiny" preset, with its distance from the expected value in
standard errors (10 s, two); from the click on "Stationary bias" to the hole on the left side and none on the right (5 s); from
opening "Decisions" to its first picture (2 s) and its first rounds (3 s).
Other programs on the machine make all of them slower: the best of the tries is printed beside all, and the load.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from lab.benchmarks.served.server import Server, launched
from lab.benchmarks.smoke import parse

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
MOST = 120_000


def first_points(page: Any, url: str) -> float:
    start = time.monotonic()
    page.goto(url)
    page.wait_for_function(POINTS, timeout=MOST)
    return time.monotonic() - start


def updates(page: Any, url: str) -> float:
    first_points(page, f"{url}?page=local-geometry")
    steps = page.get_by_role("textbox", name="Steps", exact=True)
    steps.fill("100000")
    steps.press("Enter")
    page.get_by_text("of 100,000").first.wait_for(timeout=MOST)
    page.wait_for_function(POINTS, timeout=MOST)
    return float(page.evaluate(UPDATES, 3000))


def tiny(page: Any, url: str) -> tuple[float, float]:
    """Seconds, and |λ̂ − expected| in standard errors."""
    start = time.monotonic()
    page.goto(f"{url}?page=local-geometry")
    page.locator(".caption", has_text="finished").wait_for(timeout=MOST)
    spent = time.monotonic() - start
    page.get_by_text("Trust it.").wait_for(timeout=MOST)
    llc, se = map(float, page.locator("[data-key=llc]").first.text_content().split(" ± "))
    return spent, abs(llc - float(page.locator("[data-key=expected]").first.text_content())) / se


def hole(page: Any, url: str) -> float:
    page.goto(url)
    button = page.get_by_role("button", name="Stationary bias", exact=True)
    button.wait_for(timeout=MOST)
    start = time.monotonic()
    button.click()
    page.wait_for_function(HOLE, timeout=MOST)
    return time.monotonic() - start


def told(what: str, values: list[float], best: float, unit: str, goal: str) -> None:
    print(f"{what}: {best:.1f} {unit} (of {', '.join(f'{v:.1f}' for v in values)}; goal {goal})", flush=True)


def decisions(page: Any, url: str) -> tuple[float, float]:
    """Seconds until the page "Decisions" has drawn its first figure, and until it shows the first rounds."""
    start = time.monotonic()
    page.goto(f"{url}?page=decisions")
    page.wait_for_function(DRAWN, timeout=MOST)
    drawn = time.monotonic() - start
    page.wait_for_function(ROUNDS, timeout=MOST)
    return drawn, time.monotonic() - start


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=3)
    tries = range(parse(parser, globals(), tries=1).tries)
    server = Server()
    try:
        with sync_playwright() as playwright:
            page = launched(playwright).new_page(viewport={"width": 1600, "height": 1000})
            first_points(page, server.url)  # fills the cache
            values = [first_points(page, server.url) for _ in tries]
            told("First points", values, min(values), "s", "3")
            values = [updates(page, server.url) for _ in tries]
            told("Updates with ten chains", values, max(values), "a second", "15")
            runs = [tiny(page, server.url) for _ in tries]
            values = [spent for spent, _ in runs]
            told("Tiny, finished", values, min(values), "s", "10")
            values = [far for _, far in runs]
            told("Tiny, from the expected value", values, min(values), "standard errors", "2")
            values = [hole(page, server.url) for _ in tries]
            told("The hole, and none beside it", values, min(values), "s", "5")
            both = [decisions(page, server.url) for _ in tries]
            values = [drawn for drawn, _ in both]
            told("Decisions, first picture", values, min(values), "s", "2")
            values = [moving for _, moving in both]
            told("Decisions, first rounds", values, min(values), "s", "3")
            print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; errors: {server.errors()}")
    finally:
        server.close()


if __name__ == "__main__":
    main()
