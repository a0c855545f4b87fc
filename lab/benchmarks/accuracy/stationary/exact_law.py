"""The exact distribution at a finite step size against simulation: total variation and seconds.

    python -m lab.benchmarks.accuracy.stationary.exact_law
    python -m lab.benchmarks.accuracy.stationary.exact_law --chains 20000 --steps 2000

80 bins of width 0.1 on [−4, 4] and two tails. Chains start from the target; the first half is burn-in. "noise"
is what the total variation would be for independent samples in that number; visits of one chain are not independent.
"""

from __future__ import annotations

import time

import numpy as np

from lab.benchmarks.command import option, read_options
from llc_core.line import simulate
from llc_core.samplers import (
    PSGLD,
    SGLD,
    CorrectedPSGLD,
    FrozenPSGLD,
    MongeSGLD,
    RMSPropSGLD,
    Sampler,
    ShampooSGLD,
)
from llc_core.stationary import exact_law, masses, target_masses, total_variation

CASES: list[tuple[str, Sampler, str, tuple[float, ...]]] = [
    ("SGLD", SGLD(), "normal", (1e-1, 1e-2)),
    ("PSGLD α=.9 λ=.1", PSGLD(alpha=0.9, stability=0.1), "normal", (1e-1, 1e-2, 1e-3)),
    ("PSGLD no Γ", PSGLD(alpha=0.9, stability=0.1, gamma_term="dropped"), "normal", (1e-2,)),
    ("PSGLD inside", PSGLD(alpha=0.9, stability=0.1**0.5, stability_form="inside"), "normal", (1e-2,)),
    ("PSGLD α=.5", PSGLD(alpha=0.5, stability=0.1), "normal", (1e-2,)),
    ("PSGLD α=.1", PSGLD(alpha=0.1, stability=0.1), "normal", (1e-2,)),
    ("PSGLD α=0", PSGLD(alpha=0.0, stability=0.1), "normal", (1e-2,)),
    ("PSGLD α=.99 λ=.5", PSGLD(alpha=0.99, stability=0.5), "normal", (1e-2,)),
    ("PSGLD α=.999", PSGLD(alpha=0.999, stability=0.1), "normal", (1e-1,)),
    ("corrected α=.9", CorrectedPSGLD(alpha=0.9, stability=0.1), "normal", (1e-1, 1e-2, 1e-3)),
    ("corrected α=.5", CorrectedPSGLD(alpha=0.5, stability=0.1), "normal", (1e-1, 1e-2)),
    ("Monge β=1", MongeSGLD(beta=1.0), "normal", (1e-1, 1e-2)),
    ("Shampoo", ShampooSGLD(), "normal", (1e-1, 1e-2)),
    ("RMSProp", RMSPropSGLD(), "normal", (1e-2,)),
    ("frozen", FrozenPSGLD(), "normal", (1e-1, 1e-2)),
    ("PSGLD α=.9 λ=.1", PSGLD(alpha=0.9, stability=0.1), "double_well", (1e-1, 1e-2)),
    ("PSGLD α=.9 λ=.1", PSGLD(alpha=0.9, stability=0.1), "skewed", (1e-1, 1e-2)),
    ("corrected α=.9", CorrectedPSGLD(alpha=0.9, stability=0.1), "double_well", (1e-1, 1e-2)),
    ("corrected α=.9", CorrectedPSGLD(alpha=0.9, stability=0.1), "skewed", (1e-1, 1e-2)),
    ("Monge β=1", MongeSGLD(beta=1.0), "double_well", (1e-1, 1e-2)),
    ("Shampoo", ShampooSGLD(), "student_t", (1e-2,)),
    ("PSGLD α=.9 λ=.1", PSGLD(alpha=0.9, stability=0.1), "quartic", (1e-1, 1e-2)),
]


def main() -> None:
    arguments = read_options(
        globals(),
        {"chains": 200, "steps": 20, "CASES": lambda cases: cases[:1]},
        chains=20_000,
        steps=option(2000, "at least; and at least 20/ε, or 200/ε for slow chains"),
        threads=option(type=int),
    )
    print(
        "sampler            target           ε   TV(sim)   noise  seconds  coarse: d   seconds  TV(target)  TV(limit)  residual"
    )
    for name, sampler, target, steps in CASES:
        slow = target == "double_well" or isinstance(sampler, MongeSGLD) or sampler == PSGLD(alpha=0.999, stability=0.1)
        for step in steps:
            start = time.perf_counter()
            law = exact_law(sampler, target, step)
            seconds = time.perf_counter() - start
            start = time.perf_counter()
            coarse = exact_law(sampler, target, step, resolution=0.6).masses()
            coarse_seconds = time.perf_counter() - start
            found = law.masses()
            run = simulate(
                sampler.replace(step_size=step),
                target,
                chains=arguments.chains,
                steps=max(arguments.steps, round((200 if slow else 20) / step)),
                record_every=2,
                burn_in=0.5,
                seed=1,
                threads=arguments.threads,
            )
            noise = float(np.sqrt(found / (2 * np.pi * run.counts.sum())).sum())
            print(
                f"{name:18s} {target:11s} {step:7.0e}  {total_variation(run.masses(), found):7.4f} {noise:7.4f} {seconds:8.2f}"
                f"  {total_variation(coarse, found):9.5f}  {coarse_seconds:8.2f}"
                f"  {total_variation(found, target_masses(target)):10.4f} {total_variation(found, masses(sampler, target)):10.4f}"
                f"  {law.residual:.0e}{'' if law.converged else ' not converged'}"
                f"{f'  {run.diverged} chains diverged' if run.diverged else ''}",
                flush=True,
            )


if __name__ == "__main__":
    main()
