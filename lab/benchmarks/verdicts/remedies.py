"""Trusted after at most two remedies, and right? By the chains alone: what somebody gets who does what the verdict asks for.

    python -m lab.benchmarks.verdicts.remedies --keep lab/results/verdict_remedies_today.jsonl --minutes 20    # again and again
    python -m lab.benchmarks.verdicts.remedies --keep lab/results/verdict_remedies_today.jsonl --minutes 0     # the table

The runs of `verdicts`, of seeds that no limit was looked for on. A refused run is followed: where the verdict names a setting, a new
run is made with it, as long as the last (another γ, nβ or w0 is another question, and is scored by its own answer). Where w0 cannot be moved it wants two
temperatures: their λ̂ is that of the minimum near w0. Where it wants steps, the same chains go on, twice as long each time, until it wants none or they have
four times as many. What is told besides is done in the same go. The second remedy does the same once more, so that a run of 4,000 steps ends with 64,000 at
most.
Every stage keeps its evidence, and is judged by today's verdict.

A number is right as it is of its own w0 on its own data. With --minimum it is right as λ is meant, of the minimum of L_n near w0: its answer
and what the engine's search found that a lower loss nearby takes off λ̂, where that is beyond 5%. Runs of an engine that did not search
take what another one found at the same w0: --minimum --searched FILE.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from lab.benchmarks.command import KEPT, made, option, read_options
from lab.benchmarks.verdicts.cases import Case, answer_of, cases, problem_of
from lab.benchmarks.verdicts.rates import RIGHT_SHARE, interval, or_nan, right, shares
from lab.benchmarks.verdicts.runs import begun, evidence_row, judged_again, show
from llc_core import RunConfig
from llc_core.diagnostics.verdict import judge
from llc_core.engine.run import Run
from llc_core.fields import hyper_fields
from llc_core.potentials.base import Potential
from llc_core.samplers import build
from llc_core.studies.keeping import Kept, Row
from llc_core.verdicts import TEMPERATURES, Verdict

REMEDIES, LONGER = 2, 4


def one_run(case: Case) -> Row:
    """The answer, and what is kept of every stage: what was done for it, the estimate and the evidence."""
    torch.set_num_threads(1)
    started = time.process_time()
    problem, settings = problem_of(case.problem, case.problem_seed), begun(case)
    run, answer = run_of(problem, settings), answer_of(case.problem, case.problem_seed)
    stages, verdict = [], finished(run, answer, "as asked")
    stages.append(verdict[0])
    for _ in range(REMEDIES):
        said = verdict[1]
        told = [] if said else [each for each in (said, said.also) if each is not None]
        change = {name: value for each in reversed(told) for name, value in each.change.items()}
        line = not change.get("polish") and any(TEMPERATURES in each.remedy for each in told)
        steps = any(each.wants_steps for each in told)
        if not (steps or change or line):
            break
        done = " and ".join([*([str(change)] if change else []), *(["two temperatures"] if line else [])])
        if change:
            settings = changed(settings, change, run)
            asked = {name: settings[name] for name in ("localization", "n_beta") if name in settings}
            if "grid" not in settings and (asked or settings.get("polish")):  # another question, another answer
                polished = settings.get("polish", False)
                answer = answer_of(case.problem, case.problem_seed, **asked, polished=polished)
        if line and "grid" not in settings:
            settings, answer = {**settings, "grid": {"temperature": [1.0, 0.25]}}, at_the_minimum(stages[-1])
        if change or line:
            run = run_of(problem, settings)
            verdict = finished(run, answer, done)
        if steps and not verdict[1] and (verdict[1].wants_steps or not done):
            verdict = gone_on(run, answer, LONGER * run.total_steps, f"{done} and more steps" if done else "more steps")
            settings = {**settings, "steps": run.total_steps}
        stages.append(verdict[0])
    return {"stages": stages, "seconds": round(time.process_time() - started, 2)}


def run_of(problem: Potential, settings: Mapping[str, Any]) -> Run:
    return Run(RunConfig(problem=problem.to_dict(), **settings), problem)


def changed(settings: Mapping[str, Any], change: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The settings with what a remedy names: another sampler with its automatic step, a hyperparameter, or an argument of the run.

    A smaller step size comes with "and more steps": as many times as many as it is smaller, up to four times.
    """
    found = dict(settings)
    if "step_size" in change:
        smaller = float(run._step_size.current.mean()) / change["step_size"]
        found["steps"] = int(run.total_steps * min(max(smaller, 1.0), LONGER))
    for name, value in change.items():
        if name == "sampler":
            found["sampler"] = build(value).to_dict()
        elif name in hyper_fields(build(found["sampler"])):
            found["sampler"] = build(found["sampler"]).replace(**{name: value}).to_dict()
        else:
            found[name] = value
    return found


