"""How accurate are the engine's defaults? Random problems of a class against expected_llc and the exact reference.

    python -m lab.benchmarks.accuracy.defaults 1K 40
    python -m lab.benchmarks.accuracy.defaults 10K 20 --ranks paper --first 200
    python -m lab.benchmarks.accuracy.defaults 1K 40 --sampler UnderdampedLangevin

Every problem is run with the engine's defaults (4 chains, full gradients, blocked Gibbs) or with the sampler named, and
with a longer blocked Gibbs of another seed, all of whose chains begin at w0, at the same nβ and γ.
Where Gibbs itself lies more than 5% from expected_llc (finite n and localisation in deep, low-rank networks), the
estimate is scored against Gibbs; both are listed. Order preservation: share of pairs of problems that the estimates
put in the order of the reference (Hitchcock & Hoogland, section 4). Seconds are those of the processor, which other
programs hardly change; with OMP_NUM_THREADS=1 they are what one quiet core takes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from lab.benchmarks.machine import machine
from llc_core import DeepLinearNetwork, estimate
from llc_core.references.gibbs import gibbs_reference

FAR = 0.05


def order_preserved(values: np.ndarray, reference: np.ndarray) -> float:
    """Share of pairs in the same order; pairs whose references tie do not count."""
    i, j = np.triu_indices(len(values), 1)
    differ = reference[i] != reference[j]
    return float(np.mean((np.sign(values[i] - values[j]) == np.sign(reference[i] - reference[j]))[differ]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size_class")
    parser.add_argument("problems", type=int)
    parser.add_argument("--ranks", default="equal")
    parser.add_argument("--first", type=int, default=0, help="seed of the first problem")
    parser.add_argument("--sampler", help="in place of the engine's choice")
    parser.add_argument("--sweeps", type=int, default=1000, help="Gibbs sweeps; 0: no reference")
    parser.add_argument("--given-weights", action="store_true", help="pass the weights alone: ranks found numerically")
    arguments = parser.parse_args()
    print(machine())
    print("seed  dim  layers rank  expected   estimate ± se      error   Gibbs      Gibbs err  seconds  verdict")
    rows = []
    beyond = []
    for seed in range(arguments.first, arguments.first + arguments.problems):
        problem = DeepLinearNetwork.random(arguments.size_class, arguments.ranks, seed=seed)
        if arguments.given_weights:
            problem = DeepLinearNetwork(weights=problem.weights, seed=seed)
        start = time.process_time()
        result = estimate(problem, arguments.sampler, progress=False)
        seconds = time.process_time() - start
        expected = problem.expected_llc()
        exact = np.nan
        if arguments.sweeps:
            long = gibbs_reference(problem, sweeps=arguments.sweeps, burn_in=0.25, seed=seed + 1000)
            exact, error = long.llc, float(np.hypot(result.llc_se, long.llc_se))
            if result.converged and abs(result.llc - exact) > max(0.03 * exact, 3 * error):
                beyond.append(seed)
        reference = exact if abs(exact / expected - 1) > FAR else expected
        rows.append((result.llc, expected, exact, reference, seconds))
        print(
            f"{seed:4d} {problem.dim:7d} {len(problem.widths) - 1:4d} {problem.rank:5d} {expected:9.2f} "
            f"{result.llc:10.2f} ± {result.llc_se:5.2f} {result.llc / expected - 1:+8.1%} {exact:9.2f} "
            f"{exact / expected - 1:+8.1%} {seconds:8.1f}  {'yes' if result.converged else 'no: ' + result.converged.reason}",
            flush=True,
        )
    values, expected, exact, reference, seconds = (np.array(c) for c in zip(*rows, strict=True))
    print(f"mean |error| against expected_llc    {np.abs(values / expected - 1).mean():.2%}")
    print(
        f"mean |error| against the reference   {np.abs(values / reference - 1).mean():.2%}"
        f"  ({int((reference != expected).sum())} of {len(rows)} scored against Gibbs)"
    )
    if np.isfinite(exact).all():
        print(f"trusted and beyond max(3%, 3 se)     {beyond or 'none'}")
        print(f"mean |error| against Gibbs           {np.abs(values / exact - 1).mean():.2%}")
    print(f"order preserved, against expected    {order_preserved(values, expected):.3f}")
    print(f"order preserved, against reference   {order_preserved(values, reference):.3f}")
    print(f"processor seconds per problem        median {np.median(seconds):.1f}, largest {seconds.max():.1f}")


if __name__ == "__main__":
    main()
