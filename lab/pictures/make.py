"""The moving picture of the README: the first tile of "Local geometry" from its first point to its verdict, as a browser shows it.

    python -m lab.pictures.make        writes lab/pictures/app.webp; wants Chromium

Frames are taken as fast as the browser gives them, so their steps differ a little from one time to the next. The numbers do not:
the seed is the tile's.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

from lab.benchmarks.served.server import Server, launched

TARGET = Path(__file__).parent / "app.webp"
WINDOW = {"width": 1280, "height": 1092}
SHOWN = (960, 819)
"""Pixels of the picture: three quarters of the window, which can still be read."""
MOST_FRAMES = 40
QUALITY = 80
FRAME, LAST = 140, 4000
"""Milliseconds that a frame is shown, and the last one with its verdict."""
PATIENCE = 120_000
"""Milliseconds."""


def filmed(tab: Any, address: str) -> list[Image.Image]:
    """Screenshots from the first steps of the run until it has finished; the last one when its verdict stands."""
    tab.goto(f"{address}?page=local-geometry")
    finished, running = tab.get_by_text("finished", exact=True), tab.get_by_text("burn-in", exact=True)
    finished.wait_for(timeout=PATIENCE)  # all of the page is there by then
    tab.get_by_role("group", name="Presets").get_by_role("button").first.click()
    running.wait_for(timeout=PATIENCE)
    frames = []
    while not finished.is_visible():
        frames.append(tab.screenshot())
    tab.get_by_text("Trust it.").wait_for(timeout=PATIENCE)
    tab.wait_for_timeout(1500)  # what is drawn at the end of a run
    frames.append(tab.screenshot())
    return [Image.open(io.BytesIO(frame)).convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS) for frame in frames]


def thinned(frames: list[Image.Image]) -> list[Image.Image]:
    """MOST_FRAMES of them at most, evenly, with the first and the last."""
    if len(frames) <= MOST_FRAMES:
        return frames
    return [frames[round(k * (len(frames) - 1) / (MOST_FRAMES - 1))] for k in range(MOST_FRAMES)]


def write(frames: list[Image.Image]) -> None:
    first, *rest = frames
    durations = [FRAME] * len(rest) + [LAST]
    first.save(TARGET, save_all=True, append_images=rest, duration=durations, loop=0, quality=QUALITY, method=4)


def main() -> None:
    from playwright.sync_api import sync_playwright

    server = Server()
    try:
        with sync_playwright() as playwright:
            tab = launched(playwright).new_page(viewport=WINDOW, color_scheme="light", reduced_motion="reduce")
            frames = filmed(tab, server.url)
    finally:
        server.close()
    shown = thinned(frames)
    write(shown)
    print(f"{TARGET}: {len(shown)} of {len(frames)} frames, {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
