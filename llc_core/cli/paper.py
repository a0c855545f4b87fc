"""`llc-lab paper`: a figure or table of five papers, a whole paper or all of them; what it costs here, and which claims hold."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llc_core.cli.outputs import say
from llc_core.cli.sweep import hours

if TYPE_CHECKING:
    from llc_core.studies.papers.items import Item
    from llc_core.studies.papers.running import Done


def add_paper(commands: Any) -> None:
    one = commands.add_parser("paper", help="a figure or table of a paper: what it takes, and which of its claims hold")
    one.add_argument("item", nargs="?", metavar="PAPER/ITEM", help="such as 003/figure-1; a paper, 003; or all")
    one.add_argument("--size", choices=("paper", "small"), default="small", help="as printed, or minutes (default)")
    one.add_argument("--list", action="store_true", help="every figure and table, and its state")
    one.add_argument("--dry-run", action="store_true", help="say what would run and how long it would take")
    one.add_argument("--out", type=Path, default=Path("papers"), metavar="FOLDER", help="of all files (default papers)")
    one.add_argument("--workers", type=int, metavar="N", help="of sweeps (default: one for each core)")
    one.add_argument("--device", help="of sweeps and pictures, such as cuda (default cpu)")
    one.add_argument("--mnist", type=Path, metavar="FOLDER", help="of MNIST's four files, for items that need them")
    one.add_argument(
        "--uci", type=Path, metavar="FOLDER", help="of tables of the UCI repository, for items that need them"
    )
    one.add_argument(
        "--cifar", type=Path, metavar="FOLDER", help="of CIFAR's binary files and SVHN's, for items that need them"
    )
    one.set_defaults(handle=_paper)


def _paper(options: argparse.Namespace) -> int:
    from llc_core.studies.papers.items import find, items, papers

    if options.list:
        titles = papers()
        for item in items():
            if options.item in (None, item.paper, item.address):
                if titles.get(item.paper):
                    say(f"{item.paper}: {titles.pop(item.paper)}")
                say(f"  {item.address:20} {item.title}: {item.state}")
        return 0
    if options.item is None:
        raise ValueError(
            "No item is given; name one such as 003/figure-1, a paper such as 003, or all; --list names them."
        )
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers is {options.workers}; give at least 1, or leave it out.")
    if options.item == "all" or options.item in papers():
        return _several([item for item in items() if options.item in ("all", item.paper)], options)
    try:
        _one(find(options.item), options)
    except KeyboardInterrupt:
        return _ended()
    return 0


def _several(chosen: list[Item], options: argparse.Namespace) -> int:
    """One after another; what cannot be run here is said, and the others go on. At the end how long each took, and its claims."""
    summary, costs = [], 0.0
    for item in (each for each in chosen if each.sizes):
        began, spent = time.perf_counter(), time.process_time()
        try:
            done = _one(item, options)
        except KeyboardInterrupt:
            return _ended()
        except ValueError as error:
            say(f"  {error}", flush=True)
            summary.append(f"{item.address:20} not run: {error}")
            continue
        costs += item.sizes[options.size].cost().seconds
        if done is not None:
            said = Counter(claim.verdict for claim in done.claims)
            words = ", ".join(f"{said[verdict]} {verdict}" for verdict in ("yes", "no", "not decided") if said[verdict])
            seconds, busy = time.perf_counter() - began, time.process_time() - spent
            summary.append(
                f"{item.address:20} {seconds:6,.0f} s, {busy:6,.0f} s of this process; claims: {words or 'none'}"
            )
    if options.dry_run:
        say(f"Together: about {hours(costs / 3600)}, less where items share runs")
    for line in summary:
        say(line)
    return 0


def _ended() -> int:
    say("Ended; what was done is kept, and the same command goes on from there.")
    return 130


def _one(item: Item, options: argparse.Namespace) -> Done | None:
    """None where it is only priced."""
    from llc_core.studies.papers.running import cost_of, run_item

    cost = cost_of(item, options.size)
    say(f"{item.address} ({options.size}): {item.title}")
    say(f"{cost.words}: about {hours(cost.seconds / 3600)} and {cost.megabytes:,.0f} MB on this machine", flush=True)
    if options.dry_run:
        return None
    done = run_item(
        item,
        options.size,
        options.out,
        workers=options.workers,
        device=options.device,
        mnist=options.mnist,
        uci=options.uci,
        cifar=options.cifar,
        say=lambda line: say(f"  {line}", flush=True),
    )
    for line in done.found.table:
        say(line)
    for claim in done.claims:
        say(f"- {claim}")
    if item.lacks:
        say(f"Missing: {item.lacks}.")
    say(f"Figure and claims are in {done.page}, all numbers in {done.numbers}.")
    return done
