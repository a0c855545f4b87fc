"""Whether the verdict can trust a sampler at all: long runs with small steps, where what its distribution and its step add is small.

    python -m lab.benchmarks.verdicts.samplers --keep small.jsonl --minutes 20      # again and again
    python -m lab.benchmarks.verdicts.samplers --keep small.jsonl --minutes 0 --alone

At automatic steps some samplers add more than 5% to λ̂, and no run of theirs can be right and trusted (`verdicts`). Here their
steps are the automatic one and small parts of it, and their stability constants are raised as well. Problems are those whose
answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.benchmarks.command import KEPT, made, option, read_options
from lab.benchmarks.verdicts.cases import CHAINS, FACTORS, SMALL_FACTORS, Case
from lab.benchmarks.verdicts.rates import right, shares
from lab.benchmarks.verdicts.runs import in_words, judged_again, one_run
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
    options = read_options(
        globals(),
        {"minutes": 0.01, "jobs": 1},
        seed=5,
        repeats=option(2, "problems of each kind"),
        jobs=option(1, "processes, of one thread each"),
        **KEPT,
        alone=option(False, "judge what is kept with no exact answer beside the chains"),
        wrong=option(False, "print every trusted run that is wrong"),
    )
    kept, wanted = Kept(options.keep), list(cases(options.seed, options.repeats))
    new = made(wanted, kept, options.minutes, one_run, options.jobs)
    rows = [(case, judged_again(case, kept[case], options.alone)) for case in wanted if case in kept]
    print(f"{len(rows)} of {len(wanted)} runs, {new} made now; {kept.origin()}")
    for case, row in rows if options.wrong else ():
        if row["trusted"] and not right(row):
            print("TRUSTED", in_words(case, row))
    print(f"\n{'':46}{'trusted runs that are right':42}{'right runs, long enough, that are trusted':42}median error")
    for name in dict.fromkeys(name_of(case) for case, _ in rows):
        for step in STEPS:
            mine = [row for case, row in rows if name_of(case) == name and case.step == step]
            off = sorted(row["llc"] / row["answer"] - 1 for row in mine if row["llc"] is not None)
            middle = f"{off[len(off) // 2]:+.1%}" if off else ""
            among_trusted, _, among_long = shares(mine)
            print(f"{name + ', ' + step:46}{among_trusted:42}{among_long:42}{middle}")


if __name__ == "__main__":
    assert set(STEPS) <= {*FACTORS, *SMALL_FACTORS}
    main()
