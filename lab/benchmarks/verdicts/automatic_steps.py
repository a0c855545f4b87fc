"""What the automatic step of a sampler should aim at: bias against draws, at the same number of steps.

    python -m lab.benchmarks.verdicts.automatic_steps --samplers SGLD --keep lab/results/automatic_steps.jsonl --minutes 20
    python -m lab.benchmarks.verdicts.automatic_steps --samplers SGLD --keep lab/results/automatic_steps.jsonl --minutes 0

The problems of `cases`, of seeds that no limit was looked for on, each with the automatic step at several shares of the largest
stable one, all data and one length. Every run is judged by its chains alone, and beside exact answers; it is right within
max(5%, 3 llc_se). What counts is the share of all runs that is trusted and right.
"""

from __future__ import annotations

import itertools
import json
import time
from unittest import mock

import numpy as np
import torch

from lab.benchmarks.command import KEPT, option, read_options
from lab.benchmarks.verdicts.cases import CHAINS, PROBLEMS, STEPS, Case, answer_of, problem_of
from lab.benchmarks.verdicts.rates import interval, right, too_short
from lab.benchmarks.verdicts.runs import evidence_row, judged_again, run_of
from llc_core.samplers import build
from llc_core.studies.keeping import Kept, Row


def one_run(case: Case, safety: float, answer: float) -> Row:
    torch.set_num_threads(1)
    kind, started = type(build(case.settings["sampler"])), time.process_time()
    with mock.patch.object(kind, "safety", safety):
        found = run_of(case)
    return {**evidence_row(found, answer), "seconds": round(time.process_time() - started, 2)}


def cases_of(shapes: list[str], sampler: str, gradient: str, steps: int, seeds: range) -> list[Case]:
    found = []
    for name in shapes:
        for seed in seeds:
            offers = gradient in problem_of(name, seed).gradients
            settings = {
                "sampler": sampler,
                "steps": steps,
                "gradient": gradient,
                "seed": 100 * seed + list(PROBLEMS).index(name),
                "chains": CHAINS,
            }
            if offers:
                found.append(Case(name, seed, settings, "automatic"))
    return found


def show(label: str, rows: list[tuple[Case, Row]]) -> None:
    off = np.array([row["llc"] / row["answer"] - 1 for _, row in rows])
    deep = np.array([case.problem.startswith("linear ") and "regression" not in case.problem for case, _ in rows])
    ess = np.array([row["evidence"].get("ess") or np.nan for _, row in rows], float)
    seconds = np.array([row["seconds"] for _, row in rows])
    cells = [f"{label:34}{len(rows):4d}", f"{np.median(off[~deep]):+.1%} / {np.median(off[deep]):+.1%}"]
    cells += [f"{np.nanmedian(ess):6.0f}", f"{np.nanmedian(ess / seconds):6.0f}/s"]
    cells.append(f"{sum(too_short(row) for _, row in rows):3d} short")
    for alone in (True, False):
        judged = [judged_again(case, row, alone) for case, row in rows]
        trusted = [row for row in judged if row["trusted"]]
        cells.append(f"{interval(sum(map(right, trusted)), len(rows))}, wrong {sum(not right(row) for row in trusted)}")
    print("  ".join(cells), flush=True)


def main() -> None:
    options = read_options(
        globals(),
        {"shares": [0.1], "shapes": ["Gaussian on the plane"], "seeds": 1, "steps": [400]},
        samplers=["SGLD"],
        shares=[0.1, 0.05, 0.03, 0.02],
        shapes=option(list(PROBLEMS), "names of problems of `cases`"),
        gradient="full",
        steps=[STEPS["usual"]],
        first=option(700, "seed of the first problems"),
        seeds=2,
        **KEPT,
    )
    seeds = range(options.first, options.first + options.seeds)
    kept, until = Kept(options.keep), time.monotonic() + 60 * options.minutes
    answers = {tuple(json.loads(asked)[0][:2]): row["answer"] for asked, row in kept.rows.items()}
    print(
        "sampler, share: runs, median error (normal / deep), ESS, ESS a second, too short; trusted and right: alone | with answers"
    )
    for sampler, steps in itertools.product(options.samplers, options.steps):
        wanted = cases_of(options.shapes, sampler, options.gradient, steps, seeds)
        for case in wanted:  # all shares of a problem beside one another, so that what is cut off is the same for all
            for share in options.shares:
                if [case, share] not in kept and time.monotonic() < until:
                    at = case.problem, case.problem_seed
                    answers[at] = answers[at] if at in answers else answer_of(*at)
                    kept.add([case, share], one_run(case, share, answers[at]))
        for share in options.shares:
            rows = [(case, kept[[case, share]]) for case in wanted if [case, share] in kept]
            if rows:
                show(f"{sampler} {share:g} {options.gradient} {steps}", rows)


if __name__ == "__main__":
    main()
