"""Second moments of PSGLD and its correction on a ten-dimensional standard normal.

    python -m lab.benchmarks.accuracy.stationary.ten_dimensions

α = 0.5, λ = 0.1, ε = 1e-3 (Rensmeyer & Niggemann 2025 test one dimension). Every coordinate's E w² is given with its
standard error over chains; the target's is 1.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from lab.benchmarks.command import read_options
from llc_core.samplers import PSGLD, CorrectedPSGLD, FrozenPSGLD, Sampler, hyperparameters
from llc_core.types import Energy

DIM, ALPHA, STABILITY, STEP = 10, 0.5, 0.1, 1e-3


def second_moments(sampler: Sampler, chains: int, steps: int, burn_in: int) -> np.ndarray:
    """Time averages of w² of every chain and coordinate, [C, 10]; chains start in the target."""
    noise = torch.Generator().manual_seed(0)
    w = torch.randn(chains, DIM, generator=noise)
    column, ones = torch.ones(chains, 1), torch.ones(chains, DIM)
    hp = hyperparameters(sampler, chains, column)
    state = sampler.init(w, torch.zeros_like(w), hp)
    total = torch.zeros(chains, DIM, dtype=torch.float64)
    field = torch.empty(1, chains, DIM)
    for step in range(steps):
        w = state["delta"]
        if step == burn_in // 2:
            hp.adapting = torch.zeros_like(hp.adapting)
        if step >= burn_in:
            total += w.square()
        energy = Energy(w.square().sum(1) / 2, w, w, column, 0 * column, hessian_diagonal=ones)
        state = sampler.update(state, energy, field.normal_(generator=noise), hp)
    return (total / (steps - burn_in)).numpy()


def main() -> None:
    arguments = read_options(globals(), {"chains": 50, "steps": 400}, chains=10_000, steps=24_000)
    for sampler in (
        CorrectedPSGLD(alpha=ALPHA, stability=STABILITY, step_size=STEP),
        FrozenPSGLD(stability=STABILITY, step_size=STEP),
        PSGLD(alpha=ALPHA, stability=STABILITY, step_size=STEP),
        PSGLD(alpha=ALPHA, stability=STABILITY, step_size=STEP, gamma_term="dropped"),
    ):
        found = second_moments(sampler, arguments.chains, arguments.steps, arguments.steps // 4)
        mean, se = found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(len(found))
        name = sampler.label + (", no Γ" if getattr(sampler, "gamma_term", "") == "dropped" else "")
        print(
            f"{name:18s} mean over coordinates {mean.mean():.4f} ± {se.mean() / math.sqrt(DIM):.4f}, "
            f"each: {mean.min():.4f} … {mean.max():.4f}, standard error at most {se.max():.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
