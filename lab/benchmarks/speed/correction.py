"""What the correction term Γ costs a step: its time with Γ as a multiple of the time without.

    python -m lab.benchmarks.speed.correction        a minute of one core

A step is one evaluation on all data and one update. Both ways in turn, in one process. Rensmeyer & Niggemann 2025, section 4,
say twice the time for PSGLD on a network.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from lab.benchmarks.command import read_options
from llc_core import DeepLinearNetwork, NetworkPotential
from llc_core.engine.target import Target
from llc_core.potentials.base import Potential
from llc_core.samplers import PSGLD, MongeSGLD, Sampler, ShampooSGLD, hyperparameters

CHAINS, STEPS = 4, 60
"""Of each measurement."""
LAYERS = ((4, 6, 4), (40, 60, 40))
"""Widths: of 48 parameters, for which Hessians are made column by column, and of 4,800."""
ROWS = 500


def linear(widths: tuple[int, ...]) -> Potential:
    random = np.random.default_rng(0)
    weights = [random.standard_normal((b, a)) / np.sqrt(a) for a, b in zip(widths, widths[1:], strict=False)]
    return DeepLinearNetwork(weights, n=ROWS, seed=0)


def perceptron(widths: tuple[int, ...]) -> Potential:
    torch.manual_seed(0)
    first, hidden, last = widths
    module = torch.nn.Sequential(
        torch.nn.Linear(first, hidden, bias=False), torch.nn.Tanh(), torch.nn.Linear(hidden, last, bias=False)
    )
    return NetworkPotential(module, "mse", (torch.randn(ROWS, first), torch.randn(ROWS, last)))


def stepping(problem: Potential, sampler: Sampler) -> Callable[[], None]:
    """One step from the same place, each time it is called."""
    like, ones = torch.empty(0), torch.ones(CHAINS, 1)
    hp = hyperparameters(sampler, CHAINS, like, problem.layers)
    generator = torch.Generator().manual_seed(0)
    delta, noise = 0.01 * torch.randn(CHAINS, problem.dim, generator=generator), torch.randn(1, CHAINS, problem.dim)
    state, target = sampler.init(delta, noise[0], hp), Target(problem, 100 * ones, ones)
    probe = generator if sampler.needs_hessian_diagonal else None

    def step() -> None:
        with torch.inference_mode(False), torch.no_grad():
            energy = target.evaluate(delta.clone(), None, None, probe, sampler.needs_hvp)
            sampler.update(state, energy, noise, hp)

    return step


def seconds(step: Callable[[], None]) -> float:
    started = time.perf_counter()
    for _ in range(STEPS):
        step()
    return time.perf_counter() - started


def main() -> None:
    options = read_options(globals(), {"rounds": 1, "STEPS": 1, "LAYERS": ((2, 3, 2),)}, one_thread=True, rounds=7)
    for widths in LAYERS:
        for problem in (linear(widths), perceptron(widths)):
            for sampler in (PSGLD(step_size=1e-6), MongeSGLD(step_size=1e-6), ShampooSGLD(step_size=1e-6)):
                try:
                    kept = stepping(problem, sampler.replace(gamma_term="published"))
                except ValueError:  # Shampoo has the term for few parameters only
                    continue
                dropped = stepping(problem, sampler.replace(gamma_term="dropped"))
                kept(), dropped()
                ratios = [seconds(kept) / seconds(dropped) for _ in range(options.rounds)]
                print(
                    f"{problem.kind:8} {problem.dim:5,} parameters  {sampler.label:13} time × {statistics.median(ratios):.2f} "
                    f"({min(ratios):.2f} … {max(ratios):.2f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
