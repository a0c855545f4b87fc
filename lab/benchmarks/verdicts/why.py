"""Does the split of an error name the right cause? Ten small networks, one planted cause each.

    python -m lab.benchmarks.verdicts.why                 # the table of all ten
    python -m lab.benchmarks.verdicts.why "large step" --seed 3

Every case is estimated, its error is split by `llc_core.studies.explain.split.explain`, and the estimate is made again from another
seed with the planted cause alone switched off. The change of λ̂ is what the planted part must say.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.benchmarks.command import option, read_options
from llc_core import HMC, SGLD, DeepLinearNetwork, Estimate, FrozenPSGLD, RMSPropSGLD, estimate
from llc_core.studies.explain.parts import Explanation
from llc_core.studies.explain.split import explain

SAMPLES = 10**4


@dataclass(frozen=True)
class Case:
    """A run whose error has one main cause.

    cause: name of the part that must be the largest.  run: arguments of `estimate`.
    off: what is changed to switch the cause off.  off_problem: another problem in which it is absent.
    with_it: further parts that go when the cause goes.
    """

    cause: str
    problem: DeepLinearNetwork
    run: Mapping[str, Any]
    off: Mapping[str, Any] = field(default_factory=dict)
    off_problem: DeepLinearNetwork | None = None
    with_it: tuple[str, ...] = ()

    def estimate(self, seed: int) -> Estimate:
        return estimate(self.problem, **self.run, seed=seed, progress=False)

    def planted(self, split: Explanation) -> tuple[float, float]:
        """What the split says about the planted cause, and its standard error."""
        causes = (self.cause, *self.with_it)
        mine = np.array([any(cause in part.causes for cause in causes) for part in split.parts], dtype=float)
        value = mine @ np.array([part.value for part in split.parts])
        return float(value), math.sqrt(mine @ split.covariance @ mine)

    def estimate_without(self, seed: int) -> Estimate:
        """With the cause switched off."""
        return estimate(self.off_problem or self.problem, **{**self.run, **self.off}, seed=seed, progress=False)


def limit(problem: DeepLinearNetwork, n_beta: float | None = None) -> float:
    """The largest stable step of SGLD for a network of one layer."""
    top = float(np.linalg.eigvalsh(problem.data.sxx.numpy())[-1])
    return 4 / (2 * (n_beta or problem.n_beta) * top + 1)


def cases() -> dict[str, Case]:
    """Ten cases. A network of one layer is a linear regression: quadratic, so that every part is known in closed form."""
    line = DeepLinearNetwork.random(widths=[6, 4], n=SAMPLES, seed=0)
    step = limit(line)
    two = DeepLinearNetwork.random(widths=[4, 3, 4], layer_ranks=[3, 3], n=SAMPLES, seed=0)
    slow = DeepLinearNetwork.random(widths=[6, 6, 6], layer_ranks=[2, 2], n=SAMPLES, seed=0)
    clean = DeepLinearNetwork.random(widths=[6, 4], n=SAMPLES, noise_std=0.0, seed=0)
    small = DeepLinearNetwork.random(widths=[10, 6], n=200, noise_std=1.0, seed=1)
    small_clean = DeepLinearNetwork.random(widths=[10, 6], n=200, noise_std=0.0, seed=1)
    split = DeepLinearNetwork.random(widths=[4, 4, 4], layer_ranks=[0, 4], n=10**6, noise_std=0.1, seed=1)
    origin = DeepLinearNetwork([np.zeros((4, 4))] * 2, n=10**6, noise_std=0.1, seed=1)
    full = {"gradient": "full"}
    exact = {"sampler": HMC(), "steps": 250, "burn_in": 0.4}
    return {
        "large step": Case(
            "step_size", line, {**full, "sampler": SGLD(0.4 * step), "chains": 32, "steps": 600, "burn_in": 50}, exact
        ),
        "large step, two layers": Case(
            "step_size", two, {**full, "sampler": SGLD(2e-6), "chains": 64, "steps": 2000, "burn_in": 0.3}, exact
        ),
        "noisy gradients": Case(
            "minibatch",
            line,
            {
                "gradient": "minibatch",
                "batch_size": 30,
                "sampler": SGLD(0.05 * step),
                "chains": 32,
                "steps": 600,
                "burn_in": 100,
            },
            full,
        ),
        "noisy gradients, two layers": Case(
            "minibatch",
            two,
            {
                "gradient": "minibatch",
                "batch_size": 40,
                "sampler": SGLD(5e-7),
                "chains": 32,
                "steps": 1000,
                "burn_in": 400,
            },
            full,
        ),
        "too short": Case(
            "mixing",
            line,
            {**full, "sampler": SGLD(0.003 * step), "chains": 128, "steps": 250, "burn_in": 0},
            {"steps": 3000, "burn_in": 1000},
        ),
        "too short, two layers": Case(
            "mixing", slow, {**full, "sampler": SGLD(4e-7), "chains": 32, "steps": 600, "burn_in": 300}, exact
        ),
        "moving metric": Case(
            "law",
            line,
            {
                **full,
                "sampler": RMSPropSGLD(step_size=2e-7, beta=0.5, stability=1e-3),
                "chains": 48,
                "steps": 800,
                "burn_in": 300,
            },
            {"sampler": FrozenPSGLD(step_size=2e-7, alpha=0.5, stability=1e-3**0.5)},
        ),
        "prior too strong": Case(
            "localization",
            clean,
            {**full, "sampler": SGLD(0.02 * step), "chains": 32, "steps": 1500, "burn_in": 300, "localization": 3e4},
            {"localization": 1.0},
        ),
        "few samples": Case(
            "finite_n",
            small,
            {**full, "sampler": HMC(), "chains": 32, "steps": 200},
            off_problem=small_clean,
            with_it=("localization",),  # which holds this data set's noise beyond its mean
        ),
        "local and global": Case(
            "local_global",
            split,
            {**full, "sampler": HMC(), "chains": 24, "steps": 350, "localization": 1000.0},
            {"localization": 1.0},
            off_problem=origin,
        ),
    }


def main() -> None:
    case = option(None, "one case alone, with its sentences", nargs="?", place=True)
    arguments = read_options(globals(), {"case": "too short"}, case=case, seed=0)
    heads = ("case", "λ̂", "λ̂ − λ", "largest part", "planted part", "when switched off", "seconds")
    print("{:28s} {:>15s} {:>10s}   {:15s} {:>16s} {:>19s}   {}".format(*heads))
    for name, case in cases().items():
        if arguments.case not in (None, name):
            continue
        start = time.perf_counter()
        found = case.estimate(arguments.seed)
        between = time.perf_counter()
        split = explain(found, case.problem)
        end = time.perf_counter()
        off = case.estimate_without(arguments.seed + 1000)
        value, se = case.planted(split)
        change, change_se = found.llc - off.llc, math.hypot(found.llc_se, off.llc_se)
        print(
            f"{name:28s} {found.llc:7.2f} ± {found.llc_se:5.2f} {split.total:+8.2f}   {split.dominant.name:15s} "
            f"{value:+8.2f} ± {se:5.2f}   {change:+8.2f} ± {change_se:5.2f}   "
            f"{between - start:.1f} + {end - between:.1f}",
            flush=True,
        )
        if arguments.case:
            print(split)


if __name__ == "__main__":
    main()
