"""Mean and variance of the loss along chains: both are λ, and what is expected at this n, nβ and γ.

    OMP_NUM_THREADS=1 python -m lab.benchmarks.accuracy.stationary.trace_law [--seeds 4]

Chains of the engine's own choice on two networks, whose nβΔL tends to a Gamma(λ, 1) as n grows: its mean and its variance are both λ.
The variance has the finite step's share taken off, as in every estimate.
"""

from __future__ import annotations

import math

import numpy as np

from lab.benchmarks.command import option, read_options
from llc_core import DeepLinearNetwork, estimate

NETWORKS = {
    "4-3-4": {"widths": [4, 3, 4]},
    "10-10-10, rank 2": {"widths": [10, 10, 10], "layer_ranks": [2, 2]},
}


def main() -> None:
    options = read_options(globals(), {"seeds": 1, "steps": 200}, seeds=4, steps=option(40_000, "of each of 16 chains"))
    print(
        "| network | λ | expected | mean | variance | mean / expected | variance / mean |\n|---|---|---|---|---|---|---|"
    )
    for name, shape in NETWORKS.items():
        rows = []
        for seed in range(100, 100 + options.seeds):
            problem = DeepLinearNetwork.random(**shape, seed=seed)
            found = estimate(problem, chains=16, steps=options.steps, seed=seed, progress=False)
            expected = problem.expected_llc()
            rows.append((expected, found.llc, found.llc_se, found.llc_from_variance, found.llc_from_variance_se))
            print(f"{name}, seed {seed}: " + ", ".join(f"{value:.3f}" for value in rows[-1]), flush=True)
        expected, mean, se, spread, spread_se = np.array(rows).T
        of_mean, of_spread = (math.hypot(*errors) / len(rows) for errors in (se, spread_se))
        print(
            f"| {name} | {float(problem.local_learning_coefficient):g} | {expected.mean():.2f} | {mean.mean():.2f} ± {of_mean:.2f} | "
            f"{spread.mean():.2f} ± {of_spread:.2f} | {(mean / expected).mean():.4f} | {(spread / mean).mean():.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
