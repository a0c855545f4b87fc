"""The sweep's machinery, measured: clients killed at random moments, two workers against one, and the cost of a unit.

`python -m lab.benchmarks.speed.sweeps kills | scaling | overhead`. Every number is of this machine in this run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.benchmarks.command import option, read_options
from lab.benchmarks.smoke import passed_on
from lab.benchmarks.speed import sweep_work
from llc_core import SweepSpec, run_sweep
from llc_core.sweeps.store import results

KILLS = 10
TRIALS = 2
SMALL = {
    "size_class": "1K",
    "problems": 6,
    "samplers": ["SGLD", "SGHMC"],
    "step_sizes": [1e-9, 1e-8],
    "gradients": ["full", "minibatch"],
    "chains": 2,
    "steps": 400,
}
SCALING = {**SMALL, "problems": 16, "samplers": ["SGLD", "RMSPropSGLD"], "chains": 4, "steps": 2500}
TRIVIAL = {**SMALL, "problems": 10_000, "samplers": ["SGLD"], "gradients": ["full"], "step_sizes": [1e-9]}


def main() -> None:
    options = read_options(
        globals(),
        {
            "KILLS": 1,
            "TRIALS": 1,
            "SMALL": lambda spec: {**spec, "problems": 2, "steps": 50},
            "SCALING": lambda spec: {**spec, "problems": 2, "steps": 50},
            "TRIVIAL": lambda spec: {**spec, "problems": 50},
        },
        what=option(choices=("kills", "scaling", "overhead", "client"), place=True),
        store=option(type=Path),
    )
    if options.what == "client":
        print(run_sweep(SweepSpec.from_dict(SMALL), options.store, workers=2, work=sweep_work.logged).state)
        return
    with tempfile.TemporaryDirectory() as folder:
        {"kills": kills, "scaling": scaling, "overhead": overhead}[options.what](Path(folder))


def kills(folder: Path) -> None:
    """kill -9 of the client, ten times, each at a random moment after rows began to come; then the last one finishes."""
    whole, cut, log = folder / "whole.sqlite", folder / "cut.sqlite", folder / "log"
    os.environ[sweep_work.LOG] = str(log)
    run_sweep(SweepSpec.from_dict(SMALL), whole, workers=2)
    draw, recorded, again = random.Random(0), set[str](), 0
    for trial in range(KILLS + 1):
        log.write_text("")
        client = _client(cut)
        if trial < KILLS:
            while client.poll() is None and len(_units(cut)) <= len(recorded):
                time.sleep(0.02)
            time.sleep(draw.uniform(0, 0.5))
            client.send_signal(signal.SIGKILL)
        client.wait()
        again += len(recorded & set(log.read_text().split()))
        recorded = _units(cut)
        print(f"{len(recorded)} units recorded", flush=True)
    one, other = (_numbers(path) for path in (whole, cut))
    print(
        f"{len(one)} rows; keys and λ̂ equal to an uninterrupted sweep: {one == other}; run again after recording: {again}"
    )


def scaling(folder: Path) -> None:
    """One worker against two on the same 64 units, one after the other, twice."""
    spec = SweepSpec.from_dict(SCALING)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for trial in range(TRIALS):
        for workers in (1, 2):
            started = time.perf_counter()
            run_sweep(spec, folder / f"{trial}-{workers}.sqlite", workers=workers)
            seconds[workers].append(time.perf_counter() - started)
    for one, two in zip(seconds[1], seconds[2], strict=True):
        print(
            f"{len(list(spec.units()))} units: {one:.1f} s with one worker, {two:.1f} s with two, ratio {two / one:.2f}"
        )


def overhead(folder: Path) -> None:
    """Ten thousand units that do nothing."""
    spec = SweepSpec.from_dict(TRIVIAL)
    started = time.perf_counter()
    last = run_sweep(spec, folder / "a.sqlite", workers=2, work=sweep_work.trivial)
    seconds = time.perf_counter() - started
    print(f"{last.done:,} trivial units in {seconds:.1f} s: {1000 * seconds / last.done:.2f} ms each, start included")


def _client(store: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "lab.benchmarks.speed.sweeps", "client", "--store", str(store), *passed_on()]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def _units(path: Path) -> set[str]:
    try:
        return {row["unit"] for row in results(path)}
    except ValueError:  # not made yet
        return set()


def _numbers(path: Path) -> dict[str, str]:
    return {row["key"]: json.dumps([row["status"], row["llc"], row["llc_printed"]]) for row in results(path)}


if __name__ == "__main__":
    main()
