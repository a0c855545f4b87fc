"""Which chains find 25 modes? KL over the exact cell masses, at equal gradients (Deng et al., paper 002).

    python -m lab.benchmarks.accuracy.modes.many_modes
    python -m lab.benchmarks.accuracy.modes.many_modes --trials 10 --gradients 100000

Noise of standard deviation 0.25 on energies and gradients. Every trial is a group of chains of its own; the steps are those
of the paper, and of a ladder of three temperatures that swaps at each step. Seconds are those of the processor.
"""

from __future__ import annotations

import time

import numpy as np

from lab.benchmarks.command import option, read_options
from llc_core import surface
from llc_core.plane import plane_law
from llc_core.plane.exact import kl_of_cells
from llc_core.studies.papers.contour_sampling.mode_methods import NOISE, started
from llc_core.studies.papers.items import find

METHODS = [each for each in find("002/figure-6").sizes["paper"].methods if each.times == 1]  # type: ignore[attr-defined]


def main() -> None:
    options = read_options(
        globals(),
        {"trials": 2, "gradients": 60_000, "METHODS": lambda methods: methods[:2]},
        trials=60,
        gradients=option(400_000, "of one trial"),
        seed=0,
        boxed=option(False, "no step leaves the box, as on page Many modes"),
    )
    masses = plane_law(surface(noise=NOISE)).cells(5)
    print(f"{'':32}{'median KL':>10}{'mean ± se':>20}{'largest':>9}{'chain-steps/s':>15}")
    for method in METHODS:
        method = method.replace(boxed=method.boxed or options.boxed)
        run = started(method, options.gradients, options.trials, options.seed)
        steps = run.total_steps
        run.advance(min(100, steps - 1))  # compiles
        began = time.process_time()
        while not run.finished:
            seen = run.advance(steps)
        spent = time.process_time() - began
        kl = kl_of_cells(masses, seen.masses())
        error = kl.std(ddof=1) / np.sqrt(len(kl))
        speed = method.chains * steps * options.trials / spent
        print(
            f"{method.label:32}{np.median(kl):10.4f}{kl.mean():11.4f} ± {error:.4f}{kl.max():9.4f}{speed:15.3g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
