"""The page "Weights and functions" without a browser: how long until its first band and its gauges, and does its memory stay flat?

    python -m lab.benchmarks.served.functions_page [--presets 32]

In a browser: `first_picture --page functions`. Bars: the first band within 1.5 s of opening the page, three gauges within 5 s, and memory flat over 20 presets: from the second round
of the presets on, less than 2 MB a preset. Presets differ in what they hold, so each is compared with itself in other rounds: the growth is the
slope over the visits, with a level of its own for every preset. Memory is what the process holds after the C library has given back what
is free (`malloc_trim`); the process as it stands swings more, and is printed beside. An exact answer that is half made when a visitor
leaves is kept for the next one who asks, up to three of them: so every preset is left when its answer is there. Seconds are those of the
wall, in which other programs have their share, and of this process's own processors; the load is printed beside.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.pages.functions.page import WeightsAndFunctions
from app.pages.functions.presets import PRESETS
from app.runs.job import OVER
from app.window import warmup
from lab.benchmarks.smoke import parse

PATIENCE = 1_200.0
TICK = 0.05
ROOM = 2.0
"""Megabytes a preset."""


def resident() -> float:
    """Megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def trimmed() -> float:
    """Megabytes after the C library has given back what is free; where it cannot, as they are."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    return resident()


def growth(sizes: np.ndarray, kinds: np.ndarray) -> tuple[float, float]:
    """Slope of sizes against their places, and its standard error, where every kind has a level of its own."""
    places = np.arange(len(sizes), dtype=float)
    levels = (kinds[:, None] == np.unique(kinds)).astype(float)
    design = np.concatenate([places[:, None], levels], axis=1)
    found, *_ = np.linalg.lstsq(design, sizes, rcond=None)
    left = sizes - design @ found
    free = len(sizes) - design.shape[1]
    if free < 1:
        return float(found[0]), math.nan
    return float(found[0]), math.sqrt(left @ left / free * np.linalg.inv(design.T @ design)[0, 0])


def until(view: WeightsAndFunctions, done: Callable[[], bool], began: float) -> float:
    """Seconds since `began`; the page is polled as its session would. nan: not within twenty minutes."""
    while not done():
        if time.monotonic() - began > PATIENCE:
            return math.nan
        time.sleep(TICK)
        view._live._poll()
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", type=int, default=32, help="visits; eight are a round")
    options = parse(parser, globals(), presets=1)
    warmup.wait(PATIENCE)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    began, own = time.monotonic(), time.process_time()
    view = WeightsAndFunctions()
    band = until(view, lambda: view._band is not None, began)
    band_own = time.process_time() - own
    gauges = until(view, lambda: view._gauges is not None and not math.isnan(view._gauges.functions), began)
    gauges_own = time.process_time() - own
    print(
        f"first band {band:.2f} s of the wall, {band_own:.2f} s of processor (bar 1.5); "
        f"gauges {gauges:.2f} s, {gauges_own:.2f} s (bar 5)"
    )
    sizes, held = [], []
    for number in range(options.presets):
        view.on_preset(PRESETS[number % len(PRESETS)].name)
        until(view, lambda: view.state.status in OVER and not view.truth.busy, time.monotonic())
        sizes.append(resident())
        held.append(trimmed())
        title = PRESETS[number % len(PRESETS)].title
        print(f"{number + 1:3} {title:30} {sizes[-1]:7.0f} MB, {held[-1]:7.0f} MB held", flush=True)
    view.close()
    first = len(PRESETS)
    kinds = np.arange(first, options.presets) % first
    if len(np.unique(kinds)) == len(kinds):
        return
    for name, values in (("held", held), ("as it stands", sizes)):
        later = np.array(values[first:])
        slope, error = growth(later, kinds)
        told = "flat" if slope + 2 * error < ROOM else "GROWS" if slope - 2 * error > ROOM else "open: more rounds"
        swing = max(np.ptp(later[kinds == kind]) for kind in kinds)
        print(f"{name}: {slope:+.2f} ± {error:.2f} MB a preset, a preset swings by up to {swing:.0f} MB: {told}")


if __name__ == "__main__":
    main()
