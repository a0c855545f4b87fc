"""Which chains find 25 modes? KL over the exact cell masses, at equal gradients (Deng et al., paper 002).

    python -m lab.benchmarks.accuracy.many_modes
    python -m lab.benchmarks.accuracy.many_modes --trials 10 --gradients 100000

Noise of standard deviation 0.25 on energies and gradients. Every trial is a group of chains of its own; the steps are those
of the paper, and of a ladder of three temperatures that swaps at each step. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import parse
from llc_core import SGLD, Contour, Cyclical, ReplicaExchange, surface
from llc_core.interactions import Interaction
from llc_core.plane import PlaneRun, plane_law
from llc_core.plane.exact import kl_of_cells

CROSS: Sequence[tuple[float, float]] = ((0, -1), (0, 0), (-1, 0), (0, 1), (1, 0))
FIVE = (1, 2, 3, 4, 5)
ROWS: Sequence[tuple[str, Interaction | None, float, int, Sequence[tuple[float, float]] | None]] = (
    ("SGLD, five chains", None, 6e-3, 5, CROSS),
    ("ICSGLD, 4,000 pilot steps", Contour(low=-1, high=11.4945, pilot=4000, freeze="never"), 6e-3, 5, CROSS),
    ("ICSGLD, uniform start", Contour(low=-1, high=11.4945, freeze="never"), 6e-3, 5, CROSS),
    ("cyclical", Cyclical(length=40_000), 2e-2, 1, ((2, 2),)),
    (
        "five replicas, correction 30",
        ReplicaExchange(temperatures=FIVE, step_power=2, correction=30, energy_variance=0.0625),
        2e-3,
        5,
        None,
    ),
    (
        "five replicas, true correction",
        ReplicaExchange(temperatures=FIVE, step_power=2, correction=0.0625, energy_variance=0.0625),
        2e-3,
        5,
        None,
    ),
    ("five replicas, none", ReplicaExchange(temperatures=FIVE, step_power=2), 2e-3, 5, None),
    ("replicas at 1, 3.46, 12", ReplicaExchange(temperatures=(1, 3.46, 12), step_power=2), 4e-3, 3, None),
)
"""Name, interaction, step size, chains, starts."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--gradients", type=int, default=400_000, help="of one trial")
    parser.add_argument("--seed", type=int, default=0)
    options = parse(parser, globals(), trials=2, gradients=60_000, ROWS=lambda rows: rows[:2])
    print(machine())
    target = surface(noise=0.25)
    masses = plane_law(target).cells(5)
    print(f"{'':32}{'median KL':>10}{'mean ± se':>20}{'largest':>9}{'chain-steps/s':>15}")
    for name, interaction, step_size, chains, starts in ROWS:
        steps = options.gradients // chains
        first = (getattr(interaction, "pilot", 0) or 0) + 1000
        run = PlaneRun(
            SGLD(step_size=step_size), target, interaction, steps=steps, trials=options.trials, seed=options.seed,
            count_from=first, starts=starts, **({} if isinstance(interaction, ReplicaExchange) else {"chains": chains}),
        )  # fmt: skip
        run.advance(min(100, steps - 1))  # compiles
        began = time.process_time()
        while not run.finished:
            seen = run.advance(steps)
        spent = time.process_time() - began
        kl = kl_of_cells(masses, seen.masses())
        error = kl.std(ddof=1) / np.sqrt(len(kl))
        speed = chains * steps * options.trials / spent
        print(
            f"{name:32}{np.median(kl):10.4f}{kl.mean():11.4f} ± {error:.4f}{kl.max():9.4f}{speed:15.3g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
