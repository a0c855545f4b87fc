"""λ̂ of every layer alone, of random deep linear networks, beside its exact value: at this n, and in the limit.

    python -m lab.benchmarks.accuracy.refined        twenty networks, about twenty minutes of one core

The posterior of one layer is normal, and the mean of nβ·ΔL under it is known (`linear_models.of_squared_error`). A layer is judged
rightly where λ̂ is within 3% of that. Where the standard error alone is above half of this, the layer is measured again, by long
underdamped chains: HMC is slow along directions that the loss hardly holds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from lab.benchmarks.command import option, read_options
from lab.benchmarks.smoke import status
from llc_core import DeepLinearNetwork, refined

NEAR = 0.03
WIDEST = 12


def network(seed: int) -> DeepLinearNetwork:
    """Two to four layers of 4 to WIDEST units, each layer of rank 2 at least."""
    random = np.random.default_rng(seed)
    widths = random.integers(4, WIDEST + 1, int(random.integers(3, 6)))
    ranks = [int(random.integers(2, min(pair) + 1)) for pair in zip(widths, widths[1:], strict=False)]
    return DeepLinearNetwork.random(widths=widths.tolist(), layer_ranks=ranks, seed=seed)


def measured(
    problem: DeepLinearNetwork, layer: int, seed: int, options: argparse.Namespace
) -> tuple[dict[str, Any], bool]:
    """The row of one layer, and whether it was measured again."""
    alike = {"chains": options.chains, "seed": seed}
    row = refined(problem, layer, sampler=options.sampler, steps=options.steps, **alike).rows()[0]
    if not row["llc_se"] > NEAR / 2 * row["llc"]:
        return row, False
    return refined(problem, layer, sampler="UnderdampedLangevin", steps=options.longer, **alike).rows()[0], True


def main() -> None:
    options = read_options(
        globals(),
        {"networks": 1, "steps": 40, "longer": 60, "chains": 2, "WIDEST": 4},
        one_thread=True,
        networks=20,
        first=option(0, "seed of the first network"),
        sampler="HMC",
        steps=3000,
        longer=option(100_000, "steps of those that are measured again"),
        chains=16,
    )
    print(f"{'widths':<16} {'layer':>5} {'λ':>5} {'expected':>8} {'λ̂':>7} {'±':>6} {'off':>7}  trusted", flush=True)
    offs, trusted, started = [], 0, time.perf_counter()
    for seed in range(options.first, options.first + options.networks):
        problem = network(seed)
        for layer in range(len(problem.weights)):
            if not problem.refined(layer).value:
                continue  # what stands still lets nothing through: λ̂ is 0 without noise
            row, again = measured(problem, layer, seed, options)
            offs.append(row["llc"] / row["expected"] - 1)
            trusted += row["converged"]
            name = "-".join(map(str, problem.widths))
            line = (
                f"{name:<16} {layer:>5} {row['λ']:>5g} {row['expected']:>8.3f} {row['llc']:>7.3f} {row['llc_se']:>6.3f}"
            )
            said = "yes" if row["converged"] else row["verdict"]
            print(f"{line} {offs[-1]:>+7.2%}  {'measured again; ' if again else ''}{said}", flush=True)
    near = int((np.abs(offs) <= NEAR).sum())
    print(f"\n{near} of {len(offs)} layers within {NEAR:.0%}, {trusted} trusted; farthest {max(offs, key=abs):+.2%}, "
          f"mean {np.mean(offs):+.2%}; {time.perf_counter() - started:.0f} s")  # fmt: skip
    raise SystemExit(status(near < len(offs)))


if __name__ == "__main__":
    main()
