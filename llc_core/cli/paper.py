"""`llc-lab paper`: a figure or table of one of five papers, what it costs here, and which of its claims hold."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from llc_core.cli.outputs import say
from llc_core.cli.sweep import hours


def add_paper(commands: Any) -> None:
    one = commands.add_parser("paper", help="a figure or table of a paper: what it takes, and which of its claims hold")
    one.add_argument("item", nargs="?", metavar="PAPER/ITEM", help="such as 003/figure-1; --list names all")
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
    from llc_core.studies.papers.running import cost_of, run_item

    if options.list:
        titles = papers()
        for item in items():
            if options.item in (None, item.paper, item.address):
                if titles.get(item.paper):
                    say(f"{item.paper}: {titles.pop(item.paper)}")
                say(f"  {item.address:20} {item.title}: {item.state}")
        return 0
    if options.item is None:
        raise ValueError("No item is given; name one such as 003/figure-1, or give --list.")
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers is {options.workers}; give at least 1, or leave it out.")
    item = find(options.item)
    cost = cost_of(item, options.size)
    say(f"{item.address} ({options.size}): {item.title}")
    say(f"{cost.words}: about {hours(cost.seconds / 3600)} and {cost.megabytes:,.0f} MB on this machine", flush=True)
    if options.dry_run:
        return 0
    try:
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
    except KeyboardInterrupt:
        say("Ended; what was done is kept, and the same command goes on from there.")
        return 130
    for line in done.found.table:
        say(line)
    for claim in done.claims:
        say(f"- {claim}")
    if item.lacks:
        say(f"Missing: {item.lacks}.")
    say(f"Figure and claims are in {done.page}, all numbers in {done.numbers}.")
    return 0
