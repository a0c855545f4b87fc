"""How accurate are the engine's defaults? Random problems of a class against expected_llc and the exact reference.

    python -m lab.benchmarks.accuracy.defaults 1K 40
    python -m lab.benchmarks.accuracy.defaults 10K 20 --ranks paper --first 200
    python -m lab.benchmarks.accuracy.defaults 1K 40 --sampler UnderdampedLangevin
    python -m lab.benchmarks.accuracy.defaults 10K 20 --keep runs.jsonl --minutes 10    # again and again, until all are there
    python -m lab.benchmarks.accuracy.defaults 100K 8 --layers 4 --sweeps 80 --reference-chains 2    # of four layers and more
    python -m lab.benchmarks.accuracy.defaults zeros 2                                  # 3-3-3 and 5-5-5-5 at w0 = 0

Every problem is run with the engine's defaults (4 chains, full gradients, blocked Gibbs) or with the sampler named, and
with a longer blocked Gibbs of another seed, all of whose chains begin at w0, at the same nβ and γ.
Where Gibbs itself lies more than 5% from expected_llc (finite n and localisation in deep, low-rank networks), the
estimate is scored against Gibbs; both are listed. Order preservation: share of pairs of problems that the estimates
put in the order of the reference (Hitchcock & Hoogland, section 4). Seconds are those of the processor, which other
programs hardly change; with OMP_NUM_THREADS=1 they are what one quiet core takes.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator

import numpy as np

from lab.benchmarks.command import KEPT, option, read_options
from llc_core import DeepLinearNetwork, estimate
from llc_core.references.gibbs import gibbs_reference
from llc_core.studies.keeping import Kept, Row

FAR = 0.05
ZEROS = "zeros"
REFERENCE_CHAINS = 4
LEAST_BURN_IN = 40
"""Sweeps from w0 that a reference leaves out: the 100K networks take 20 to their level."""


def order_preserved(values: np.ndarray, reference: np.ndarray) -> float:
    """Share of pairs in the same order; pairs whose references tie do not count."""
    i, j = np.triu_indices(len(values), 1)
    differ = reference[i] != reference[j]
    if not differ.any():
        return math.nan
    return float(np.mean((np.sign(values[i] - values[j]) == np.sign(reference[i] - reference[j]))[differ]))


def problem_of(size_class: str, ranks: str, seed: int) -> DeepLinearNetwork:
    """A random network of the class; of "zeros", the first two are those whose value quadrature and Stein's identity give."""
    if size_class == ZEROS:
        width, layers = ((3, 2), (5, 3))[seed]
        return DeepLinearNetwork([np.zeros((width, width))] * layers, noise_std=0)
    return DeepLinearNetwork.random(size_class, ranks, seed=seed)


def seeds_of(size_class: str, ranks: str, first: int, count: int, layers: int) -> Iterator[int]:
    """The first `count` seeds whose networks have at least so many layers."""
    deep = (seed for seed in itertools.count(first) if len(problem_of(size_class, ranks, seed).weights) >= layers)
    return itertools.islice(deep, count)


