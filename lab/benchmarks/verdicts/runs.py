"""How far the verdict can be believed: runs with known answers, of every sampler, long and short, with steps of all sizes.

    python -m lab.benchmarks.verdicts.runs                                     # 720 runs
    python -m lab.benchmarks.verdicts.runs --seed 7 --runs 100 --wrong
    python -m lab.benchmarks.verdicts.runs --keep runs.jsonl --minutes 20      # again and again, until all runs are there
    python -m lab.benchmarks.verdicts.runs --keep runs.jsonl --minutes 0       # the table of what is there
    python -m lab.benchmarks.verdicts.runs --keep runs.jsonl --minutes 0 --again   # as today's verdict judges these runs

A run is right where λ̂ lies within max(5%, 3 llc_se) of the answer. Two rates, each with its 95% interval (Wilson 1927):
how many of the trusted runs are right, and how many of the right runs are trusted. The second also without runs that are too
short: a run that holds fewer than 100 effective samples, or whose error is above 5% or not known, is right by luck or by the
width of its error bar, and need not be trusted. What is run is drawn at random with the seed (`cases`).
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections import Counter
from typing import Any

import torch

from lab.benchmarks.command import KEPT, made, option, read_options
from lab.benchmarks.verdicts.cases import FACTORS, SMALL_FACTORS, Case, answer_of, cases, problem_of
from lab.benchmarks.verdicts.rates import HEADS, or_nan, rates, right, too_short
from llc_core import Estimate, estimate, polish
from llc_core.diagnostics.confirmation import drawn_value, exact_value
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.verdict import judge, worth_an_answer
from llc_core.fields import hyper_fields
from llc_core.samplers import build
from llc_core.studies.keeping import Kept, Row

UNKNOWN = {field.name: field.default for field in dataclasses.fields(Evidence)}
"""Evidence of which nothing is kept."""
OF_THE_CASE = ("reference", "exact_law", "sampler")
"""Evidence that follows from the case: it is made anew where kept evidence is judged."""


def one_run(case: Case) -> Row:
    """What is kept of a run: the estimate, the answer, what was said, and the evidence for it."""
    torch.set_num_threads(1)
    answer = answer_of(case.problem, case.problem_seed)
    started = time.process_time()
    return {**evidence_row(run_of(case), answer), "seconds": round(time.process_time() - started, 2)}


def evidence_row(found: Estimate, answer: float) -> Row:
    """The estimate, the answer, what was said, and all evidence that does not follow from the case."""
    return {
        "llc": _short(found.llc),
        "llc_se": _short(found.llc_se),
        "answer": _short(answer),
        "trusted": bool(found.converged),
        "reason": found.converged.reason,
        "n_beta": found.n_beta,
        "localization": float(found.config.localization or 0.0),
        "evidence": {
            name: _short(value)
            for name, value in vars(found.evidence).items()
            if not name.startswith(OF_THE_CASE) and not _same(value, UNKNOWN[name])
        },
    }


def run_of(case: Case) -> Estimate:
    """The run, with the step that the case asks for."""
    settings = begun(case)
    return estimate(problem_of(case.problem, case.problem_seed), progress=False, **settings)


def begun(case: Case) -> dict[str, Any]:
    """Arguments of a run with the step that the case asks for."""
    settings = {**case.settings, "sampler": build(case.settings["sampler"]).to_dict()}
    factor = {**FACTORS, **SMALL_FACTORS}[case.step]
    if factor is not None:
        problem = problem_of(case.problem, case.problem_seed)
        probe = estimate(problem, progress=False, **{**settings, "steps": 400})
        sampler = build(settings["sampler"])
        step = min(factor * probe.diagnostics["step_size"], hyper_fields(sampler)["step_size"].high)
        settings["sampler"] = sampler.replace(step_size=step).to_dict()
    return settings


def evidence_of(row: Row, sampler: Any) -> Evidence:
    """The evidence that is kept of a run, with what its sampler says of itself."""
    given = {name: or_nan(value) if value is None else value for name, value in row["evidence"].items()}
    made = build(sampler)
    return Evidence(**{**given, "exact_law": made.exact_law and made.bias_expected, "sampler": made})


def judged_again(case: Case, row: Row, alone: bool = False) -> Row:
    """The row as today's verdict has it, from the evidence that is kept: exact draws are asked only where no more than doubts
    speak against the estimate, as in a run. alone: by what the chains show, with no exact answer beside them."""
    problem = problem_of(case.problem, case.problem_seed)
    problem = polish(problem).problem if row.get("polish") else problem
    exact = exact_value(problem, row["n_beta"], row["localization"])
    evidence = dataclasses.replace(evidence_of(row, case.settings["sampler"]), reference=exact)
    verdict = judge(evidence)
    if alone:
        verdict = judge(dataclasses.replace(evidence, reference=math.nan))
    elif math.isnan(exact) and not evidence.sampler.needs_conditionals and worth_an_answer(evidence):
        drawn, drawn_se = drawn_value(problem, row["n_beta"], row["localization"])
        verdict = judge(dataclasses.replace(evidence, reference=drawn, reference_se=drawn_se))
    answer = row["answer"] if math.isnan(exact) else exact  # which an earlier benchmark may have had from chains
    return {**row, "answer": answer, "trusted": bool(verdict), "reason": verdict.reason}


def keys(case: Case) -> tuple[str, ...]:
    """The rows of the table that a run counts in."""
    settings = case.settings
    return "all", settings["sampler"], settings["gradient"], f"{settings['steps']} steps", case.step, case.problem


def in_words(case: Case, row: Row) -> str:
    error = row["llc_se"] or math.nan
    said = f"{or_nan(row['llc']):.4g} ± {error:.2g} for {row['answer']:.4g}"
    return f"{case.problem} {case.problem_seed} {case.settings} {case.step}: {said}. {row['reason']}"


def show(rows: list[tuple[Case, Row]]) -> None:
    """The table of both rates, and the reasons why right runs are refused."""
    print(f"\n{'':24}{HEADS}")
    places = dict.fromkeys(key for key in sorted({key for case, _ in rows for key in keys(case)}) if key != "all")
    for key in (*places, "all"):
        mine = [row for case, row in rows if key in keys(case)]
        print(f"{key:24}{rates(mine)}", flush=True)
    for short in (False, True):
        refused = [(case, row) for case, row in rows if right(row) and not row["trusted"] and too_short(row) is short]
        kind = "too short" if short else "long enough"
        print(f"\nright, {kind} and refused: {len(refused)}, by the reason and the samplers")
        reasons = Counter(_kind(row["reason"]) for _, row in refused)
        for reason, count in reasons.most_common():
            who = Counter(case.settings["sampler"] for case, row in refused if _kind(row["reason"]) == reason)
            print(f"{count:4d}  {reason}: {', '.join(f'{name} {number}' for name, number in who.most_common())}")


def _kind(reason: str) -> str:
    """A reason without its numbers."""
    words = reason.split(":")[0].split("(")[0]
    return " ".join("#" if any(letter.isdigit() for letter in word) else word for word in words.split())[:80]


def _short(value: Any) -> Any:
    """Five digits of a number, as JSON has it: None for nan."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.5g}") if math.isfinite(value) else (None if math.isnan(value) else value)


