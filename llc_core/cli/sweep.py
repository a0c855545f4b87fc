"""`llc-lab sweep`: many runs, on this machine or a cluster; or, with --dry-run, what they would cost."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from llc_core.cli.outputs import say
from llc_core.sweeps.costs import Costs, measure_costs
from llc_core.sweeps.runner import Progress, run_sweep, worker_count
from llc_core.sweeps.spec import SweepSpec
from llc_core.sweeps.store import Store
from llc_core.sweeps.unit import Unit

LINE_SECONDS = 10.0
"""Between lines of progress where the output is no terminal."""


def add_sweep(commands: Any) -> None:
    many = commands.add_parser("sweep", help="many runs, on this machine or a Dask cluster, into one file")
    many.add_argument("file", type=Path, metavar="FILE.toml", help="what to run; see `llc_core.SweepSpec`")
    many.add_argument("--store", type=Path, metavar="PATH", help="SQLite file of the results; made if it is not there")
    many.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="a Dask scheduler; without it workers run here")
    many.add_argument("--workers", type=int, metavar="N", help="workers on this machine (default: one for each core)")
    many.add_argument("--dry-run", action="store_true", help="say what would run and how long it would take")
    many.add_argument("--retry-errors", action="store_true", help="run again what ended in an error")
    many.set_defaults(handle=_sweep)


def _sweep(options: argparse.Namespace) -> int:
    spec = SweepSpec.from_toml(options.file)
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers is {options.workers}; give at least 1, or leave it out.")
    if options.dry_run:
        return _dry_run(spec, options)
    if options.store is None:
        raise ValueError("--store is missing; name the file that the results go to, such as --store results.sqlite.")
    stop = threading.Event()
    last = _with_signals(
        stop,
        lambda: run_sweep(
            spec,
            options.store,
            scheduler=options.scheduler,
            workers=options.workers,
            retry_errors=options.retry_errors,
            on_progress=Shown(sys.stderr),
            stop=stop,
        ),
    )
    if last.state == "stopped":
        say(
            f"Stopped: {last.done:,} of {last.total:,} rows are in {options.store}. The same command goes on from there."
        )
        return 130
    failed = f", {last.errors:,} of them errors (their text is in the store)" if last.errors else ""
    say(f"{last.total:,} rows are in {options.store}{failed}.")
    return 0


def _with_signals(stop: threading.Event, call: Any) -> Progress:
    """Call it with Ctrl+C and a polite kill turned into `stop`. The second one ends this process at once."""

    def end(*_: Any) -> None:
        # Only what may interrupt anything: no print, which may be at work already.
        if stop.is_set():
            os.write(2, b"\nEnded at once; what was recorded stays, and the same command goes on from there.\n")
            os._exit(130)  # workers see that they are alone and end too
        stop.set()
        os.write(2, b"\nStopping when the blocks at work are done; once more to end at once.\n")

    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in (signal.SIGINT, signal.SIGTERM):
            before[name] = signal.signal(name, end)
    try:
        found: Progress = call()
        return found
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _dry_run(spec: SweepSpec, options: argparse.Namespace) -> int:
    done: set[str] = set()
    if options.store is not None and not options.store.parent.is_dir():
        raise ValueError(f"The folder of the store {str(options.store)!r} does not exist; make it first.")
    if options.store is not None and options.store.exists():
        with Store(options.store, readonly=True) as store:
            done = store.keys(with_errors=not options.retry_errors)
    left: list[Unit] = [rest for unit in spec.units() for rest in unit.without(done)]
    say(dry_run_text(measure_costs(spec, left), worker_count(options.workers, spec.device)))
    return 0


def dry_run_text(costs: Costs, workers: int) -> str:
    """What `--dry-run` prints."""
    if not costs.units:
        return "Nothing is left to run."
    return (
        f"{costs.units:,} units, {costs.rows:,} rows\n"
        f"{costs.operations:.3g} floating-point operations in matrix products\n"
        f"about {hours(costs.hours)} of one worker on this device, {hours(costs.hours_on(workers))} with {workers} "
        f"(from {costs.trials} short trials, which the fit meets within a factor {2.718281828**costs.spread:.2g}; "
        "the start of the workers comes on top)"
    )


def hours(value: float) -> str:
    if value < 1 / 60:
        return f"{3600 * value:.0f} s"
    return f"{60 * value:.0f} min" if value < 1 else f"{value:,.1f} h"


class Shown:
    """Progress in a terminal: one line that is written again; elsewhere a line now and then."""

    def __init__(self, out: Any):
        self.out, self.last = out, -LINE_SECONDS

    def __call__(self, progress: Progress) -> None:
        words = f"{progress.done:,} of {progress.total:,} rows"
        if progress.errors:
            words += f", {progress.errors:,} errors"
        if progress.state == "running":
            words += f", {progress.running} units running"
            if progress.seconds_left is not None:
                words += f", about {hours(progress.seconds_left / 3600)} left"
        else:
            words += f", {progress.state}"
        if self.out.isatty():
            self.out.write(f"\r\x1b[K{words}" + ("" if progress.state == "running" else "\n"))
            self.out.flush()
        elif progress.state != "running" or time.monotonic() - self.last >= LINE_SECONDS:
            self.last = time.monotonic()
            self.out.write(words + "\n")
            self.out.flush()
