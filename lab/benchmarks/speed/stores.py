"""A store of a million rows, as columns and on the page "Benchmark": seconds and memory.

    python -m lab.benchmarks.speed.stores [--rows 1000000] [--objects] [--tries 5]
    chrt -r 10 taskset -c 0 python -m lab.benchmarks.speed.stores --only page      on one core that nobody takes away (as root)

Every line is a process of its own, so that its peak of resident memory is its own; the first one only imports. "as objects" (with
--objects) is the same store as a dictionary for each row. "the page": from the click to the figures; beside it the longest time
for which the event loop's thread had no turn meanwhile, how long it took to put the answer on the screen, and what the whole page
weighs on its way to a browser. Imports and the page with its first, small store come before. Of several tries the line gives
the least and the median.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lab.benchmarks.command import option, read_options
from llc_core.sweeps.series import accuracy, curves, ordered_pairs
from llc_core.sweeps.store import COLUMNS, Store, results, table

SAMPLERS = ("SGLD", "RMSPropSGLD", "AdamSGLD", "SGHMC", "SGNHT")
GRADIENTS = ("minibatch", "full")
STEPS = np.geomspace(1e-9, 1e-5, 20)
NAME = "large"
WHATS = ("nothing", "read", "curves", "pairs", "page")
TURN = 0.002
"""Seconds that the waiting thread asks to sleep for."""


def main() -> None:
    options = read_options(
        globals(),
        {"rows": 40_000, "tries": 1},
        rows=1_000_000,
        objects=option(False, "also as one dictionary a row, as before"),
        tries=option(1, "processes a line"),
        only=option(WHATS, "these lines", choices=WHATS),
        store=option(None, "use and keep this file; made if it is not there", type=Path),
        what=option(None, argparse.SUPPRESS),
    )
    if options.what:
        used = time.process_time()
        seconds = measure(options.what, options.store)
        if seconds and options.what != "page":
            seconds["processor seconds"] = time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({**seconds, "peak, MiB,": peak}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = options.store or Path(folder) / f"{NAME}.sqlite"
        if not path.exists():
            write(path, options.rows)
        print(f"{options.rows:,} rows, {path.stat().st_size / 1e6:.0f} MB")
        for what in (*options.only, *(("rows as objects", "curves of objects") if options.objects else ())):
            print(f"{what}: {tried(what, path, options.tries)}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} at the end")


def tried(what: str, path: Path, tries: int) -> str:
    """The figures of one line, each try in a process of its own."""
    command = [sys.executable, "-m", "lab.benchmarks.speed.stores", "--store", str(path), "--what", what]
    found: dict[str, list[float]] = {}
    for _ in range(tries):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        for name, value in json.loads(done.stdout.splitlines()[-1]).items():
            found.setdefault(name, []).append(value)
    return "; ".join(f"{name} {_least_and_median(values)}" for name, values in found.items())


def _least_and_median(values: list[float]) -> str:
    least, median = min(values), statistics.median(values)
    return f"{least:,.2f}" if len(values) == 1 else f"{least:,.2f} to {median:,.2f}"


def measure(what: str, path: Path) -> dict[str, float]:
    """Seconds by name."""
    if what == "nothing":
        return {}
    if what == "page":
        return page(path)
    if what == "read":
        return {"read": timed(lambda: table(path))[0]}
    if what == "rows as objects":
        return {"read": timed(lambda: results(path))[0]}
    rows = results(path) if what.endswith("objects") else table(path)
    if what == "pairs":
        return {"pairs": timed(lambda: ordered_pairs(rows, rows.numbers["llc"].tolist(), "expected"))[0]}
    return {"curves": timed(lambda: accuracy(curves(rows)))[0]}


def page(path: Path) -> dict[str, float]:
    os.environ["LLC_LAB_STORES"] = str(path.parent)
    from app.pages.benchmark.page import Benchmark

    view = Benchmark()
    used = time.process_time()
    shown = view.results.numbers.values["runs"]
    begun = turn = time.perf_counter()
    view.restore({"store": path.stem})
    longest = 0.0
    while view.preparation.busy:
        now = time.perf_counter()
        longest, turn = max(longest, now - turn), now
        time.sleep(TURN)
        before = time.perf_counter()
        view.preparation.poll()
        put = time.perf_counter() - before
        turn = time.perf_counter() if not view.preparation.busy else turn
    assert view.results.numbers.values["runs"] != shown
    whole, processor = time.perf_counter() - begun, time.process_time() - used
    again, _ = timed(lambda: view.results.runs.choose(view.results.curves[-1].key, 3))
    return {
        "shown after": whole,
        "longest without a turn": longest,
        "on the screen": put,
        "processor seconds": processor,
        "another point's runs": again,
        "to the browser, kB,": weight(view) / 1000,
    }


def weight(view: Any) -> int:
    """Bytes of the page with all that it shows, as a browser that opens it now would get it."""
    import panel as pn
    from bokeh.core.json_encoder import serialize_json
    from bokeh.document import Document

    document = Document()
    for part in (*view.main, *view.sidebar):
        pn.panel(part).server_doc(document)
    return len(serialize_json(document.to_json()))


def timed(call: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    found = call()
    return time.perf_counter() - started, found


def write(path: Path, count: int) -> None:
    """Rows from a plausible distribution, with texts as long as a sweep's."""
    with Store(path) as store:
        db = store._db
        db.execute("PRAGMA synchronous = OFF")
        with db:
            places = ", ".join("?" * len(COLUMNS))
            db.executemany(f"INSERT INTO results ({', '.join(COLUMNS)}) VALUES ({places})", rows_of_a_sweep(count))


def rows_of_a_sweep(count: int) -> Iterator[tuple[Any, ...]]:
    random = np.random.default_rng(0)
    units = -(-count // len(STEPS))
    per_problem = len(SAMPLERS) * len(GRADIENTS)
    left = count
    for unit in range(units):
        problem, kind = divmod(unit, per_problem)
        sampler, gradient = SAMPLERS[kind % len(SAMPLERS)], GRADIENTS[kind // len(SAMPLERS)]
        local = 60 + 300 * random.random()
        noise = random.standard_normal((3, len(STEPS))).tolist()
        for i, step in enumerate(STEPS.tolist()[: min(left, len(STEPS))]):
            llc = local * (1 + 0.1 * noise[0][i])
            config = json.dumps(
                {
                    "problem": {"kind": "dln", "size_class": "1K", "ranks": "equal", "seed": problem},
                    "sampler": {"name": sampler, "step_size": step}, "gradient": gradient, "chains": 4, "steps": 20000,
                }
            )  # fmt: skip
            yield (
                f"{unit:020x}{i:04x}", f"{unit:024x}", "1K", "equal", problem, 1000, sampler, gradient, step, i, 4, 0, "ok",
                llc, 1 + noise[1][i] ** 2, llc + 300 * noise[2][i], 0.9 * local, local, 0.96 * local, 1.01, 40.0 + i,
                1e-5 * local, 20000, 0.5, None, config, GRID, f"2026-11-{1 + unit % 28:02d}T12:00:00+00:00",
            )  # fmt: skip
        left -= len(STEPS)


GRID = json.dumps(STEPS.tolist())

if __name__ == "__main__":
    main()
