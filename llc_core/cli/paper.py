"""`llc-lab paper`: a figure or table of five papers, a whole paper or all of them; what it costs here, and which claims hold."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import active_children, get_context
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
    one.add_argument("--workers", type=int, metavar="N", help="of sweeps, and papers side by side (default: the cores)")
    one.add_argument("--problems", type=int, metavar="N", help="the first N networks of a sweep; a later run goes on")
    one.add_argument("--device", help="of items that can use one, such as cuda (default cpu)")
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
    whole = options.item == "all" or options.item in papers()
    if whole and options.problems is not None:
        raise ValueError("--problems is of one item; name one such as 000/figure-5.")
    try:
        if whole:
            chosen = [item for item in items() if options.item in ("all", item.paper) and item.sizes]
            if options.dry_run:
                return _priced(chosen, options)
            for line in _beside_one_another(chosen, options):
                say(line)
        else:
            _one(find(options.item), options, say_now)
    except KeyboardInterrupt:
        say("Ended; what was done is kept, and the same command goes on from there.")
        return 130
    return 0


def say_now(line: str) -> None:
    say(line, flush=True)


def _priced(chosen: list[Item], options: argparse.Namespace) -> int:
    for item in chosen:
        _one(item, options, say_now)
    costs = sum(item.sizes[options.size].cost().seconds for item in chosen)
    say(f"Together: about {hours(costs / 3600)} of a core, less where items share runs{unpriced(options)}")
    return 0


def unpriced(options: argparse.Namespace) -> str:
    """What a price must add where a device or a number of workers is asked for: rates are the processor's, with all its cores."""
    device = f"; that is the processor, {options.device} is not priced" if options.device not in (None, "cpu") else ""
    return device + (
        f"; with all cores, --workers {options.workers} is not priced" if options.workers is not None else ""
    )


def _beside_one_another(chosen: list[Item], options: argparse.Namespace) -> list[str]:
    """Several papers, as many at a time as there are workers; on a device one after another. Returns the lines of `_several`."""
    from llc_core.compute.cores import available_cores

    papers = list(dict.fromkeys(item.paper for item in chosen))
    workers = options.workers or available_cores()
    side = 1 if options.device else min(workers, len(papers))
    if side == 1:
        return _several(chosen, options, say_now)
    seconds = {paper: sum(i.sizes[options.size].cost().seconds for i in chosen if i.paper == paper) for paper in papers}
    options = argparse.Namespace(**{**vars(options), "workers": workers // side, "handle": None})
    # The longest first, so that no core is left alone with it at the end.
    left, found = sorted(papers, key=seconds.__getitem__), dict[str, Future[list[str]]]()
    with ProcessPoolExecutor(side, mp_context=get_context("spawn")) as pool:
        try:
            # Each is handed over when its turn has come: of those that a pool holds ready an interrupt would still begin the next.
            while left or not all(each.done() for each in found.values()):
                while left and sum(not each.done() for each in found.values()) < side:
                    paper = left.pop()
                    found[paper] = pool.submit(_beside, paper, options)
                wait([each for each in found.values() if not each.done()], return_when=FIRST_COMPLETED)
        except KeyboardInterrupt:
            for process in active_children():
                process.terminate()
            raise
    return [line for paper in papers for line in found[paper].result()]


def _beside(paper: str, options: argparse.Namespace) -> list[str]:
    """A paper in a process of its own: each line says of which one it is."""
    import torch

    from llc_core.studies.papers.items import items

    torch.set_num_threads(options.workers)
    chosen = [item for item in items() if item.paper == paper and item.sizes]
    return _several(chosen, options, lambda line: say_now(f"{paper} | {line}"))


def _several(chosen: list[Item], options: argparse.Namespace, tell: Callable[[str], None]) -> list[str]:
    """One after another; what cannot be run here is said, and the others go on. Returns how long each took, and its claims."""
    summary = []
    for item in chosen:
        began, spent = time.perf_counter(), time.process_time()
        try:
            done = _one(item, options, tell)
        except ValueError as error:
            tell(f"  {error}")
            summary.append(f"{item.address:20} not run: {error}")
            continue
        if done is not None:
            said = Counter(claim.verdict for claim in done.claims)
            words = ", ".join(f"{said[verdict]} {verdict}" for verdict in ("yes", "no", "not decided") if said[verdict])
            seconds, busy = time.perf_counter() - began, time.process_time() - spent
            summary.append(
                f"{item.address:20} {seconds:6,.0f} s, {busy:6,.0f} s of this process; claims: {words or 'none'}"
            )
    return summary


def _one(item: Item, options: argparse.Namespace, tell: Callable[[str], None]) -> Done | None:
    """None where it is only priced."""
    from llc_core.studies.papers.running import cost_of, run_item, title_of

    cost = cost_of(item, options.size, options.problems)
    tell(title_of(item, options.size, options.problems))
    tell(
        f"{cost.words}: about {hours(cost.seconds / 3600)} and {cost.megabytes:,.0f} MB on this machine{unpriced(options)}"
    )
    if options.dry_run:
        return None
    done = run_item(
        item,
        options.size,
        options.out,
        problems=options.problems,
        workers=options.workers,
        device=options.device,
        mnist=options.mnist,
        uci=options.uci,
        cifar=options.cifar,
        say=lambda line: tell(f"  {line}"),
    )
    for line in done.found.table:
        tell(line)
    for claim in done.claims:
        tell(f"- {claim}")
    if item.lacks:
        tell(f"Missing: {item.lacks}.")
    if item.more:
        tell(f"More than printed: {item.more}.")
    tell(f"Figure and claims are in {done.page}, all numbers in {done.numbers}.")
    return done
