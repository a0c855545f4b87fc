"""`llc-lab estimate | sweep | export`: the engine from a terminal, without the app. `python -m llc_core` is the same."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llc_core.config import DTYPES, GRADIENTS, RunConfig
from llc_core.extras import needs
from llc_core.fields import whole
from llc_core.potentials.deep_linear.random_networks import RANKS, SIZE_CLASSES
from llc_core.samplers import samplers
from llc_core.sweeps.costs import Costs, calibrate, cores
from llc_core.sweeps.export import FORMATS, export
from llc_core.sweeps.runner import Progress, run_sweep
from llc_core.sweeps.spec import SweepSpec
from llc_core.sweeps.stopping import ask_to_stop
from llc_core.sweeps.store import Store, results
from llc_core.sweeps.unit import Unit

LINE_SECONDS = 10.0
"""Between lines of progress where the output is no terminal."""


def add_commands(commands: Any) -> None:
    """Add this module's commands to the sub-parsers of a command line. Each sets `handle`."""
    _add_estimate(commands)
    _add_sweep(commands)
    end = commands.add_parser("stop", help="end the sweep that writes to a store; the same sweep command goes on later")
    end.add_argument("store", type=Path, metavar="STORE")
    end.set_defaults(handle=_stop)
    out = commands.add_parser("export", help="write a store's rows as CSV, Parquet or NetCDF")
    out.add_argument("store", type=Path, metavar="STORE")
    out.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=f"a name that ends in {', '.join(FORMATS)}"
    )
    out.set_defaults(handle=_export)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit status; wrong options end in one sentence and status 2."""
    parser = argparse.ArgumentParser(prog="python -m llc_core", description=__doc__)
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    return run_command(parser, parser.parse_args(argv))


def run_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Call the command's `handle`; a ValueError becomes one sentence and status 2."""
    try:
        return int(options.handle(options))
    except ValueError as error:
        parser.exit(2, f"llc-lab: {error}\n")


# -- estimate ---------------------------------------------------------------------------------------------------------


def _add_estimate(commands: Any) -> None:
    one = commands.add_parser("estimate", help="one estimate of a deep linear network, or of a configuration file")
    one.add_argument("config", nargs="?", type=Path, help="a run configuration (JSON), as the app saves it")
    one.add_argument("--size-class", choices=tuple(SIZE_CLASSES), help="a random network of this class (default 1K)")
    one.add_argument("--widths", type=int, nargs="+", metavar="H", help="its widths instead, from inputs to outputs")
    one.add_argument("--ranks", choices=RANKS, help="how ranks are reduced")
    one.add_argument("--problem", type=int, default=0, metavar="SEED", help="seed of the network (default 0)")
    one.add_argument("--virtual", action="store_true", help="make every row of its data where it is used, keep none")
    one.add_argument("--sampler", choices=tuple(samplers()), help="default: what suits the problem")
    one.add_argument("--step-size", type=float, help="default: a share of the stability limit")
    one.add_argument("--gradient", choices=GRADIENTS)
    one.add_argument("--chains", type=int, default=4)
    one.add_argument("--steps", type=int)
    one.add_argument(
        "--max-steps",
        type=int,
        metavar="N",
        help="go on while the verdict asks for more steps: twice as long each time, and at most N steps",
    )
    one.add_argument("--seed", type=int, default=0, help="of the chains (default 0)")
    one.add_argument("--device", help='"cpu" or "cuda"')
    one.add_argument("--dtype", choices=DTYPES, help="precision of the chains (default: what suits the sampler)")
    one.add_argument("--json", action="store_true", help="print the result as JSON")
    one.add_argument("--out", type=Path, metavar="FILE.nc", help="write traces and numbers as NetCDF")
    one.set_defaults(handle=_estimate)


