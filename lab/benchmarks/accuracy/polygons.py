"""λ̂ of polygons in superposition beside the exact λ, and what is expected at this nβ and γ.

    OMP_NUM_THREADS=1 python -m lab.benchmarks.accuracy.polygons [--seeds 20] [--n-beta 50000]

`llc_core.potentials.Superposition`, six features: chains of the engine's own choice from each polygon, one run a seed. The bar: the mean of
λ̂ within 5% of λ (Chen et al. 2023, arXiv 2310.06301, find 7.7, 9.9 and 9.0 by SGLD).
"""

from __future__ import annotations

import math

import numpy as np

from lab.benchmarks.command import option, read_options
from lab.benchmarks.smoke import status
from llc_core import estimate
from llc_core.potentials import Superposition

SHAPES = {"pentagon": (5, "silent"), "pentagon and a mean": (5, "mean"), "hexagon": (6, "silent")}
BAR = 0.05


def main() -> int:
    options = read_options(
        globals(), {"seeds": 2, "steps": 200}, seeds=20, steps=option(20_000, "of each of 8 chains"), n_beta=5e4
    )
    print(
        "| polygon | λ | expected | mean λ̂ | spread of the seeds / their errors | trusted |\n|---|---|---|---|---|---|"
    )
    missed = False
    for name, (sides, left_out) in SHAPES.items():
        problem = Superposition(sides, 6, left_out)
        found = [
            estimate(problem, chains=8, steps=options.steps, n_beta=options.n_beta, seed=seed, progress=False)
            for seed in range(200, 200 + options.seeds)
        ]
        llc, se = (np.array([getattr(each, field) for each in found]) for field in ("llc", "llc_se"))
        exact, expected = float(problem.local_learning_coefficient), problem.expected_llc(options.n_beta)
        said = "–" if expected is None else f"{expected:.3f}"
        trusted = sum(bool(each.converged) for each in found)
        print(
            f"| {name} | {exact:g} | {said} | {llc.mean():.3f} ± {llc.std(ddof=1) / math.sqrt(len(llc)):.3f} | "
            f"{llc.std(ddof=1) / math.sqrt((se**2).mean()):.2f} | {trusted} of {len(found)} |",
            flush=True,
        )
        missed |= abs(llc.mean() / exact - 1) > BAR
    return status(missed)


if __name__ == "__main__":
    raise SystemExit(main())
