"""By the chains alone, on deep linear networks that no limit of the verdict was looked for on: are flat directions found out?

    python -m lab.benchmarks.verdicts.flat --keep lab/results/verdict_flat.jsonl --minutes 20     # again and again
    python -m lab.benchmarks.verdicts.flat --keep lab/results/verdict_flat.jsonl --minutes 0      # the table

Every sampler with its automatic step and 4,000 steps, from w0, with no exact answer beside the chains. Afterwards they are scored
by exact draws: right within max(5%, 3 llc_se). "Before" is the same verdict without the count of directions that the chains have
not spread along.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from lab.benchmarks.command import KEPT, made, option, read_options
from lab.benchmarks.verdicts.cases import CHAINS, OTHERS, STEPS, problem_of
from lab.benchmarks.verdicts.rates import HEADS, rates, right, trusted
from llc_core import RunConfig
from llc_core.diagnostics.confirmation import drawn_value
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


def scored(row: Row) -> Row:
    """With what `rates` asks for."""
    return {**row, "llc_se": row["se"], "answer": row["exact"], "evidence": {"ess": row["ess"]}}


def before(row: Row) -> bool:
    return row["trusted"] or FLAT in row["reason"]


def show(label: str, rows: list[Row], before: Callable[[Row], bool] = before) -> None:
    """before: whether a run was trusted before what is measured here."""
    for when, trusts in (("before", before), ("now", trusted)):
        print(f"{label:26}{when:8}{rates(rows, trusts)}")


def main() -> None:
    options = read_options(
        globals(),
        {"minutes": 0.01},
        first=option(400, "seed of the first networks"),
        seeds=2,
        **KEPT,
    )
    kept = Kept(options.keep)
    seeds = range(options.first, options.first + options.seeds)
    wanted = [(name, seed, sampler) for seed in seeds for name in DEEP for sampler in SAMPLERS]
    made(wanted, kept, options.minutes, lambda asked: one_run(*asked))
    rows = {asked: scored(kept[asked]) for asked in wanted if asked in kept}
    print(f"{len(rows)} of {len(wanted)} runs; {kept.origin()}")
    for asked, row in rows.items():
        if before(row) and not right(row):
            count = f"{row['unspread']:.1f} ± {row['unspread_se']:.1f} directions"
            said = f"{row['llc']:.4g} ± {row['se']:.2g} for {row['exact']:.4g}"
            print("trusted" if row["trusted"] else "trusted before", *asked, said, count)
    print(f"\n{'':34}{HEADS}")
    for sampler in SAMPLERS:
        show(sampler, [row for asked, row in rows.items() if asked[2] == sampler])
    show("all", list(rows.values()))


if __name__ == "__main__":
    main()
