"""What the automatic step of a sampler should aim at: bias against draws, at the same number of steps.

    python -m lab.benchmarks.verdicts.automatic_steps --samplers SGLD --keep lab/results/automatic_steps.jsonl --minutes 20
    python -m lab.benchmarks.verdicts.automatic_steps --samplers SGLD --keep lab/results/automatic_steps.jsonl --minutes 0

The problems of `cases`, of seeds that no limit was looked for on, each with the automatic step at several shares of the largest
stable one, all data and one length. Every run is judged by its chains alone, and beside exact answers; it is right within
max(5%, 3 llc_se). What counts is the share of all runs that is trusted and right.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import parse
from lab.benchmarks.verdicts.cases import CHAINS, PROBLEMS, STEPS, Case, answer_of, problem_of
from lab.benchmarks.verdicts.runs import evidence_row, interval, judged_again, right, run_of, too_short
from llc_core.samplers import build
from llc_core.studies.keeping import Kept, Row


def one_run(case: Case, safety: float, answer: float) -> Row:
    torch.set_num_threads(1)
    kind, started = type(build(case.settings["sampler"])), time.process_time()
    with mock.patch.object(kind, "safety", safety):
        found, evidence = run_of(case)
    return {**evidence_row(found, evidence, answer), "seconds": round(time.process_time() - started, 2)}


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
    told = [f"{label:34}{len(rows):4d}", f"{np.median(off[~deep]):+.1%} / {np.median(off[deep]):+.1%}"]
    told += [f"{np.nanmedian(ess):6.0f}", f"{np.nanmedian(ess / seconds):6.0f}/s"]
    told.append(f"{sum(too_short(row) for _, row in rows):3d} short")
    for alone in (True, False):
        judged = [judged_again(case, row, alone) for case, row in rows]
        trusted = [row for row in judged if row["trusted"]]
        told.append(f"{interval(sum(map(right, trusted)), len(rows))}, wrong {sum(not right(row) for row in trusted)}")
    print("  ".join(told), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samplers", nargs="+", default=["SGLD"])
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.05, 0.03, 0.02])
    parser.add_argument("--shapes", nargs="+", default=list(PROBLEMS), help="names of problems of `cases`")
    parser.add_argument("--gradient", default="full")
    parser.add_argument("--steps", nargs="+", type=int, default=[STEPS["usual"]])
    parser.add_argument("--first", type=int, default=700, help="seed of the first problems")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a file of JSON lines: runs that are in it are not made again")
    parser.add_argument("--minutes", type=float, default=600.0, help="runs that are not begun by then are left out")
    options = parse(parser, globals(), shares=[0.1], shapes=["Gaussian on the plane"], seeds=1, steps=[400])
    seeds = range(options.first, options.first + options.seeds)
    print(machine(), flush=True)
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
