"""How far the verdict can be believed: runs with known answers, of every sampler, long and short, with steps of all sizes.

    python -m lab.benchmarks.accuracy.verdicts                     # 720 runs
    python -m lab.benchmarks.accuracy.verdicts --runs 100 --seed 7
    python -m lab.benchmarks.accuracy.verdicts --jobs 16 --minutes 9     # what is done by then is counted

A run is right where λ̂ lies within max(5%, 3 llc_se) of the answer. Two rates, each with its 95% interval (Wilson 1927):
how many of the trusted runs are right, and how many of the right runs are trusted. The answers: a normal law for one linear
layer and for linear regression, blocked Gibbs for deep linear networks, long Hamiltonian chains for logistic regression.
What is run is drawn at random from the lists below, with the seed of the run; none of it was used to set a threshold.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, TimeoutError, as_completed
from functools import cache
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import torch

from lab.benchmarks.machine import machine
from llc_core import DeepLinearNetwork, Estimate, NetworkPotential, estimate
from llc_core.potentials.base import Potential
from llc_core.references.gibbs import gibbs_reference
from llc_core.samplers import MetropolisSampler, build
from llc_core.samplers.registry import samplers

CHAINS = 4
STEPS = {"usual": 4000, "short": 300}
FACTORS = {"automatic": None, "a third of automatic": 1 / 3, "three times automatic": 3.0}
NOISY = ("minibatch", "control_variate")


def linear(widths: list[int], rank: int, n: int = 10**5) -> Callable[[int], Potential]:
    ranks = [rank] * (len(widths) - 1)
    return lambda seed: DeepLinearNetwork.random(widths=widths, layer_ranks=ranks, n=n, seed=seed)


def regression(seed: int) -> Potential:
    torch.manual_seed(seed)
    layer, inputs = torch.nn.Linear(6, 2), torch.randn(300, 6)
    return NetworkPotential(layer, "mse", (inputs, layer(inputs).detach() + 0.3 * torch.randn(300, 2)))


def logistic(seed: int) -> Potential:
    torch.manual_seed(seed)
    layer, inputs = torch.nn.Linear(4, 3), torch.randn(400, 4)
    classes = torch.distributions.Categorical(logits=layer(inputs).detach()).sample()
    return NetworkPotential(layer, "cross_entropy", (inputs, classes))


PROBLEMS: dict[str, Callable[[int], Potential]] = {
    "one layer 4-3": linear([4, 3], 3),
    "one layer 9-5": linear([9, 5], 5),
    "linear 4-3-4": linear([4, 3, 4], 2),
    "linear 7-5-6": linear([7, 5, 6], 3),
    "linear 5-5-5-5": linear([5, 5, 5, 5], 2),
    "linear regression": regression,
    "logistic regression": logistic,
}


@cache
def problem_of(name: str, seed: int) -> tuple[Potential, float]:
    """The problem, and what λ̂ should be."""
    problem = PROBLEMS[name](seed)
    if isinstance(problem, DeepLinearNetwork):
        if len(problem.weights) == 1:
            found = problem.expected_llc_of_data()
            assert found is not None
            return problem, found
        return problem, gibbs_reference(problem, chains=8, sweeps=2000, burn_in=0.1, seed=seed + 1).llc
    found = estimate(problem, "HMC", chains=16, steps=4000, burn_in=0.1, seed=seed + 1, progress=False)
    assert found.llc_se < 0.01 * abs(found.llc), f"the answer of {name} is not known well enough: {found}"
    return problem, found.llc


def cases(count: int, seed: int) -> Iterator[tuple[str, int, dict[str, Any], str]]:
    """(problem, its seed, arguments of `estimate`, what the step is)."""
    random = np.random.default_rng(seed)
    names = [name for name in samplers() if build(name).law() is not None]
    for number in range(count):
        sampler = names[number % len(names)]
        name = str(random.choice(list(PROBLEMS)))
        length = str(random.choice(list(STEPS), p=[0.75, 0.25]))
        exact = isinstance(build(sampler), MetropolisSampler)
        gradient = "full" if exact or random.random() < 0.7 else str(random.choice(NOISY))
        step = str(random.choice(list(FACTORS), p=[0.6, 0.2, 0.2]))
        settings = {"sampler": sampler, "steps": STEPS[length], "gradient": gradient, "seed": number, "chains": CHAINS}
        yield name, int(random.integers(100, 103)), settings, step


def offered(problem: Potential, settings: dict[str, Any]) -> dict[str, Any]:
    """The same with full gradients where the problem has no others of that name."""
    return settings if settings["gradient"] in problem.gradients else {**settings, "gradient": "full"}


def found(problem: Potential, settings: dict[str, Any], step: str) -> Estimate:
    sampler = settings["sampler"]
    if FACTORS[step] is not None:
        probe = estimate(problem, progress=False, **{**settings, "steps": 400})
        chosen = FACTORS[step] * probe.diagnostics["step_size"]
        sampler = build(sampler).replace(step_size=chosen)
    return estimate(problem, progress=False, **{**settings, "sampler": sampler})


def interval(hits: int, total: int) -> str:
    """hits of total, and Wilson's 95% interval of the rate."""
    if not total:
        return "   0 of   0"
    p, z = hits / total, 1.96
    middle = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * (p * (1 - p) / total + z * z / (4 * total**2)) ** 0.5
    return f"{hits:4d} of {total:3d} = {p:5.1%} ({middle - half:5.1%} to {middle + half:6.1%})"


