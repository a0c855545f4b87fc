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

import json
import time
from pathlib import Path
from typing import Any

from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from llc_core.studies.papers.items import find
from llc_core.studies.papers.learning_coefficient.crossings import Crossings, crossing_row, plain
from llc_core.studies.papers.learning_coefficient.two_points import EDGES, points

OUTPUT = Path(__file__).resolve().parents[2] / "results" / "landscapes_table.json"
STEPS = (5e-4, 1e-4)
PULLS = (0.2, 1.0, 5.0)
"""γ at the two points."""
POINT_SETS, POINT_STEPS = 500, 5000


def printed() -> list[tuple[tuple[int, int], tuple[int, int], float, float, float]]:
    """k, h, the paper's MCMC and SGLD at the two steps, of both tables."""
    tables = [find(f"001/{name}").sizes["paper"] for name in ("table-1", "table-2")]
    rows = [row for table in tables if isinstance(table, Crossings) for row in table.rows]
    return [(tuple(map(int, row.k)), tuple(map(int, row.h)), *row.llc) for row in rows]  # type: ignore[misc]


def main() -> None:
    arguments = read_options(
        globals(),
        {"repeats": 4, "members": 1, "steps": 200, "rows": ["1,1/1,1"]},
        one_thread=True,
        repeats=option(200, "data sets"),
        members=option(4, "chains per data set"),
        steps=10_000,
        seed=0,
        sampler=option("SGLD", choices=("SGLD", "ProximalSGLD")),
        rows=option(None, "only these, as k1,k2/h1,h2; nothing is written", nargs="*"),
        output=OUTPUT,
    )
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
        "bins": EDGES.round(6).tolist(),
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
    print(f"{arguments.repeats} data sets, {arguments.steps} steps; sd over data sets in brackets")
    print(
        "k    h    λ      quadrature     side   paper MCMC | ε      SGLD          median paper  dead  ok | ν quad  ν side  ν SGLD  "
        "ok   seconds"
    )
    failed = 0
    for k, h, mcmc, *paper in printed():
        if arguments.rows and f"{k[0]},{k[1]}/{h[0]},{h[1]}" not in arguments.rows:
            continue
        if again and not any(h):
            continue
        started = time.perf_counter()
        rows = crossing_row(
            k, h, arguments.sampler, arguments.repeats, arguments.steps, arguments.seed, arguments.members
        )
        spent = time.perf_counter() - started
        for step, said, row in zip(STEPS, paper, rows, strict=True):
            print(
                f"{k[0]},{k[1]}  {h[0]},{h[1]}  {row['truth']:.3f}  {row['exact']:.3f} ({row['exact_sd']:.3f})  {row['side']:.3f}  {mcmc:.2f}"
                f"       | {step:.0e}  {row['mean']:.3f} ({row['sd']:.3f})  {row['median']:.3f}  {said:.2f}  {row['dead']:4d}  "
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
                "printed": said,
                "printed_mcmc": mcmc,
            }
            report["rows"].append({**named, **{name: plain(value) for name, value in row.items()}})
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


if __name__ == "__main__":
    main()
