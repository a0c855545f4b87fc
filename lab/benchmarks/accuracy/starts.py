"""Where chains begin decides what they find: the engine begun at w0 and begun at a typical point, in both precisions.

    python -m lab.benchmarks.accuracy.starts 10K 4 10 0 [--sweeps 300]

Networks `DeepLinearNetwork.random(class, seed=s)`, n = 10⁶, γ = 1, engine defaults but for the start and the precision.
Exact: blocked Gibbs with moves along the gauge, from w0, mean of the second half. Typical: where one of its chains ended.
Sizes: squared distance of each layer from its place at w0, mean over chains, at the end.
"""

from __future__ import annotations

import numpy as np
import torch

from lab.benchmarks.command import option, read_options
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run
from llc_core.potentials.deep_linear.blocked_gibbs import BlockedGibbs

CHAINS = 4


def exact(problem: DeepLinearNetwork, sweeps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """λ̂ of every chain from the second half of the sweeps, and where the chains end, [C, D]."""
    sampler = BlockedGibbs(problem, CHAINS, problem.n_beta, 1.0, seed)
    kept = []
    for sweep in range(sweeps):
        loss = sampler.sweep()
        sampler.gauge_moves(adapt=sweep < sweeps // 2)
        if sweep >= sweeps // 2:
            kept.append(problem.n_beta * loss.numpy())
    return np.mean(kept, axis=0), torch.cat([d.flatten(1) for d in sampler.deltas], dim=1).numpy()


def sizes(problem: DeepLinearNetwork, moved: np.ndarray) -> str:
    ends = np.cumsum([w.size for w in problem.weights])[:-1]
    return " ".join(f"{(part**2).sum(axis=1).mean():.3g}" for part in np.split(moved, ends, axis=1))


def main() -> None:
    options = read_options(
        globals(),
        {"size_class": "1K", "seeds": [0], "sweeps": 20},
        one_thread=True,
        size_class=option(place=True),
        seeds=option(type=int, nargs="+", place=True),
        sweeps=300,
    )
    for seed in options.seeds:
        problem = DeepLinearNetwork.random(options.size_class, seed=seed)
        values, ends = exact(problem, options.sweeps, seed)
        truth, error = values.mean(), values.std(ddof=1) / CHAINS**0.5
        print(
            f"seed {seed}, {problem.widths}: exact {truth:.1f} ± {error:.1f}, sizes {sizes(problem, ends)}", flush=True
        )
        for start in (None, ends[0]):
            for dtype in ("float32", "float64"):
                problem.start = start
                current = Run(RunConfig(seed=seed, dtype=dtype, sampler={"name": "UnderdampedLangevin"}), problem)
                for _ in current:
                    pass
                found = current.estimates()[0]
                print(
                    f"  from {'w0' if start is None else 'a typical point'}, {dtype}: {found.llc:.1f} ± {found.llc_se:.1f}, "
                    f"{found.llc / truth - 1:+.1%}, R-hat {found.r_hat:.3f}, ESS {found.ess:.0f}, off by rounding "
                    f"{found.diagnostics['rounding']:.2g}, {'settled' if found.converged else 'not yet'}, "
                    f"sizes {sizes(problem, current.displacements)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
