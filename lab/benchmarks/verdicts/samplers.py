"""Whether the verdict can trust a sampler at all: long runs with small steps, where what its distribution and its step add is small.

    python -m lab.benchmarks.verdicts.samplers --keep small.jsonl --minutes 20      # again and again
    python -m lab.benchmarks.verdicts.samplers --keep small.jsonl --minutes 0 --alone

At automatic steps some samplers add more than 5% to λ̂, and no run of theirs can be right and trusted (`verdicts`). Here their
steps are the automatic one and small parts of it, and their stability constants are raised as well. Problems are those whose
answer is exact.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import parse
from lab.benchmarks.verdicts.cases import CHAINS, FACTORS, SMALL_FACTORS, Case
from lab.benchmarks.verdicts.runs import interval, judged_again, made, right, told, too_short
from llc_core.fields import hyper_fields
from llc_core.samplers import build
from llc_core.studies.keeping import Kept

NAMES = ("AdamSGLD", "RMSPropSGLD", "ShampooSGLD", "SGNHT")
"""None of them was trusted in 600 runs of `verdicts`."""
STEPS = ("automatic", "a third of automatic", *SMALL_FACTORS)
PROBLEMS = ("one layer 4-3", "linear regression", "one layer 3-7")
LENGTH = 24_000
RAISED = 1.0
"""A stability constant far above the preconditioner's root mean square gradient: all directions then move alike."""


def cases(seed: int, repeats: int) -> Iterator[Case]:
    """Every sampler, as it is and with a raised stability constant, with every step, on every problem."""
    number = 0
    for repeat in range(repeats):
        for problem in PROBLEMS:
            for name in NAMES:
                about = hyper_fields(build(name))
                for extra in ({}, {"stability": RAISED}) if "stability" in about and name != "ShampooSGLD" else ({},):
                    for step in STEPS:
                        sampler = {"name": name, **extra} if extra else name
                        settings = {
                            "sampler": sampler,
                            "steps": LENGTH,
                            "gradient": "full",
                            "seed": 100_000 * seed + number,
                            "chains": CHAINS,
                        }
                        yield Case(problem, 100 * seed + repeat, settings, step)
                        number += 1


def name_of(case: Case) -> str:
    sampler = case.settings["sampler"]
    return sampler if isinstance(sampler, str) else f"{sampler['name']}, stability {sampler['stability']:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2, help="problems of each kind")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--keep", type=Path, help="a file of JSON lines: runs that are in it are not made again")
    parser.add_argument("--minutes", type=float, default=600.0, help="runs that are not begun by then are left out")
    parser.add_argument(
        "--alone", action="store_true", help="judge what is kept with no exact answer beside the chains"
    )
    parser.add_argument("--wrong", action="store_true", help="print every trusted run that is wrong")
    options = parse(parser, globals(), minutes=0.01, jobs=1)
    print(machine(), flush=True)
    kept, wanted = Kept(options.keep), list(cases(options.seed, options.repeats))
    new = sum(1 for _ in made(wanted, kept, options.minutes, options.jobs))
    rows = [(case, judged_again(case, kept[case], options.alone)) for case in wanted if case in kept]
    print(f"{len(rows)} of {len(wanted)} runs, {new} made now; {kept.origin()}")
    for case, row in rows if options.wrong else ():
        if row["trusted"] and not right(row):
            print("TRUSTED", told(case, row))
    print(f"\n{'':46}{'trusted runs that are right':42}{'right runs, long enough, that are trusted':42}median error")
    for name in dict.fromkeys(name_of(case) for case, _ in rows):
        for step in STEPS:
            mine = [row for case, row in rows if name_of(case) == name and case.step == step]
            trusted = [row for row in mine if row["trusted"]]
            long = [row for row in mine if right(row) and not too_short(row)]
            off = sorted(row["llc"] / row["answer"] - 1 for row in mine if row["llc"] is not None)
            middle = f"{off[len(off) // 2]:+.1%}" if off else ""
            rates = (
                interval(sum(map(right, trusted)), len(trusted)),
                interval(sum(r["trusted"] for r in long), len(long)),
            )
            print(f"{name + ', ' + step:46}" + "".join(f"{rate:42}" for rate in rates) + middle)


if __name__ == "__main__":
    assert set(STEPS) <= {*FACTORS, *SMALL_FACTORS}
    main()
