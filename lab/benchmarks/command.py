"""How a benchmark begins: its options, one thread where it asks for that, and the machine that its figures are of."""

from __future__ import annotations

import argparse
import inspect
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, TimeoutError, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import parse
from llc_core.studies.keeping import Kept, Row


def option(usual: Any = None, about: str | None = None, **more: Any) -> dict[str, Any]:
    """An option by its usual value, which also says its type: False is a switch, of a list the first member counts.

    more: what `ArgumentParser.add_argument` takes besides; place=True: named by its place on the command line.
    """
    if usual is False:
        return {"action": "store_true", "help": about, **more}
    first = next(iter(usual), None) if isinstance(usual, list | tuple) else usual
    kind = {} if first is None else {"type": Path if isinstance(first, Path) else type(first)}
    several = {"nargs": "+"} if isinstance(usual, list | tuple) and "action" not in more else {}
    return {"default": usual, "help": about, **kind, **several, **more}


KEPT = {
    "keep": option(None, "a file of JSON lines: runs that are in it are not made again", type=Path),
    "minutes": option(600.0, "runs that are not begun by then are left out"),
}
"""Of a benchmark that is made in pieces, by `made`."""


def read_options(names: dict[str, Any], small: dict[str, Any], /, *, one_thread: bool = False, **options: Any) -> Any:
    """What the command line says, after the line of the machine.

    names: globals() of the benchmark, whose docstring is the help.  small: what --smoke puts in place (`smoke.parse`).
    one_thread: for torch, which else takes what it will.  options: each by its usual value, or by `option`.
    """
    parser = argparse.ArgumentParser(
        description=inspect.cleandoc(names["__doc__"]), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, each in options.items():
        more = dict(each if isinstance(each, dict) else option(each))
        parser.add_argument(name if more.pop("place", False) else f"--{name.replace('_', '-')}", **more)
    found = parse(parser, names, **small)
    if one_thread:
        torch.set_num_threads(1)
    print(machine(), flush=True)
    return found


def made(wanted: Iterable[Any], kept: Kept, minutes: float, make: Callable[[Any], Row], jobs: int = 1) -> int:
    """Makes what is not kept yet, in its order, until the minutes are over, and says how many rows that were.

    Each row is kept as soon as it is known.

    wanted: questions, which `make` answers by a row.  jobs: processes.
    """
    missing = [asked for asked in wanted if asked not in kept]
    until = time.monotonic() + 60 * minutes
    if jobs == 1:
        for asked in missing:
            if time.monotonic() >= until:
                break
            kept.add(asked, make(asked))
        return sum(asked in kept for asked in missing)
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    working = {pool.submit(make, asked): asked for asked in missing}
    try:
        for done in as_completed(working, timeout=max(until - time.monotonic(), 0.0)):
            kept.add(working[done], done.result())
    except TimeoutError:
        pass
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return sum(asked in kept for asked in missing)
