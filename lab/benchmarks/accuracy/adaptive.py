"""Does the bias of adaptive samplers matter for λ̂? Small deep linear networks, samplers side by side.

    python -m lab.benchmarks.accuracy.adaptive                 # 20 problems; writes lab/results/adaptive_llc.json
    python -m lab.benchmarks.accuracy.adaptive --problems 2 --steps 4000 --output /dev/null

Every problem is estimated by every method at two step sizes, given shares of the stability limit where the chains end
up (found by a short automatic run), 8 chains each, from w0. The same problem's blocked Gibbs estimate at the same nβ and
γ says what an exact sampler reads; `expected_llc` what theory expects. The error against Gibbs is the sampler's own.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from lab.benchmarks.command import read_options
from lab.benchmarks.machine import machine
from llc_core import DeepLinearNetwork, RunConfig, Sampler
from llc_core.engine.run import Run
from llc_core.references.gibbs import gibbs_reference
from llc_core.samplers import SGLD, CorrectedPSGLD, FrozenPSGLD, RMSPropSGLD

OUTPUT = Path(__file__).resolve().parents[2] / "results" / "adaptive_llc.json"
SHARES = (0.03, 0.1)
"""Step sizes, as shares of the stability limit."""
SAMPLES = 10**4
"""n: small, so that overdamped chains settle within STEPS; at 10⁶ the flat directions need far more."""
CHAINS, STEPS = 8, 25_000
FULL = {"gradient": "full"}
MINIBATCH = {"gradient": "minibatch", "batch_size": 500}
NOISY_METRIC = {"gradient": "full", "metric_gradient": "minibatch", "batch_size": 500}

METHODS: dict[str, tuple[Sampler, dict[str, Any]]] = {
    "SGLD": (SGLD(), FULL),
    "RMSProp a=0.1": (RMSPropSGLD(stability=0.1), FULL),
    "RMSProp a=1e-4": (RMSPropSGLD(stability=1e-4), FULL),
    "RMSProp a=1e-4, minibatch metric": (RMSPropSGLD(stability=1e-4), NOISY_METRIC),
    "Frozen PSGLD λ=0.01": (FrozenPSGLD(stability=0.01), FULL),
    "Corrected PSGLD λ=0.1 α=0.9": (CorrectedPSGLD(alpha=0.9, stability=0.1), FULL),
    "Corrected PSGLD λ=0.1 α=0": (CorrectedPSGLD(alpha=0.0, stability=0.1), FULL),
    "SGLD, minibatch": (SGLD(), MINIBATCH),
    "RMSProp a=0.1, minibatch": (RMSPropSGLD(stability=0.1), MINIBATCH),
    "RMSProp a=1e-4, minibatch": (RMSPropSGLD(stability=1e-4), MINIBATCH),
    "Frozen PSGLD λ=0.01, minibatch": (FrozenPSGLD(stability=0.01), MINIBATCH),
}
"""Samplers, with the gradients that drive the chain and feed the metric. λ = 0.01 stands for a = λ² = 1e-4."""


def problems(count: int) -> list[DeepLinearNetwork]:
    """Two or three layers of width 3 … 8, every layer of the same rank."""
    random = np.random.default_rng(0)
    result = []
    for seed in range(count):
        layers = int(random.integers(2, 4))
        widths = [int(h) for h in random.integers(3, 9, size=layers + 1)]
        rank = int(random.integers(max(1, min(widths) // 2), min(widths) + 1))
        result.append(DeepLinearNetwork.random(widths=widths, layer_ranks=[rank] * layers, n=SAMPLES, seed=seed))
    return result


def stability_limit(problem: DeepLinearNetwork, sampler: Sampler, kind: dict[str, Any], seed: int) -> float:
    """The largest stable step where the chains are after a short automatic run."""
    config = RunConfig(sampler=sampler.to_dict(), chains=4, steps=3000, burn_in=0.9, seed=seed, **kind)
    probe = Run(config, problem)
    probe.advance(3000)
    return float(probe.estimates()[0].diagnostics["stability_limit"])


def measure(problem: DeepLinearNetwork, name: str, steps: int, seed: int) -> list[dict[str, Any]]:
    """One row per step size."""
    sampler, kind = METHODS[name]
    limit = stability_limit(problem, sampler, kind, seed)
    config = RunConfig(
        sampler=sampler.to_dict(),
        chains=CHAINS,
        steps=steps,
        burn_in=0.5,
        grid={"step_size": [share * limit for share in SHARES]},
        seed=seed,
        **kind,
    )
    current = Run(config, problem)
    for _ in current:
        pass
    squares = current.state.get("square")
    return [
        {
            "method": name,
            "share": share,
            "step_size": estimate.diagnostics["step_size"],
            "llc": estimate.llc,
            "llc_se": estimate.llc_se,
            "r_hat": estimate.r_hat,
            "drift": estimate.diagnostics["drift"],
            "diverged": estimate.diverged,
            "settled": bool(estimate.converged),
            "mean_square_gradient": None if squares is None else float(squares[index :: len(SHARES)].mean()),
            "seconds": estimate.seconds / len(SHARES),
        }
        for index, (share, estimate) in enumerate(zip(SHARES, current.estimates(), strict=True))
    ]


def main() -> None:
    arguments = read_options(globals(), {"problems": 1, "steps": 200}, problems=20, steps=STEPS, output=OUTPUT)
    found = []
    for seed, problem in enumerate(problems(arguments.problems)):
        begin = time.perf_counter()
        gibbs = gibbs_reference(problem, chains=8, sweeps=1200)
        record = {
            "seed": seed,
            "problem": problem.to_dict(),
            "widths": problem.widths,
            "rank": problem.rank,
            "dim": problem.dim,
            "local_learning_coefficient": float(problem.local_learning_coefficient),
            "expected": problem.expected_llc(),
            "gibbs": gibbs.llc,
            "gibbs_se": gibbs.llc_se,
            "rows": [row for name in METHODS for row in measure(problem, name, arguments.steps, seed)],
        }
        found.append(record)
        line = "  ".join(f"{r['llc'] / gibbs.llc - 1:+6.1%}" for r in record["rows"])
        print(
            f"{seed:3d} {problem.widths!s:15s} r={problem.rank} expected {record['expected']:6.2f} "
            f"gibbs {gibbs.llc:6.2f}±{gibbs.llc_se:.2f}  {line}  {time.perf_counter() - begin:.0f} s",
            flush=True,
        )
        result = {
            "command": "python -m lab.benchmarks.accuracy.adaptive",
            "machine": machine(),
            "chains": CHAINS,
            "steps": arguments.steps,
            "shares": SHARES,
            "methods": {n: {"sampler": s.to_dict(), **k} for n, (s, k) in METHODS.items()},
            "problems": found,
        }
        arguments.output.write_text(json.dumps(result, indent=1))
    print_summary(found)


def print_summary(found: list[dict[str, Any]]) -> None:
    print(
        "\nmethod                              ε/limit   against Gibbs: mean   mean size    against expected: mean size   dead"
    )
    for name in METHODS:
        for share in SHARES:
            rows = [(p, r) for p in found for r in p["rows"] if r["method"] == name and r["share"] == share]
            gibbs = np.array([r["llc"] / p["gibbs"] - 1 for p, r in rows])
            expected = np.array([r["llc"] / p["expected"] - 1 for p, r in rows])
            dead = sum(r["diverged"] for _, r in rows)
            se = gibbs.std(ddof=1) / len(gibbs) ** 0.5 if len(gibbs) > 1 else np.nan
            print(
                f"{name:36s} {share:6.2f}   {gibbs.mean():+8.1%} ± {se:.1%}   {np.abs(gibbs).mean():9.1%}   "
                f"{np.abs(expected).mean():20.1%}   {dead:10d}"
            )


if __name__ == "__main__":
    main()
