"""SGLD against exact quadrature on landscapes with known λ, beside the figures of Lau, Murfet & Wei.

    python -m lab.benchmarks.accuracy.landscapes          # writes lab/results/landscapes_table.json after each row
    python -m lab.benchmarks.accuracy.landscapes --sampler ProximalSGLD  # the rows with a prior once more, added to that file
    python -m lab.benchmarks.accuracy.landscapes --repeats 400 --rows 1,1/1,1          # some rows, printed only

Every row: R data sets of n = 1000 side by side in one run, full gradients, γ = 1, chains from (0.1, 0.1), 10,000 steps all
of which count, ε = 5e-4 and 1e-4. A row passes where |mean − quadrature| < 3 sd/√R + 0.04 for λ̂ and for ν̂; chains that
diverged are left out of the mean and counted. ProximalSGLD is compared with the quadrature on the side of the walls that it
never leaves, SGLD with that of the whole plane. ν̂ pools `--members` chains of each data set, which shows what one slow chain
has not seen. A prior |w|^h is a wall that chains do not cross, and half of the posterior's variance of ρ lies behind it:
"side" is the quadrature on the side where chains begin, and ν̂ passes between ν and ν side. The median is there because a
chain that the wall throws far out weighs any amount in the mean. Then the two points of the paper's figure 1.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import parse
from llc_core import RunConfig, one_sided_posterior, planar_landscape, posterior
from llc_core.engine.run import Run
from llc_core.results import Estimate

OUTPUT = Path(__file__).resolve().parents[2] / "results" / "landscapes_table.json"
ROWS = [  # k, h, the paper's MCMC and SGLD at the two steps
    ((1, 3), (0, 0), 0.12, 0.11, 0.10),
    ((1, 3), (1, 0), 0.17, 0.16, 0.14),
    ((1, 2), (0, 0), 0.19, 0.14, 0.10),
    ((2, 3), (0, 4), 0.17, 0.27, 0.30),
    ((3, 1), (1, 1), 0.34, 0.28, 0.29),
    ((0, 1), (0, 0), 0.41, 0.45, 0.42),
    ((1, 0), (0, 0), 0.43, 0.47, 0.45),
    ((1, 1), (0, 0), 0.33, 0.32, 0.29),
    ((3, 1), (3, 3), 0.58, 0.63, 0.67),
    ((2, 1), (2, 3), 0.79, 0.66, 0.71),
    ((4, 1), (6, 3), 0.76, 0.81, 0.77),
    ((1, 1), (1, 1), 0.80, 0.92, 0.75),
]
STEPS = (5e-4, 1e-4)
PULLS = (0.2, 1.0, 5.0)
"""γ at the two points."""
WIDEST = 0.3
"""A tolerance above this comes from chains that were thrown far, and everything would agree with them."""
POINT_SETS, POINT_STEPS = 500, 5000
BINS = np.linspace(-0.5, 1.75, 46)
"""Of the λ̂ at the two points."""


def within(values: np.ndarray, exact: float) -> tuple[float, float, bool]:
    """Mean, sd, and whether the mean is within 3 sd/√R + 0.04 of `exact`, and that says something."""
    values = values[np.isfinite(values)]
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    return mean, sd, abs(mean - exact) < 3 * sd / math.sqrt(len(values)) + 0.04 < WIDEST


def finish(config: RunConfig, problem: object) -> list[Estimate]:
    current = Run(config, problem)  # type: ignore[arg-type]
    for _ in current:
        pass
    return current.estimates()


def crossing_row(  # type: ignore[no-untyped-def]
    k, h, sampler: str, repeats: int, steps: int, seed: int, members: int
) -> list[dict]:
    problem = planar_landscape("normal_crossing", k=list(k), h=list(h), data_sets=repeats, seed=seed)
    config = RunConfig(
        sampler={"name": sampler},
        grid={"step_size": STEPS},
        chains=repeats * members,
        steps=steps,
        burn_in=0,
        functional_variance=20,
        localization=1.0,
        seed=seed,
        dtype="float64",
    )
    exact, side = posterior(problem), one_sided_posterior(problem)
    rows = []
    for result in finish(config, problem):
        truth = side if sampler == "ProximalSGLD" else exact
        mean, sd, fine = within(result.per_chain[::members], truth.llc.mean())
        # ν of one data set varies too: its standard error over chains is in the estimate
        allowed = 3 * result.singular_fluctuation_se + 0.04
        ends = sorted([exact.singular_fluctuation.mean(), side.singular_fluctuation.mean()])
        nu = result.singular_fluctuation
        rows.append(
            {
                "mean": mean,
                "median": float(np.nanmedian(result.per_chain[::members])),
                "sd": sd,
                "fine": fine,
                "dead": int(np.isnan(result.per_chain[::members]).sum()),
                "nu": nu,
                "nu_fine": ends[0] - allowed < nu < ends[1] + allowed and allowed < WIDEST,
                "exact": exact.llc.mean(),
                "exact_sd": exact.llc.std(),
                "side": side.llc.mean(),
                "side_nu": side.singular_fluctuation.mean(),
                "exact_nu": exact.singular_fluctuation.mean(),
                "truth": float(problem.learning_coefficient),
            }
        )
    return rows


def points(repeats: int, steps: int, localization: float) -> dict[str, Any]:
    """λ̂ at U and at V on the same data sets, what quadrature says, and the paired difference."""
    report: dict[str, Any] = {"gamma": localization}
    found = []
    for at in ("U", "V"):
        problem = planar_landscape("line_and_point", at=at, data_sets=repeats)
        config = RunConfig(
            sampler={"name": "SGLD", "step_size": 1e-4},
            chains=repeats,
            steps=steps,
            burn_in=0,
            localization=localization,
            dtype="float64",
        )
        values = finish(config, problem)[0].per_chain
        found.append(values)
        report[at] = {
            "mean": float(np.nanmean(values)),
            "sd": float(np.nanstd(values, ddof=1)),
            "dead": int(np.isnan(values).sum()),
            "exact": float(posterior(problem, localization=localization).llc.mean()),
            "truth": float(problem.local_learning_coefficient),
            "counts": np.histogram(np.clip(values, BINS[0], BINS[-1]), BINS)[0].tolist(),
        }
    gap = found[0] - found[1]
    return {**report, "gap": float(np.nanmean(gap)), "gap_se": float(np.nanstd(gap, ddof=1) / math.sqrt(repeats))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200, help="data sets")
    parser.add_argument("--members", type=int, default=4, help="chains per data set")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sampler", choices=("SGLD", "ProximalSGLD"), default="SGLD")
    parser.add_argument("--rows", nargs="*", help="only these, as k1,k2/h1,h2; nothing is written")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parse(parser, globals(), repeats=4, members=1, steps=200, rows=["1,1/1,1"])
    torch.set_num_threads(1)
    begun = time.perf_counter()
    report: dict[str, Any] = {
        "machine": machine(),
        "repeats": arguments.repeats,
        "members": arguments.members,
        "steps": arguments.steps,
        "seed": arguments.seed,
        "rows": [],
        "point_sets": POINT_SETS,
        "point_steps": POINT_STEPS,
        "bins": BINS.round(6).tolist(),
        "points": [],
    }

    def save() -> None:
        if not arguments.rows:
            report["proximal_seconds" if again else "seconds"] = round(time.perf_counter() - begun)
            arguments.output.write_text(json.dumps(report, indent=1) + "\n")

    again = arguments.sampler != "SGLD"
    if again and not arguments.rows:
        kept = json.loads(arguments.output.read_text())
        report = {**kept, "rows": [row for row in kept["rows"] if row["sampler"] == "SGLD"]}
    print(machine())
    print(f"{arguments.repeats} data sets, {arguments.steps} steps; sd over data sets in brackets")
    print(
        "k    h    λ      quadrature     side   paper MCMC | ε      SGLD          median paper  dead  ok | ν quad  ν side  ν SGLD  "
        "ok   seconds"
    )
    failed = 0
    for k, h, mcmc, *paper in ROWS:
        if arguments.rows and f"{k[0]},{k[1]}/{h[0]},{h[1]}" not in arguments.rows:
            continue
        if again and not any(h):
            continue
        started = time.perf_counter()
        rows = crossing_row(
            k, h, arguments.sampler, arguments.repeats, arguments.steps, arguments.seed, arguments.members
        )
        spent = time.perf_counter() - started
        for step, printed, row in zip(STEPS, paper, rows, strict=True):
            print(
                f"{k[0]},{k[1]}  {h[0]},{h[1]}  {row['truth']:.3f}  {row['exact']:.3f} ({row['exact_sd']:.3f})  {row['side']:.3f}  {mcmc:.2f}"
                f"       | {step:.0e}  {row['mean']:.3f} ({row['sd']:.3f})  {row['median']:.3f}  {printed:.2f}  {row['dead']:4d}  "
                f"{'yes' if row['fine'] else 'NO '} | {row['exact_nu']:.3f}   {row['side_nu']:.3f}   {row['nu']:.3f}   "
                f"{'yes' if row['nu_fine'] else 'NO '}  {spent:5.1f}",
                flush=True,
            )
            failed += not (row["fine"] and row["nu_fine"])
            named = {
                "k": k,
                "h": h,
                "sampler": arguments.sampler,
                "step_size": step,
                "printed": printed,
                "printed_mcmc": mcmc,
            }
            report["rows"].append({**named, **{name: _plain(value) for name, value in row.items()}})
        save()
    print(f"{failed} entries outside their tolerance")
    if arguments.rows or again:
        return
    print(
        f"points of (w1 − 1)(w1² + w2²)², {POINT_SETS} data sets, {POINT_STEPS} steps, ε = 1e-4: means, paired difference"
    )
    for localization in PULLS:
        found = points(POINT_SETS, POINT_STEPS, localization)
        report["points"].append(found)
        save()
        u, v = found["U"], found["V"]
        print(
            f"γ = {localization:<4g} U {u['mean']:.3f} (quadrature {u['exact']:.3f})  V {v['mean']:.3f} "
            f"(quadrature {v['exact']:.3f})  U − V {found['gap']:.3f} ± {found['gap_se']:.3f}",
            flush=True,
        )


def _plain(value: Any) -> Any:
    """A number or truth value that JSON can hold; nothing for nan."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


if __name__ == "__main__":
    main()
