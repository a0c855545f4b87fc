"""Directions that the loss does not depend on: are right estimates trusted, and is what only looks flat still refused?

    python -m lab.benchmarks.verdicts.idle --keep lab/results/verdict_idle.jsonl --minutes 20     # again and again
    python -m lab.benchmarks.verdicts.idle --keep lab/results/verdict_idle.jsonl --minutes 0      # the table

Classifiers at the minimum of a cross entropy of 500 rows, nβ = 10,000, γ = 1: adding a number to all outputs changes nothing, nor do
inputs that are always 0 (as pixels at the border, or tokens that never come). The opposite: units of a ReLU network that sleep at
w0 and wake farther out, deep linear networks at zero, whose flat valleys bend, and those of `flat`.

"Before" is the same verdict without the search. Right: within max(5%, 3 llc_se) of exact draws, or of long Hamiltonian chains where
there are none; neither stands beside the chains when they are judged. Seed 1 was used to choose the sizes.
"""

from __future__ import annotations

from unittest import mock

import numpy as np
import torch
from torch import nn

from lab.benchmarks.command import KEPT, made, option, read_options
from lab.benchmarks.verdicts.cases import problem_of as deep_problem
from lab.benchmarks.verdicts.flat import DEEP, scored, show
from lab.benchmarks.verdicts.rates import HEADS, right
from llc_core import DeepLinearNetwork, NetworkPotential, RunConfig, estimate
from llc_core.diagnostics.confirmation import drawn_value
from llc_core.engine.run import Run
from llc_core.engine.spreading import Idle
from llc_core.potentials.base import Potential
from llc_core.studies.keeping import Kept, Row
from llc_core.verdicts import Kind

ROWS, INPUTS, STEPS, GAMMA = 500, 6, 4000, 1.0
CLASSIFIERS = {"4 classes, 8 zero inputs": (8, 4), "10 classes": (0, 10), "3 classes, 4 zero inputs": (4, 3)}
"""Inputs that are always 0, and classes."""
ASLEEP = "units asleep"
ZEROS = {"3-3-3 at zero": [3] * 3, "5-5-5-5 at zero": [5] * 4}
OPPOSITES = (ASLEEP, *ZEROS, *DEEP)
SAMPLERS = ("SGLD", "MALA", "PCN", "UnderdampedLangevin")
TRUTH = "truth"
"""In place of a sampler: the question for the answer."""


def problem_of(kind: str, seed: int) -> Potential:
    if kind in DEEP:
        return deep_problem(kind, seed)
    if kind in ZEROS:
        widths = ZEROS[kind]
        return DeepLinearNetwork([np.zeros((b, a)) for a, b in zip(widths, widths[1:], strict=False)], noise_std=0)
    torch.manual_seed(seed)
    return asleep() if kind == ASLEEP else classifier(*CLASSIFIERS[kind])


def classifier(zeros: int, classes: int) -> Potential:
    """One layer, trained on labels that a layer like it drew."""
    x = torch.cat([torch.randn(ROWS, INPUTS), torch.zeros(ROWS, zeros)], 1)
    layer = nn.Linear(INPUTS + zeros, classes)
    labels = torch.distributions.Categorical(logits=layer(x).detach()).sample()
    settings = {"max_iter": 500, "tolerance_grad": 1e-9, "tolerance_change": 1e-12}
    training = torch.optim.LBFGS(layer.parameters(), line_search_fn="strong_wolfe", **settings)

    def loss() -> torch.Tensor:
        training.zero_grad()
        value = nn.functional.cross_entropy(layer(x), labels)
        value.backward()
        return value

    for _ in range(5):
        training.step(loss)
    return NetworkPotential(layer, "cross_entropy", (x, labels))


def asleep() -> Potential:
    """Two units of a network 4-5-2 that fits its data; the biases of three others keep them at 0 near w0."""
    x, made = torch.randn(ROWS, 4), nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
    with torch.no_grad():
        made[0].weight[2:], made[0].bias[2:], made[2].weight[:, 2:] = 0.0, -3.0, 0.0
    return NetworkPotential(made, "mse", (x, made(x).detach()))