def one_run(
    size_class: str,
    seed: int,
    ranks: str,
    sampler: str | None,
    sweeps: int,
    given_weights: bool,
    chains: int = REFERENCE_CHAINS,
    burn_in: int | None = None,
) -> Row:
    """What is kept of a network: its size, the three values, and the verdict.  chains, burn_in: of the reference."""
    problem = problem_of(size_class, ranks, seed)
    if given_weights:
        problem = DeepLinearNetwork(weights=problem.weights, seed=seed)
    start, clock = time.process_time(), time.perf_counter()
    result = estimate(problem, sampler, progress=False)
    seconds, clock = time.process_time() - start, time.perf_counter() - clock
    exact = error = None
    if sweeps:
        if burn_in is None:
            burn_in = max(sweeps // 4, min(LEAST_BURN_IN, sweeps // 2))
        long = gibbs_reference(problem, chains=chains, sweeps=sweeps, burn_in=burn_in, seed=seed + 1000)
        exact, error = long.llc, long.llc_se
    return {
        "dim": problem.dim,
        "layers": len(problem.widths) - 1,
        "rank": problem.rank,
        "llc": result.llc,
        "llc_se": result.llc_se,
        "expected": problem.expected_llc(),
        "gibbs": exact,
        "gibbs_se": error,
        "seconds": seconds,
        "clock": clock,
        "trusted": bool(result.converged),
        "reason": result.converged.reason,
    }


def line(seed: int, row: Row) -> str:
    gibbs = math.nan if row["gibbs"] is None else row["gibbs"]
    return (
        f"{seed:4d} {row['dim']:7d} {row['layers']:4d} {row['rank']:5d} {row['expected']:9.2f} "
        f"{row['llc']:10.2f} ± {row['llc_se']:5.2f} {row['llc'] / row['expected'] - 1:+8.1%} {gibbs:9.2f} "
        f"{gibbs / row['expected'] - 1:+8.1%} {row['seconds']:8.1f}  {'yes' if row['trusted'] else 'no: ' + row['reason']}"
    )


def beyond(row: Row) -> bool:
    """Whether the estimate is trusted and further from the long run than it may be."""
    if row["gibbs"] is None or not row["trusted"]:
        return False
    return abs(row["llc"] - row["gibbs"]) > max(0.03 * row["gibbs"], 3 * math.hypot(row["llc_se"], row["gibbs_se"]))


def summary(rows: dict[int, Row]) -> str:
    """rows: by the networks' seeds."""
    columns = (
        [math.nan if row[name] is None else row[name] for row in rows.values()]
        for name in ("llc", "expected", "gibbs", "seconds")
    )
    values, expected, exact, seconds = map(np.array, columns)
    reference = np.where(np.abs(exact / expected - 1) > FAR, exact, expected)
    clocks = [row["clock"] for row in rows.values() if "clock" in row]
    lines = [
        f"mean |error| against expected_llc    {np.abs(values / expected - 1).mean():.2%}",
        f"mean |error| against the reference   {np.abs(values / reference - 1).mean():.2%}"
        f"  ({int((reference != expected).sum())} of {len(rows)} scored against Gibbs)",
    ]
    if np.isfinite(exact).all():
        lines += [
            f"trusted and beyond max(3%, 3 se)     {[seed for seed, row in rows.items() if beyond(row)] or 'none'}",
            f"mean |error| against Gibbs           {np.abs(values / exact - 1).mean():.2%}",
        ]
    lines += [
        f"order preserved, against expected    {order_preserved(values, expected):.3f}",
        f"order preserved, against reference   {order_preserved(values, reference):.3f}",
        f"processor seconds per problem        median {np.median(seconds):.1f}, largest {seconds.max():.1f}",
        *([f"seconds by the clock, largest         {max(clocks):.1f}"] if clocks else []),
    ]
    return "\n".join(lines)


def main() -> None:
    options = read_options(
        globals(),
        {
            "size_class": lambda asked: ZEROS if asked == ZEROS else "1K",
            "problems": 1,
            "layers": 1,
            "sweeps": 100,
            "reference_burn_in": None,
        },
        size_class=option(place=True),
        problems=option(type=int, place=True),
        ranks="equal",
        first=option(0, "seed of the first problem"),
        layers=option(1, "networks of fewer layers are left out"),
        sampler=option(None, "in place of the engine's choice"),
        sweeps=option(1000, "Gibbs sweeps; 0: no reference"),
        reference_chains=REFERENCE_CHAINS,
        reference_burn_in=option(None, "sweeps that the reference leaves out", type=int),
        given_weights=option(False, "pass the weights alone: ranks found numerically"),
        **KEPT,
    )
    print("seed  dim  layers rank  expected   estimate ± se      error   Gibbs      Gibbs err  seconds  verdict")
    kept, rows, until = Kept(options.keep), {}, time.monotonic() + 60 * options.minutes
    for seed in seeds_of(options.size_class, options.ranks, options.first, options.problems, options.layers):
        asked = (options.size_class, seed, options.ranks, options.sampler, options.sweeps, options.given_weights)
        burn_in = options.reference_burn_in
        if options.reference_chains != REFERENCE_CHAINS or burn_in:  # rows that were kept before say nothing of them
            asked += (options.reference_chains, burn_in) if burn_in else (options.reference_chains,)
        if asked not in kept:
            if time.monotonic() >= until:
                continue
            kept.add(asked, one_run(*asked))
        rows[seed] = kept[asked]
        print(line(seed, rows[seed]), flush=True)
    print(f"{len(rows)} of {options.problems} problems, {kept.origin()}")
    if rows:
        print(summary(rows))


if __name__ == "__main__":
    main()