def finished(run: Run, answer: float, done: str) -> tuple[Row, Verdict]:
    """The run to its end, and the verdict by its chains alone; of a run at two temperatures, that on their line."""
    while not run.finished:
        run.advance(run.total_steps - run.steps_done)
    found, *_ = run.estimates(0)  # 0: no exact draws
    verdict = judge(dataclasses.replace(found.evidence, reference=math.nan))
    about = {"steps": found.steps, "sampler": run.sampler.to_dict(), "done": done, "polish": run.config.polish}
    row = {**evidence_row(found, answer), **about}
    if run.config.grid:
        slope = found.from_temperatures
        assert slope is not None
        verdict, row = slope.verdict, {**row, "llc": slope.llc, "llc_se": slope.llc_se, "slope": True}
    return {**row, "trusted": bool(verdict), "reason": verdict.reason}, verdict


def at_the_minimum(stage: Row) -> float:
    """The answer of a stage, and what the engine's search found that a lower loss nearby takes off λ̂."""
    return float(stage["answer"] + max(or_nan(stage["evidence"].get("above")), 0.0))


def gone_on(run: Run, answer: float, most: int, done: str) -> tuple[Row, Verdict]:
    while True:
        if not run._record.losses.alive.any():
            return finished(run, answer, "no chain left to go on")
        run.go_on()
        row, verdict = finished(run, answer, done)
        if verdict or not verdict.wants_steps or 2 * run.total_steps > most:
            return row, verdict


def judged_stages(case: Case, row: Row, alone: bool) -> list[Row]:
    """The stages by today's verdict, up to the first that is trusted."""
    found = []
    for stage in row["stages"]:
        own = case._replace(settings={**case.settings, "sampler": stage["sampler"]})
        found.append(stage if stage.get("slope") else judged_again(own, stage, alone))
        if found[-1]["trusted"]:
            break
    return found


def of_the_minimum(stages: list[Row], searched: Row) -> list[Row]:
    """The stages with answers at the minimum near w0; a polished one is there, and two temperatures.

    searched: the first stage of the same run, by an engine that looked for a lower loss nearby.
    """
    answer, own = at_the_minimum(searched), searched["answer"]
    far = answer - own > RIGHT_SHARE * abs(own)
    return [
        {**stage, "answer": answer} if far and not (stage.get("polish") or stage.get("slope")) else stage
        for stage in stages
    ]


def main() -> None:
    options = read_options(
        globals(),
        {"runs": 20, "minutes": 0.01},
        runs=600,
        seed=5,
        others=option(False, "problems of other shapes"),
        **KEPT,
        jobs=option(1, "processes"),
        minimum=option(False, "right is what is right of the minimum near w0"),
        searched=option(
            None, "with --minimum: a file of the same runs, by an engine that looks for a minimum", type=Path
        ),
        wrong=option(False, "print every trusted run that is wrong"),
        by=option(False, "print both rates by sampler, gradient, steps and problem"),
    )
    kept = Kept(options.keep)
    wanted = list(cases(options.runs, options.seed, options.others))
    made(wanted, kept, options.minutes, one_run, options.jobs)
    searched = Kept(options.searched) if options.searched else kept
    rows = [(case, kept[case]) for case in wanted if case in kept and case in searched]
    print(f"{len(rows)} of {len(wanted)} runs; {kept.origin()}")
    print(f"\n{'':34}{'trusted runs that are right':42}{'right runs that are trusted':42}", end="")
    print(f"{'… without those too short':42}trusted and right, of all runs")
    for alone in (True, False):
        stages = [(case, judged_stages(case, row, alone)) for case, row in rows]
        if options.minimum:
            stages = [(case, of_the_minimum(found, searched[case]["stages"][0])) for case, found in stages]
        who = "chains alone" if alone else "with exact answers"
        for count in range(REMEDIES + 1):
            ended = [found[: count + 1][-1] for _, found in stages]
            of_all = interval(sum(row["trusted"] and right(row) for row in ended), len(ended))
            line = "".join(f"{share:42}" for share in (*shares(ended), of_all)).rstrip()
            print(f"{f'{who}, {count} remedies':34}{line}", flush=True)
        last = [(case, found[-1]) for case, found in stages]
        for case, row in last if options.wrong else ():
            if row["trusted"] and not right(row):
                print("WRONG", who, case, row["done"], row["llc"], row["llc_se"], row["answer"], row["reason"])
        if options.by:
            print(f"\n{who}, {REMEDIES} remedies, by what was asked for at first", end="")
            show(last)


if __name__ == "__main__":
    main()
