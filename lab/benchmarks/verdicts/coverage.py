"""How often ± 2 llc_se holds the posterior's own mean: ten problems, 1, 2, 4 and 8 chains.

    python -m lab.benchmarks.verdicts.coverage                          # 100 seeds
    python -m lab.benchmarks.verdicts.coverage --seeds 20 --steps 1000
    python -m lab.benchmarks.verdicts.coverage --only "plane, normal crossing" --seeds 300 --seed 7    # fresh chains

All chains of a problem run once side by side, and groups of 1, 2, 4 and 8 of them are judged by themselves: the error of a
group needs nothing of the others. All chains together say what this sampler converges to at this step size, which is the
truth here, since an error bar knows of chance alone. The value by blocked Gibbs or quadrature is printed beside it.

A normal number is within 2 errors in 95.4% of all cases. "known" is the share of groups whose error is known at all,
"settled" that of the groups that have 100 effective draws and an error below 5%, with their own coverage.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch

from lab.benchmarks.command import option, read_options
from llc_core import DeepLinearNetwork, NetworkPotential, landscape, planar_landscape
from llc_core.config import RunConfig
from llc_core.diagnostics.convergence import ESS_LIMIT, ess, standard_error
from llc_core.engine.run import Run
from llc_core.potentials.base import Potential
from llc_core.references.gibbs import gibbs_reference

CHAINS = (1, 2, 4, 8)
SE_SHARE = 0.05


def dense() -> Potential:
    torch.manual_seed(0)
    layer, inputs = torch.nn.Linear(5, 1), torch.randn(200, 5)
    return NetworkPotential(layer, "mse", (inputs, layer(inputs).detach()))


def linear(widths: list[int], rank: int) -> Callable[[], Potential]:
    ranks = [rank] * (len(widths) - 1)
    return lambda: DeepLinearNetwork.random(widths=widths, layer_ranks=ranks, n=10_000, seed=1)


PROBLEMS: dict[str, Callable[[], Potential]] = {
    "Gaussian on the line": lambda: landscape("normal"),
    "double well": lambda: landscape("double_well"),
    "quartic": lambda: landscape("quartic"),
    "plane, quadratic": lambda: planar_landscape("quadratic"),
    "plane, normal crossing": lambda: planar_landscape("normal_crossing", k=[1, 1]),
    "one dense layer": dense,
    "one linear layer 4-4": linear([4, 4], 4),
    "linear 4-3-4": linear([4, 3, 4], 3),
    "linear 6-6-6 of rank 2": linear([6, 6, 6], 2),
    "linear 3-3-3-3 of rank 1": linear([3, 3, 3, 3], 1),
}


def traces(problem: Potential, chains: int, steps: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Means [C] and traces [T, C] after burn-in of the engine's default run, and its exact or Gibbs value."""
    current = Run(RunConfig(chains=chains, steps=steps, seed=seed), problem)
    for _ in current:
        pass
    found = current.estimates()[0]
    exact = found.reference
    if isinstance(problem, DeepLinearNetwork):
        exact = gibbs_reference(problem, chains=8, sweeps=600).llc
    return found.per_chain, found.trace[found.trace_steps >= found.burn_in], exact


def measure(means: np.ndarray, kept: np.ndarray, count: int) -> tuple[float, float, float, float]:
    """Shares of groups of `count` chains: held, known; held of those that have settled, settled."""
    truth, held, settled = means.mean(), [], []
    groups = len(means) // count
    for first in range(0, groups * count, count):
        mine = slice(first, first + count)
        error = standard_error(means[mine], kept[:, mine])
        if not np.isfinite(error):
            continue
        held.append(abs(means[mine].mean() - truth) < 2 * error)
        if ess(kept[:, mine]) >= ESS_LIMIT and error < SE_SHARE * truth:
            settled.append(held[-1])
    mean = [float(np.mean(part)) if part else np.nan for part in (held, settled)]
    return mean[0], len(held) / groups, mean[1], len(settled) / groups


def main() -> None:
    arguments = read_options(
        globals(),
        {"seeds": 2, "steps": 200, "only": [next(iter(PROBLEMS))]},
        seeds=100,
        steps=4000,
        only=option(None, "again for each problem; all without it", action="append", choices=list(PROBLEMS)),
        seed=option(0, "of the chains; others are fresh"),
    )
    print("held / known; of those settled: held / share")
    for name in arguments.only or PROBLEMS:
        begin = time.perf_counter()
        means, kept, exact = traces(PROBLEMS[name](), max(CHAINS) * arguments.seeds, arguments.steps, arguments.seed)
        living = np.isfinite(means)
        means, kept = means[living], kept[:, living]
        error = means.std(ddof=1) / len(means) ** 0.5
        cells = [
            f"{count}: {held:.2f}/{known:.2f} {sound:.2f}/{share:.2f}"
            for count in CHAINS
            for held, known, sound, share in [measure(means, kept, count)]
        ]
        print(
            f"{name:26s} λ̂ {means.mean():7.3f} ± {error:.3f} (exact {exact:.3f})   {'   '.join(cells)}   "
            f"{time.perf_counter() - begin:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
