"""All pages of the app at three widths, light and dark: one sheet for each page, to be looked at before and after a change of style.

    python -m lab.pictures.pages [KEY …]        writes docs/pictures/KEY.webp; wants Chromium

A page is photographed when its first run has finished, or after twenty seconds.
"""

from __future__ import annotations

import argparse
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

from PIL import Image

from app.pages import load_pages
from lab.benchmarks.served.server import Server, launched

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WINDOWS = ((1440, 900), (1024, 768), (390, 844))
THEMES = ("light", "dark")
HEIGHT, GAP = 440, 8
"""Of one window on a sheet, and between two of them, in pixels."""
QUALITY = 60
PATIENCE, RUN = 60_000, 20_000
"""Milliseconds until a page must be there, and until its run is photographed as it is."""


def photographed(tab: Any, address: str) -> Image.Image:
    from playwright.sync_api import Error

    tab.goto(address)
    tab.locator("h1").first.wait_for(timeout=PATIENCE)
    with suppress(Error):  # pages without a run, and long runs
        tab.get_by_text("finished", exact=True).first.wait_for(timeout=RUN if "start" not in address else 3000)
    tab.wait_for_timeout(1500)
    return Image.open(io.BytesIO(tab.screenshot())).convert("RGB")


def sheet(rows: list[list[Image.Image]]) -> Image.Image:
    """The windows of each theme in a row, all of one height."""
    small = [
        [one.resize((round(one.width * HEIGHT / one.height), HEIGHT), Image.Resampling.LANCZOS) for one in row]
        for row in rows
    ]
    width = max(sum(one.width + GAP for one in row) for row in small) - GAP
    made = Image.new("RGB", (width, len(small) * (HEIGHT + GAP) - GAP), "#808080")
    for number, row in enumerate(small):
        left = 0
        for one in row:
            made.paste(one, (left, number * (HEIGHT + GAP)))
            left += one.width + GAP
    return made


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("keys", nargs="*", metavar="KEY", help="pages; all if none is named")
    wanted = parser.parse_args().keys
    known = [info.key for info in load_pages()]
    if unknown := sorted(set(wanted) - set(known)):
        parser.error(f"There is no page {unknown[0]!r}; choose from {', '.join(known)}.")
    FOLDER.mkdir(exist_ok=True)
    server = Server()
    try:
        with sync_playwright() as playwright:
            browser = launched(playwright)
            for key in wanted or known:
                rows = []
                for theme in THEMES:
                    rows.append([])
                    for width, height in WINDOWS:
                        tab = browser.new_page(
                            viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
                        )
                        rows[-1].append(photographed(tab, f"{server.url}?page={key}"))
                        tab.close()
                target = FOLDER / f"{key}.webp"
                sheet(rows).save(target, quality=QUALITY, method=6)
                print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB", flush=True)
    finally:
        server.close()


if __name__ == "__main__":
    main()