def _estimate(options: argparse.Namespace) -> int:
    from llc_core.estimating import run, until_settled

    config = _config(options)
    current = run(config)
    if options.out is not None:  # before the run, not after it
        many = len(current.settings) * current.problems
        if many > 1:
            raise ValueError(
                f"--out holds one estimate, and this configuration has {many}; give one problem and leave its grid out."
            )
        _check_out(options.out)
        with needs("--out", extra="netcdf"):
            import h5netcdf  # noqa: F401
            import xarray  # noqa: F401
    shown = sys.stderr.isatty()
    for snapshot in until_settled(current, options.max_steps):
        if shown:
            sys.stderr.write(
                f"\r{snapshot.steps / snapshot.total_steps:4.0%}  {snapshot.steps_per_second:,.0f} steps/s "
            )
    if shown:
        sys.stderr.write("\r")
    found = current.estimates()
    for index, each in enumerate(found):
        if len(found) > 1:
            names = [] if current.problems == 1 else [f"problem {index // len(current.settings)}"]
            print(", ".join(names + [f"{name} = {value:g}" for name, value in each.setting.items()]))
        print(each.to_json() if options.json else each)
    if options.out is not None:
        try:
            found[0].to_dataset().to_netcdf(options.out, engine="h5netcdf")
        except OSError as error:
            raise ValueError(f"--out {str(options.out)!r} cannot be written ({error.strerror or error}).") from None
    return 0


def _check_out(path: Path) -> None:
    if not path.parent.is_dir():
        raise ValueError(f"--out is {str(path)!r}, but there is no such folder; make it first.")
    if path.is_dir():
        raise ValueError(f"--out is {str(path)!r}, which is a folder; give the name of a file in it.")


def _config(options: argparse.Namespace) -> RunConfig:
    whole("--problem", options.problem, 0)
    if options.config is not None:
        for name in ("size_class", "widths", "ranks", "virtual"):
            if getattr(options, name):
                raise ValueError(
                    f"--{name.replace('_', '-')} is of a network made here; with a file, write it into its problem."
                )
        try:
            text = options.config.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{str(options.config)!r} cannot be read ({error}); check the path.") from None
        config = RunConfig.from_json(text)
        asked = {"device": options.device, "dtype": options.dtype}
        return config.replace(**{name: value for name, value in asked.items() if value})
    problem: dict[str, Any] = {"kind": "dln", "seed": options.problem}
    if options.widths is not None:
        problem["widths"] = options.widths
    else:
        problem["size_class"] = options.size_class or "1K"
    if options.ranks is not None:
        problem["ranks"] = options.ranks
    if options.virtual:
        problem["virtual"] = True
    sampler = None if options.sampler is None else {"name": options.sampler}
    if options.step_size is not None:
        if sampler is None:
            raise ValueError(
                f"step_size is {options.step_size:g}, but what a step is depends on the sampler; add --sampler."
            )
        sampler["step_size"] = options.step_size
    return RunConfig(
        problem=problem,
        sampler=sampler,
        gradient=options.gradient,
        chains=options.chains,
        steps=options.steps,
        seed=options.seed,
        device=options.device,
        dtype=options.dtype,
    )


# -- sweep ------------------------------------------------------------------------------------------------------------


def _add_sweep(commands: Any) -> None:
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
        print(
            f"Stopped: {last.done:,} of {last.total:,} rows are in {options.store}. The same command goes on from there."
        )
        return 130
    failed = f", {last.errors:,} of them errors (their text is in the store)" if last.errors else ""
    print(f"{last.total:,} rows are in {options.store}{failed}.")
    return 0


def _with_signals(stop: threading.Event, call: Any) -> Progress:
    """Call it with Ctrl+C and a polite kill turned into `stop`."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in (signal.SIGINT, signal.SIGTERM):
            before[name] = signal.signal(name, lambda *_: stop.set())
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
    print(dry_run_text(calibrate(spec, left), options.workers or cores()))
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


def _stop(options: argparse.Namespace) -> int:
    ask_to_stop(options.store)
    print(f"The sweep of {options.store} was asked to stop; what it recorded stays.")
    return 0


def _export(options: argparse.Namespace) -> int:
    _check_out(options.out)
    rows = results(options.store)
    if not rows:
        raise ValueError(f"{str(options.store)!r} holds no finished rows yet; run its sweep first.")
    try:
        export(rows, options.out)
    except OSError as error:
        raise ValueError(
            f"{str(options.out)!r} cannot be written ({error.strerror or error}); check the path."
        ) from None
    print(f"{len(rows):,} rows are in {options.out}.")
    return 0