class Verdict(NamedTuple):
    """One run: the rows of the table that it counts in, what was said, and what is so."""

    keys: tuple[str, ...]
    trusted: bool
    right: bool
    told: str


def one_run(name: str, seed: int, settings: dict[str, Any], step: str) -> Verdict:
    torch.set_num_threads(1)
    problem, answer = problem_of(name, seed)
    settings = offered(problem, settings)
    one = found(problem, settings, step)
    right = bool(abs(one.llc - answer) <= max(0.05 * abs(answer), 3 * one.llc_se))
    said = f"{one.llc:.3f} ± {one.llc_se:.3f} for {answer:.3f}"
    law = f"law {one.diagnostics['law_bias']:.2f} ± {one.diagnostics['law_bias_se']:.2f}"
    keys = (settings["sampler"], settings["gradient"], f"{settings['steps']} steps", step, name, "all")
    return Verdict(keys, bool(one.converged), right, f"{name} {seed} {settings} {step} {said} {law} {one.converged}")


def verdicts(options: argparse.Namespace) -> Iterator[Verdict]:
    """Each as soon as it is known; those that are not done when the minutes are over are left out."""
    pool = ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn"))
    asked = [pool.submit(one_run, *case) for case in cases(options.runs, options.seed)]
    try:
        for done in as_completed(asked, timeout=60 * options.minutes):
            yield done.result()
    except TimeoutError:
        print(f"stopped after {options.minutes:g} minutes", flush=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=720)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--minutes", type=float, default=600.0, help="runs that are not done by then are left out")
    parser.add_argument(
        "--wrong",
        action="store_true",
        help="print every trusted run that is wrong, and right ones that are not trusted",
    )
    options = parser.parse_args()
    print(machine(), flush=True)
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, 2), dtype=int))
    started = time.perf_counter()
    for one in verdicts(options):
        for key in one.keys:
            counts[key][int(one.trusted), int(one.right)] += 1
        if options.wrong and one.trusted != one.right:
            print("TRUSTED" if one.trusted else "refused", one.told, flush=True)
    print(f"{counts['all'].sum()} runs in {time.perf_counter() - started:.0f} s\n")
    print(f"{'':24}{'trusted runs that are right':46}right runs that are trusted")
    for key in [*sorted(k for k in counts if k != "all"), "all"]:
        table = counts[key]
        print(
            f"{key:24}{interval(table[1, 1], table[1].sum()):46}{interval(table[1, 1], table[:, 1].sum())}", flush=True
        )


if __name__ == "__main__":
    main()
