"""Does a ladder of temperatures find λ and its multiplicity? Five minima whose answer is known, ten seeds each.

    python -m lab.benchmarks.accuracy.free_energy
    python -m lab.benchmarks.accuracy.free_energy --seeds 3 --steps 1000

Losses are those of the population (surfaces; networks of the true product 0 without noise), down to nβ = 10⁶. "m right" counts
fitted multiplicities; the λ beside it is with that m, the last λ with the true one given. An honest error is as large as the spread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from lab.benchmarks.machine import machine
from llc_core import DeepLinearNetwork, FreeEnergy, Potential, free_energy, surface

COLDEST = 1e6


def zeros(*widths: int) -> DeepLinearNetwork:
    return DeepLinearNetwork([np.zeros((b, a)) for a, b in zip(widths, widths[1:], strict=False)], noise_std=0)


CASES: Sequence[tuple[str, Callable[[], Potential]]] = (
    ("w1² + w2⁴", lambda: surface("sum", exponents=(2, 4))),
    ("w1² w2²", lambda: surface("product", exponents=(2, 2))),
    ("regular, D = 4", lambda: zeros(4, 1)),
    ("linear network 2-2-2", lambda: zeros(2, 2, 2)),
    ("linear network 3-3-3", lambda: zeros(3, 3, 3)),
)


def row(name: str, made: Callable[[], Potential], seeds: int, steps: int, chains: int) -> str:
    problem = made()
    truth = problem.local_learning_coefficient
    assert truth is not None
    began = time.process_time()

    def runs(multiplicity: int | None) -> list[FreeEnergy]:
        return [
            free_energy(problem, n_beta=COLDEST, chains=chains, steps=steps, multiplicity=multiplicity, seed=seed)
            for seed in range(seeds)
        ]

    free = runs(None)
    spent = (time.process_time() - began) / seeds
    given = runs(truth.multiplicity)
    right = sum(found.multiplicity == truth.multiplicity for found in free)
    cells = [name, f"{float(truth):g}, {truth.multiplicity}", f"{right}/{seeds}"]
    for found in (free, given):
        values = np.array([each.llc for each in found])
        error = np.mean([each.llc_se for each in found])
        cells.append(f"{values.mean():.3f} (sd {values.std(ddof=1):.3f}, se {error:.3f})")
    trips = np.mean([each.round_trips for each in free])
    gradients = np.mean([each.gradients for each in free])
    return "| " + " | ".join([*cells, f"{trips:,.0f}", f"{gradients:.2g}", f"{spent:.1f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--chains", type=int, default=32)
    options = parser.parse_args()
    print(machine())
    print("| minimum | λ, m | m right | λ, m fitted | λ, m given | round trips | gradients | processor s |")
    print("|---|---|---|---|---|---|---|---|")
    for name, made in CASES:
        print(row(name, made, options.seeds, options.steps, options.chains), flush=True)


if __name__ == "__main__":
    main()
