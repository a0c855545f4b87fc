"""The page "Weights and functions" without a browser: how long until its first band and its gauges, and does its memory stay flat?

    python -m lab.benchmarks.served.functions_page [--presets 20]

Bars: the first band within 1.5 s of opening the page, three gauges within 5 s, and no growth of memory from the second round of the
presets on (less than 2 MB a preset). An exact answer that is half made when a visitor leaves is kept for the next
one who asks, up to three of them: so every preset is left when its answer is there. Seconds are those of the wall; other programs make them longer, so the load is printed beside.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

from app.pages.functions.page import WeightsAndFunctions
from app.pages.functions.presets import PRESETS
from app.runs.job import OVER
from app.window import warmup

PATIENCE = 120.0
TICK = 0.05
ROOM = 2.0
"""Megabytes a preset that the allocator may keep by chance."""


def resident() -> float:
    """Megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def until(view: WeightsAndFunctions, done: Callable[[], bool], began: float) -> float:
    """Seconds since `began`; the page is polled as its session would. nan: not within two minutes."""
    while not done():
        if time.monotonic() - began > PATIENCE:
            return math.nan
        time.sleep(TICK)
        view._live._poll()
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", type=int, default=20)
    options = parser.parse_args()
    warmup.wait(PATIENCE)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    began = time.monotonic()
    view = WeightsAndFunctions()
    band = until(view, lambda: view._band is not None, began)
    gauges = until(view, lambda: view._gauges is not None and not math.isnan(view._gauges.functions), began)
    print(f"first band {band:.2f} s (bar 1.5), gauges {gauges:.2f} s (bar 5)")
    sizes = []
    for number in range(options.presets):
        view._on_preset(PRESETS[number % len(PRESETS)].name)
        until(view, lambda: view.state.status in OVER and not view.truth.busy, time.monotonic())
        gc.collect()
        sizes.append(resident())
        print(f"{number + 1:3} {PRESETS[number % len(PRESETS)].title:30} {sizes[-1]:7.0f} MB", flush=True)
    view.close()
    later = sizes[len(PRESETS) :]
    if len(later) > 1:
        growth = (later[-1] - later[0]) / (len(later) - 1)
        print(f"{growth:+.2f} MB a preset after the first round: {'flat' if growth < ROOM else 'GROWS'}")


if __name__ == "__main__":
    main()
