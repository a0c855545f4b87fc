"""Does a ladder of temperatures find λ, its multiplicity and log Z? Five minima whose answers are known, ten seeds each.

    python -m lab.benchmarks.accuracy.modes.free_energy
    python -m lab.benchmarks.accuracy.modes.free_energy --seeds 3 --only 3-3-3
    python -m lab.benchmarks.accuracy.modes.free_energy --simulated --seeds 20      the fit alone, on exact levels with normal errors
    python -m lab.benchmarks.accuracy.modes.free_energy --basins --seeds 2          which of two basins has the posterior, against quadrature

Losses are those of the population (surfaces; networks of the true product 0 without noise): surfaces down to nβ = 10⁶, networks down
to 10¹⁸ or 10²⁴, with fewer steps, so that no minimum takes more than 3.2 million gradients (a sweep of exact draws counts once for each layer).
"m right" counts those that were named and are right; "not named" those where none was named. An honest error is as large as the spread over seeds.
log Z is compared with quadrature where it is known. So is each level's λ̂: "levels' errors" is
the root mean square of its distance in standard errors, 1 where they are honest. "Swap rates differ": the largest less the smallest rate
of a ladder, at most so over the seeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lab.benchmarks.command import option, read_options
from llc_core import DeepLinearNetwork, FreeEnergy, Potential, free_energy, surface
from llc_core.studies.tempering.fitting import fit
from llc_core.theory.zero_product import zero_product_distribution


class Case(NamedTuple):
    name: str
    made: Callable[[], Potential]
    coldest: float
    steps: int


def zeros(*widths: int) -> DeepLinearNetwork:
    return DeepLinearNetwork([np.zeros((b, a)) for a, b in zip(widths, widths[1:], strict=False)], noise_std=0)


CASES = (
    Case("w1² + w2⁴", lambda: surface("sum", exponents=(2, 4)), 1e6, 2500),
    Case("w1² w2²", lambda: surface("product", exponents=(2, 2)), 1e6, 3800),
    Case("regular, D = 4", lambda: zeros(4, 1), 1e6, 1000),
    Case("linear network 2-2-2", lambda: zeros(2, 2, 2), 1e18, 300),
    Case("linear network 3-3-3", lambda: zeros(3, 3, 3), 1e24, 300),
)


def row(case: Case, seeds: range, chains: int) -> str:
    problem = case.made()
    truth = problem.local_learning_coefficient
    assert truth is not None
    began = time.process_time()
    found = [free_energy(problem, n_beta=case.coldest, chains=chains, steps=case.steps, seed=seed) for seed in seeds]
    spent = (time.process_time() - began) / len(seeds)
    right = sum(each.multiplicity == truth.multiplicity for each in found)
    silent = sum(each.multiplicity is None for each in found)
    values = np.array([each.llc for each in found])
    error = np.mean([each.llc_se for each in found])
    cells = [
        case.name,
        f"{float(truth):g}, {truth.multiplicity}",
        f"{right}/{len(seeds)}" + (f", {silent} not named" if silent else ""),
        f"{values.mean():.4f} (sd {values.std(ddof=1):.2g}, se {error:.2g})",
        *against(problem, found),
        f"{max(np.ptp(each.rejection) for each in found):.2f}",
        f"{np.mean([each.round_trips for each in found]):,.0f}",
        f"{np.mean([each.gradients for each in found]):.2g}",
        f"{spent:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def against(problem: Potential, found: list[FreeEnergy]) -> tuple[str, str]:
    """log Z less the exact one, and the root mean square of (λ̂ − exact)/error over levels and seeds."""
    if not isinstance(problem, DeepLinearNetwork) or len(problem.widths) != 3:
        return "", ""
    scale = float(problem.data.sxx.diagonal().mean())
    off, squares = [], []
    for each in found:
        exact = np.array([zero_product_distribution(problem.widths, n_beta, scale) for n_beta in each.levels[1:]])
        off.append(each.log_z - exact[-1, 0])
        squares.append((((each.level_llc[1:] - exact[:, 1]) / each.level_llc_se[1:]) ** 2).mean())
    error = np.mean([each.log_z_se for each in found])
    spread = f"mean {np.mean(off):+.3f}, largest {np.abs(off).max():.3f} (sd {np.std(off, ddof=1):.3f}, se {error:.3f})"
    return spread, f"{np.sqrt(np.mean(squares)):.2f}"


def simulated(widths: tuple[int, int, int], coldest: float, error: float, seeds: int) -> str:
    """A row: the fit of levels that are exact but for normal errors, with s = 1."""
    truth = zeros(*widths).local_learning_coefficient
    assert truth is not None
    levels = np.geomspace(0.01, coldest, int(2.5 * np.log(100 * coldest)))
    exact = np.array([zero_product_distribution(widths, n_beta, 1.0)[1] for n_beta in levels])
    noise = [error * np.random.default_rng(seed).standard_normal(len(levels)) for seed in range(seeds)]
    dim = widths[1] * (widths[0] + widths[2])
    found = [fit(levels * 10, exact + each, np.full(len(levels), error), dim) for each in noise]
    right = sum(each.multiplicity == truth.multiplicity for each in found)
    named = sum(each.multiplicity is not None for each in found)
    off = np.array([(each.llc - float(truth)) / each.se for each in found])
    cells = [
        "-".join(map(str, widths)),
        f"{float(truth):g}, {truth.multiplicity}",
        f"{coldest:.0e}",
        f"{error:g}",
        f"{right}",
        f"{named - right}",
        f"{np.mean([each.se for each in found]):.4f}",
        f"{off.mean():+.1f}",
        f"{np.sqrt((off**2).mean()):.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def simulate(seeds: int, only: str) -> None:
    print("| widths | λ, m | coldest nβ | levels' error | m named, right | wrong | error of λ | mean z | rms z |")
    print("|---|---|---|---|---|---|---|---|---|")
    for widths in ((2, 2, 2), (3, 3, 3), (2, 3, 2), (4, 4, 4)):
        for coldest in (1e4, 1e6, 1e10, 1e18):
            for error in (0.001, 0.003, 0.01):
                if only in "-".join(map(str, widths)):
                    print(simulated(widths, coldest, error, seeds), flush=True)


def basins(seeds: range) -> None:
    """Rows: the posterior's share of the line w1 = 1 of two basins at four nβ, by 64 ladders and by quadrature on cells that are finer
    where the masses lie."""
    target = surface("two_basins")
    levels = [0.1, 0.9, 5.0, 24.0, 120.0, 660.0, 3400.0, 18_000.0]
    edge = np.geomspace(1e-7, 1, 700)
    x = np.unique(np.concatenate([-2 * edge, edge / 2, 1 - edge / 2, 1 + edge, [0.0, 1.0]]))
    y = np.concatenate([[0.0], 2 * edge])
    middle = (x[1:] + x[:-1]) / 2
    area = np.diff(x)[:, None] * np.diff(y)
    loss = target.energy(middle[:, None], (y[1:] + y[:-1])[None] / 2)
    print("| nβ | " + " | ".join(f"seed {seed}" for seed in seeds) + " | quadrature |")
    print("|---" * (len(seeds) + 2) + "|")
    line = [
        free_energy(
            target, levels, chains=64, steps=8000, basins={"line": lambda delta: delta[:, 0] > 0.5}, seed=seed
        ).basins["line"]
        for seed in seeds
    ]
    for k in (1, 3, 5, 7):
        mass = area * np.exp(-levels[k] * loss)
        cells = [f"{each.probability[k + 1]:.4f} ± {each.probability_se[k + 1]:.4f}" for each in line]
        print("| " + " | ".join([f"{levels[k]:g}", *cells, f"{mass[middle > 0.5].sum() / mass.sum():.4f}"]) + " |")


def main() -> None:
    options = read_options(
        globals(),
        {"seeds": 1, "chains": 4, "CASES": lambda cases: cases[:1]},
        seeds=10,
        first=option(0, "the first seed"),
        chains=32,
        only=option("", "cases whose name has this"),
        simulated=option(False, "the fit alone, on exact levels with normal errors"),
        basins=option(False, "two basins alone"),
    )
    if options.basins:
        basins(range(options.first, options.first + options.seeds))
        return
    if options.simulated:
        simulate(options.seeds, options.only)
        return
    print(
        "| minimum | λ, m | m right | λ | log Z − exact | levels' errors | swap rates differ | round trips | gradients | processor s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if options.only in case.name:
            print(row(case, range(options.first, options.first + options.seeds), options.chains), flush=True)


if __name__ == "__main__":
    main()
