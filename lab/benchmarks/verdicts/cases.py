"""Runs with known answers, drawn at random: every sampler, steps of all sizes, three gradients, long and short.

The answers: a normal distribution for one linear layer and for linear regression, quadrature on the plane, blocked Gibbs for deep linear
networks, long Hamiltonian chains for logistic regression.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch

from llc_core import DeepLinearNetwork, NetworkPotential, estimate, planar_landscape, polish
from llc_core.diagnostics.confirmation import exact_value
from llc_core.potentials.base import Potential
from llc_core.references.gibbs import gibbs_reference
from llc_core.samplers import MetropolisSampler, build
from llc_core.samplers.registry import samplers

CHAINS = 4
STEPS = {"usual": 4000, "short": 300}
EXACT_DRAWS = 10
"""A sweep of exact draws is worth more than so many steps of the other samplers."""
FACTORS = {
    "automatic": None,
    "a third of automatic": 1 / 3,
    "three times automatic": 3.0,
    "ten times automatic": 10.0,
}
SMALL_FACTORS = {"a tenth of automatic": 1 / 10, "a thirtieth of automatic": 1 / 30}
"""Of `samplers`."""
NOISY = ("minibatch", "control_variate")
LATER = ("SGLRW",)
"""They came when evidence of KEPT_RUNS runs was kept: among the first ones they would make all of these other runs."""
KEPT_RUNS = 600
BAYESIAN = "CollapsedPCN"
"""It samples Bayesian networks alone, whose λ̂ is no learning coefficient."""


def linear(widths: list[int], rank: int, n: int = 10**5) -> Callable[[int], Potential]:
    ranks = [rank] * (len(widths) - 1)
    return lambda seed: DeepLinearNetwork.random(widths=widths, layer_ranks=ranks, n=n, seed=seed)


def regression(inputs: int, outputs: int, rows: int) -> Callable[[int], Potential]:
    def make(seed: int) -> Potential:
        torch.manual_seed(seed)
        layer, x = torch.nn.Linear(inputs, outputs), torch.randn(rows, inputs)
        return NetworkPotential(layer, "mse", (x, layer(x).detach() + 0.3 * torch.randn(rows, outputs)))

    return make


def logistic(inputs: int, classes: int, rows: int) -> Callable[[int], Potential]:
    def make(seed: int) -> Potential:
        torch.manual_seed(seed)
        layer, x = torch.nn.Linear(inputs, classes), torch.randn(rows, inputs)
        labels = torch.distributions.Categorical(logits=layer(x).detach()).sample()
        return NetworkPotential(layer, "cross_entropy", (x, labels))

    return make


FIRST: dict[str, Callable[[int], Potential]] = {
    "Gaussian on the plane": lambda seed: planar_landscape("quadratic", seed=seed),
    "one layer 4-3": linear([4, 3], 3),
    "one layer 9-5": linear([9, 5], 5),
    "linear 4-3-4": linear([4, 3, 4], 2),
    "linear 7-5-6": linear([7, 5, 6], 3),
    "linear 5-5-5-5": linear([5, 5, 5, 5], 2),
    "linear regression": regression(6, 2, 300),
    "logistic regression": logistic(4, 3, 400),
}
"""Limits of the verdict were looked for on some of these."""
OTHERS: dict[str, Callable[[int], Potential]] = {
    "one layer 3-7": linear([3, 7], 3),
    "one layer 8-8": linear([8, 8], 8, 2000),
    "linear 3-6-3": linear([3, 6, 3], 1),
    "linear 8-3-5": linear([8, 3, 5], 3, 10**4),
    "linear 6-4-4-6": linear([6, 4, 4, 6], 3),
    "linear 4-4-4-4-4": linear([4, 4, 4, 4, 4], 1),
    "linear regression 10-1": regression(10, 1, 150),
    "logistic regression 7-2": logistic(7, 2, 600),
}
"""They were left alone while limits were looked for."""
PROBLEMS = {**FIRST, **OTHERS}


class Case(NamedTuple):
    """problem: its name.  problem_seed: of its weights and data.  settings: arguments of `estimate`.  step: one of FACTORS."""

    problem: str
    problem_seed: int
    settings: dict[str, Any]
    step: str


@cache
def problem_of(name: str, seed: int) -> Potential:
    return PROBLEMS[name](seed)


@cache
def answer_of(
    name: str, seed: int, localization: float = 1.0, n_beta: float | None = None, polished: bool = False
) -> float:
    """What λ̂ should be at this γ and nβ. polished: at the minimum of L_n near w0."""
    problem = problem_of(name, seed)
    asked_otherwise = polished or n_beta is not None
    problem = polish(problem).problem if polished else problem
    n_beta = problem.n_beta if n_beta is None else n_beta
    known = isinstance(problem, NetworkPotential) or asked_otherwise
    exact = exact_value(problem, n_beta, localization) if known else math.nan
    if math.isfinite(exact):
        return exact
    if asked_otherwise:
        sampler = "HMC" if isinstance(problem, NetworkPotential) else None
        steps = {"chains": 16, "steps": 4000, "burn_in": 0.1} if sampler else {"max_steps": 64_000}
        return estimate(
            problem, sampler, n_beta=n_beta, localization=localization, seed=seed + 1, progress=False, **steps
        ).llc
    if isinstance(problem, DeepLinearNetwork) and len(problem.weights) > 1:
        sweeps = {"chains": 8, "sweeps": 2000, "burn_in": 0.1}
        return gibbs_reference(problem, localization=localization, seed=seed + 1, **sweeps).llc
    if not isinstance(problem, NetworkPotential):
        at = problem.n_beta, localization
        linear = isinstance(problem, DeepLinearNetwork)
        known = problem.expected_llc_of_data(*at) if linear else problem.expected_llc_at(*at)
        assert known is not None
        return known
    settings = {"chains": 16, "steps": 4000, "burn_in": 0.1, "localization": localization}
    found = estimate(problem, "HMC", seed=seed + 1, progress=False, **settings)
    assert found.llc_se < 0.01 * abs(found.llc), f"the answer of {name} is not known well enough: {found}"
    return found.llc


def cases(count: int, seed: int, others: bool = False) -> Iterator[Case]:
    """The first `count` of an endless list that belongs to `seed`; other seeds have other problems. others: of other shapes."""
    shapes = list(OTHERS if others else FIRST)
    drawn = [name for name in shapes if name.startswith(("one layer", "linear ")) and "regression" not in name]
    random = np.random.default_rng(seed)
    every = [
        name for name in samplers(conditionals=True, priors=True) if build(name).law() is not None and name != BAYESIAN
    ]
    first = [name for name in every if name not in LATER]
    for number in range(count):
        names = first if number < KEPT_RUNS else every
        sampler = build(names[number % len(names)])
        name = str(random.choice(drawn if sampler.needs_conditionals else shapes))
        steps = STEPS[str(random.choice(list(STEPS), p=[0.75, 0.25]))]
        full = isinstance(sampler, MetropolisSampler) or sampler.needs_conditionals or random.random() < 0.7
        gradient = "full" if full else str(random.choice(NOISY))
        step = str(random.choice(list(FACTORS), p=[0.6, 0.2, 0.15, 0.05]))
        if sampler.needs_conditionals:
            steps, step = steps // EXACT_DRAWS, "automatic"
        settings = {
            "sampler": sampler.name,
            "steps": steps,
            "gradient": gradient,
            "seed": 100_000 * seed + number,
            "chains": CHAINS,
        }
        yield offered(Case(name, 100 * seed + int(random.integers(3)), settings, step))


def offered(case: Case) -> Case:
    """The same with full gradients where the problem has no others of that name."""
    if case.settings["gradient"] in problem_of(case.problem, case.problem_seed).gradients:
        return case
    return case._replace(settings={**case.settings, "gradient": "full"})
