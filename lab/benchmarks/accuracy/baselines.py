"""What the baseline does to the spread of λ̂: `first_batch` (as printed) against `same_batch`, on the same chains.

    python -m lab.benchmarks.accuracy.baselines

Hitchcock & Hoogland eq. 3.8 subtracts the loss at w0 on ONE minibatch; the engine subtracts it on the same batch as each
loss. Both are computed from the same run, for 48 chains with independent batches.
"""

from __future__ import annotations

import numpy as np

from lab.benchmarks.command import read_options
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run

WIDTHS = ([10, 8, 10], [30, 25, 30], [100, 80, 60, 100])
CHAINS, STEPS = 48, 1000


def main() -> None:
    read_options(globals(), {"WIDTHS": lambda widths: widths[:1], "CHAINS": 4, "STEPS": 20})
    print("problem                       baseline      mean λ̂       sd over chains   variance / same_batch")
    for widths in WIDTHS:
        problem = DeepLinearNetwork.random(widths=widths, ranks="full", seed=0)
        probe = Run(RunConfig(gradient="full", sampler={"name": "SGLD"}, steps=10), problem)
        probe.advance(1)
        step = probe.estimates()[0].diagnostics["stability_limit"] / 200
        config = RunConfig(
            gradient="minibatch", sampler={"name": "SGLD", "step_size": step}, chains=CHAINS, steps=STEPS, burn_in=0.5
        )
        current = Run(config, problem)
        current.advance(STEPS)
        same = current.llc_per_chain("same_batch")
        for baseline in ("same_batch", "full", "first_batch"):
            values = current.llc_per_chain(baseline)
            print(
                f"{str(widths):24s} {baseline:16s} {values.mean():12.1f} {values.std(ddof=1):14.2f} "
                f"{np.var(values) / np.var(same):18.0f}"
            )


if __name__ == "__main__":
    main()
