"""λ̂ from two temperatures where w0 is the truth and no minimum: against the known λ, beside the mean of a run of half the gradients.

    OMP_NUM_THREADS=1 python -m lab.benchmarks.verdicts.two_temperatures

Four models of `no_minimum` on noisy data; chains at nβ and nβ/T side by side, each level as long as the one run, so that both levels
together take twice its gradients. γ = 1, nβ = n/log n; steps, chains and rows such that the mean of one run was trusted once.
"""

from __future__ import annotations

import numpy as np

from lab.benchmarks.command import read_options
from lab.benchmarks.verdicts.no_minimum import MODELS, problem_of
from llc_core import estimate

ROWS = {"linear 8-3": 3000, "softmax 8-3": 3000, "adapter 6-5, rank 2": 3000, "linear 6-5": 2000}
RUN = {"sampler": "UnderdampedLangevin", "gradient": "full", "chains": 4, "progress": False}


def main() -> None:
    options = read_options(
        globals(),
        {"seeds": 1, "steps": 300},
        one_thread=True,
        seeds=5,
        seed=7000,
        steps=6000,
        hotter=1.5,
    )
    print(f"{'model':22}{'exact':>7}{'mean':>9}{'slope':>9}{'error':>8}{'off':>8}{'worst':>8}  trusted")
    for name, rows in ROWS.items():
        exact = MODELS[name].llc
        found, trusted = [], 0
        for seed in range(options.seed, options.seed + options.seeds):
            problem = problem_of(name, "truth", seed, rows)
            run = estimate(problem, steps=options.steps, seed=seed, temperatures=(1.0, options.hotter), **RUN)
            slope = run.from_temperatures
            assert slope is not None
            found.append((run.llc, slope.llc, slope.llc_se))
            trusted += bool(slope.verdict)
        llc, slopes, errors = np.transpose(found)
        off, worst = slopes.mean() / exact - 1, np.abs(slopes / exact - 1).max()
        print(
            f"{name:22}{exact:7.1f}{llc.mean():9.2f}{slopes.mean():9.2f}{errors.mean():8.2f}{off:+8.1%}{worst:8.1%}  {trusted} of {len(found)}"
        )
    print(f"means of {options.seeds} data sets; error and worst: of one")


if __name__ == "__main__":
    main()