def n_beta_of(problem: Potential) -> float:
    return 1e4 if isinstance(problem, NetworkPotential) else problem.n_beta


def truth(kind: str, seed: int) -> Row:
    problem = problem_of(kind, seed)
    drawn, error = drawn_value(problem, n_beta_of(problem), GAMMA)
    if drawn == drawn:
        return {"llc": drawn, "se": error, "by": "draws"}
    settings = {"n_beta": n_beta_of(problem), "localization": GAMMA, "steps": 3000, "seed": seed + 7}
    found = estimate(problem, "SplitHMC", progress=False, **settings)
    return {"llc": found.llc, "se": found.llc_se, "by": "SplitHMC"}


def one_run(kind: str, seed: int, sampler: str) -> Row:
    problem = problem_of(kind, seed)
    settings = {"n_beta": n_beta_of(problem), "localization": GAMMA, "steps": STEPS, "chains": 4, "seed": seed}
    run = Run(RunConfig(problem=problem.to_dict(), sampler={"name": sampler}, **settings), problem)
    run.advance(STEPS)
    with mock.patch("llc_core.engine.estimates.idle", lambda *_: Idle()):
        before = run.estimates(0)[0]
    found = run.estimates(0)[0]
    return {
        "llc": found.llc,
        "se": found.llc_se,
        "ess": found.ess,
        "unspread": found.diagnostics["unspread"],
        "unspread_se": found.diagnostics["unspread_se"],
        "idle": found.diagnostics.get("idle", 0.0),
        "before": bool(before.converged),
        "hangs": before.converged.kind is Kind.UNSPREAD,
        "trusted": bool(found.converged),
        "reason": found.converged.reason,
    }


def answered(asked: tuple[str, int, str]) -> Row:
    kind, seed, name = asked
    return truth(kind, seed) if name == TRUTH else one_run(kind, seed, name)


def before(row: Row) -> bool:
    return bool(row["before"])


def main() -> None:
    options = read_options(
        globals(),
        {
            "seeds": 1,
            "STEPS": 200,
            "SAMPLERS": ("SGLD",),
            "CLASSIFIERS": {"3 classes, 4 zero inputs": (4, 3)},
            "OPPOSITES": (),
        },
        one_thread=True,
        first=option(500, "seed of the first networks"),
        seeds=2,
        **KEPT,
    )
    kept = Kept(options.keep)
    seeds = range(options.first, options.first + options.seeds)
    wanted = [(kind, seed, name) for seed in seeds for kind in (*CLASSIFIERS, *OPPOSITES) for name in SAMPLERS]
    made([each for asked in wanted for each in (asked, (*asked[:2], TRUTH))], kept, options.minutes, answered)
    rows = {}
    for asked in wanted:
        answer = (*asked[:2], TRUTH)
        if asked in kept and answer in kept:
            rows[asked] = scored({**kept[asked], "exact": kept[answer]["llc"], "exact_se": kept[answer]["se"]})
    print(f"{len(rows)} of {len(wanted)} runs; {kept.origin()}")
    for asked, row in rows.items():
        said = f"{row['llc']:.4g} ± {row['se']:.2g} for {row['exact']:.4g} ± {row['exact_se']:.2g}"
        mark = ("trusted" if row["trusted"] else "refused", "right" if right(row) else "WRONG")
        count = f"{row['unspread']:.1f} ± {row['unspread_se']:.1f} directions, {row['idle']:.0f} idle"
        print(*mark, *asked, said, count, "by the search" if row["trusted"] and not row["before"] else "")
    print(f"\n{'':34}{HEADS}")
    for kind in (*CLASSIFIERS, *OPPOSITES):
        show(kind, [row for asked, row in rows.items() if asked[0] == kind], before)
    show("classifiers", [row for asked, row in rows.items() if asked[0] in CLASSIFIERS], before)
    show("the opposite", [row for asked, row in rows.items() if asked[0] in OPPOSITES], before)
    hung = [row for row in rows.values() if row["hangs"]]
    freed = [row for row in hung if row["trusted"]]
    print(
        f"refused before for the spread alone: {len(hung)}, of which trusted now {len(freed)}, right {sum(map(right, freed))}"
    )


if __name__ == "__main__":
    main()
