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
        hotter=[1.5],
    )
    print(f"{'model':22}{'exact':>7}{'mean':>9}{'of T':>6}{'slope':>9}{'error':>8}{'off':>8}  trusted")
    off = []
    for name, rows in ROWS.items():
        exact = MODELS[name].llc
        for hotter in options.hotter:
            found, trusted = [], 0
            for seed in range(options.seed, options.seed + options.seeds):
                problem = problem_of(name, "truth", seed, rows)
                run = estimate(problem, steps=options.steps, seed=seed, temperatures=(1.0, hotter), **RUN)
                slope = run.from_temperatures
                assert slope is not None
                found.append((run.llc, slope.llc, slope.llc_se))
                trusted += bool(slope.verdict)
            mean, slope_llc, error = np.mean(found, axis=0)
            off.append(slope_llc / exact - 1)
            print(
                f"{name:22}{exact:7.1f}{mean:9.2f}{hotter:6g}{slope_llc:9.2f}{error:8.2f}{off[-1]:+8.1%}  {trusted} of {len(found)}"
            )
    print(f"largest: {max(map(abs, off)):.1%}; mean of {options.seeds} data sets, error: of one")


if __name__ == "__main__":
    main()