def _same(one: Any, other: Any) -> bool:
    return one == other or (
        isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    )


def main() -> None:
    options = read_options(
        globals(),
        {"seed": 3, "runs": 3, "minutes": 0.01, "jobs": 1},
        runs=720,
        seed=1,
        others=option(False, "problems of other shapes, which no limit was looked for on"),
        jobs=option(1, "processes, of one thread each"),
        **KEPT,
        again=option(False, "judge the kept evidence with today's verdict"),
        alone=option(False, "with --again: no exact answer beside the chains"),
        wrong=option(False, "print every trusted run that is wrong, and right ones that are not trusted"),
    )
    started, kept = time.perf_counter(), Kept(options.keep)
    wanted = list(cases(options.runs, options.seed, options.others))
    new = made(wanted, kept, options.minutes, one_run, options.jobs)
    rows = [(case, kept[case]) for case in wanted if case in kept]
    print(
        f"{len(rows)} of {len(wanted)} runs, {new} made now in {time.perf_counter() - started:.0f} s; {kept.origin()}"
    )
    if options.again:
        rows = [(case, judged_again(case, row, options.alone)) for case, row in rows]
        print("judged again, from the kept evidence")
    for case, row in rows if options.wrong else ():
        if row["trusted"] != right(row):
            print("TRUSTED" if row["trusted"] else "refused", in_words(case, row))
    show(rows)


if __name__ == "__main__":
    main()
