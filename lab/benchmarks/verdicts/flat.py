"""By the chains alone, on deep linear networks that no limit of the verdict was looked for on: are flat directions found out?

    python -m lab.benchmarks.verdicts.flat --keep lab/results/verdict_flat.jsonl --minutes 20     # again and again
    python -m lab.benchmarks.verdicts.flat --keep lab/results/verdict_flat.jsonl --minutes 0      # the table

Every sampler with its automatic step and 4,000 steps, from w0, with no exact answer beside the chains. Afterwards they are scored
by exact draws: right within max(5%, 3 llc_se). "Before" is the same verdict without the count of directions that the chains have
not spread along.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch

from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import parse
from lab.benchmarks.verdicts.cases import CHAINS, OTHERS, STEPS, problem_of
from lab.benchmarks.verdicts.runs import RIGHT_ERRORS, RIGHT_SHARE, interval
from llc_core import RunConfig
from llc_core.diagnostics.confirmation import drawn_value
from llc_core.diagnostics.convergence import ESS_LIMIT
from llc_core.engine.run import Run
from llc_core.studies.keeping import Kept, Row

SAMPLERS = ("SGLD", "MALA", "PCN", "HMC", "SplitHMC", "UnderdampedLangevin", "ProximalSGLD", "SGHMC")
DEEP = [name for name in OTHERS if name.startswith("linear") and "regression" not in name]
FLAT = "not spread along"
"""Words of the verdict that counts flat directions."""


def one_run(name: str, seed: int, sampler: str) -> Row:
    torch.set_num_threads(1)
    problem = problem_of(name, seed)
    config = RunConfig(
        problem=problem.to_dict(),
        sampler={"name": sampler},
        steps=STEPS["usual"],
        chains=CHAINS,
        seed=1000 * seed + SAMPLERS.index(sampler),
    )
    run = Run(config, problem)
    run.advance(STEPS["usual"])
    found = run.estimates(0)[0]  # 0: no exact draws
    exact, exact_se = drawn_value(problem, found.n_beta, float(found.config.localization or 1.0))
    return {
        "llc": found.llc,
        "se": found.llc_se,
        "ess": found.ess,
        "exact": exact,
        "exact_se": exact_se,
        "trusted": bool(found.converged),
        "reason": found.converged.reason,
        "unspread": found.diagnostics["unspread"],
        "unspread_se": found.diagnostics["unspread_se"],
    }


def right(row: Row) -> bool:
    allowed = max(RIGHT_SHARE * row["exact"], RIGHT_ERRORS * row["se"] if row["se"] == row["se"] else 0.0)
    return bool(abs(row["llc"] - row["exact"]) <= allowed)


def long(row: Row) -> bool:
    return bool(row["se"] <= RIGHT_SHARE * row["exact"] and row["ess"] >= ESS_LIMIT)


def before(row: Row) -> bool:
    return row["trusted"] or FLAT in row["reason"]


def show(label: str, rows: list[Row], before: Callable[[Row], bool] = before) -> None:
    """before: whether a run was trusted before what is measured here."""
    for when, trusts in (("before", before), ("now", lambda row: row["trusted"])):
        trusted, hits = [row for row in rows if trusts(row)], [row for row in rows if right(row)]
        rates = (
            interval(sum(map(right, trusted)), len(trusted)),
            *(interval(sum(map(trusts, some)), len(some)) for some in (hits, [row for row in hits if long(row)])),
        )
        print(f"{label:26}{when:8}" + "".join(f"{rate:42}" for rate in rates).rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=400, help="seed of the first networks")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a file of JSON lines: runs that are in it are not made again")
    parser.add_argument("--minutes", type=float, default=600.0, help="runs that are not begun by then are left out")
    options = parse(parser, globals(), minutes=0.01)
    print(machine(), flush=True)
    kept, until = Kept(options.keep), time.monotonic() + 60 * options.minutes
    seeds = range(options.first, options.first + options.seeds)
    wanted = [(name, seed, sampler) for seed in seeds for name in DEEP for sampler in SAMPLERS]
    for asked in wanted:
        if asked not in kept and time.monotonic() < until:
            kept.add(asked, one_run(*asked))
    rows = {asked: kept[asked] for asked in wanted if asked in kept}
    print(f"{len(rows)} of {len(wanted)} runs; {kept.origin()}")
    for asked, row in rows.items():
        if before(row) and not right(row):
            count = f"{row['unspread']:.1f} ± {row['unspread_se']:.1f} directions"
            said = f"{row['llc']:.4g} ± {row['se']:.2g} for {row['exact']:.4g}"
            print("trusted" if row["trusted"] else "trusted before", *asked, said, count)
    print(f"\n{'':34}{'trusted runs that are right':42}{'right runs that are trusted':42}… without those too short")
    for sampler in SAMPLERS:
        show(sampler, [row for asked, row in rows.items() if asked[2] == sampler])
    show("all", list(rows.values()))


if __name__ == "__main__":
    main()
