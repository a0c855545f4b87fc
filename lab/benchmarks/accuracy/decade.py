"""SGLD over a decade of step sizes, counted from each network's own stability limit.

    python -m lab.benchmarks.accuracy.decade 1K 0 1 2 … [--gradient full] [--results FILE] [--merge FILE …] [--table]

Limits of random networks of one class lie far apart (a factor 37 over the first twenty of 1K), so no step size in absolute
numbers serves all. The limit is the one that a short run with SGLD's automatic step says: that at w0 is far too large for a
flat network (up to a factor of hundreds). Truth: expected_llc,
and "reference": blocked Gibbs where it lies more than 5% from that. Two chains from w0, half the steps burn-in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from llc_core import DeepLinearNetwork, estimate
from llc_core.references.gibbs import gibbs_reference

SHARES = 0.025, 0.0539, 0.116, 0.25
PILOT = 100_000
SWEEPS = 400
FAR, CLOSE = 0.05, 0.1
KEY = "size_class", "gradient", "steps", "seed", "share"


def measured(size_class: str, seed: int, gradient: str, steps: int) -> list[dict[str, Any]]:
    problem = DeepLinearNetwork.random(size_class, seed=seed)
    options = {"gradient": gradient, "chains": 2, "seed": seed, "progress": False}
    pilot = estimate(problem, "SGLD", steps=PILOT, **options)
    limit, expected = pilot.diagnostics["stability_limit"], problem.expected_llc()
    found = estimate(problem, "SGLD", steps=steps, grid={"step_size": [share * limit for share in SHARES]}, **options)
    gibbs = gibbs_reference(problem, sweeps=SWEEPS, gauge_moves=False)
    return [
        {
            "size_class": size_class, "seed": seed, "gradient": gradient, "steps": steps, "share": share,
            "step_size": each.setting["step_size"], "llc": each.llc, "llc_se": each.llc_se, "r_hat": each.r_hat,
            "limit": each.diagnostics["stability_limit"], "verdict": str(each.converged),
            "dead": each.diverged, "expected": expected, "gibbs": gibbs.llc, "gibbs_se": gibbs.llc_se, "pilot": pilot.llc,
        }
        for share, each in zip(SHARES, found, strict=True)
    ]  # fmt: skip


def table(rows: list[dict[str, Any]]) -> None:
    for gradient in dict.fromkeys(row["gradient"] for row in rows):
        for share in SHARES:
            mine = [row for row in rows if row["gradient"] == gradient and row["share"] == share]
            llc, expected, gibbs = (np.array([row[name] for row in mine]) for name in ("llc", "expected", "gibbs"))
            reference = np.where(np.abs(gibbs / expected - 1) > FAR, gibbs, expected)
            errors = [llc / truth - 1 for truth in (expected, reference, gibbs)]
            words = ", ".join(
                f"{name} {e.mean():+.1%} (sd {e.std():.1%}, median {np.median(e):+.1%}, {(np.abs(e) < CLOSE).sum()} within 10%)"
                for name, e in zip(("expected", "reference", "Gibbs"), errors, strict=True)
            )
            worst, dead = max(row["r_hat"] for row in mine), sum(row["dead"] for row in mine)
            print(
                f"{gradient}, {share:.3f} of the limit, {len(mine)} networks: {words}; R-hat at most {worst:.2f}, {dead} dead"
            )


def main() -> None:
    options = read_options(
        globals(),
        {"seeds": [0], "steps": 200, "PILOT": 200, "SWEEPS": 20},
        one_thread=True,
        size_class=option(place=True),
        seeds=option(type=int, nargs="*", place=True),
        gradient=option("full", choices=("full", "control_variate")),
        steps=1_000_000,
        results=Path("lab/results/decade_shares.json"),
        merge=option([], "files of other runs to take rows from", type=Path),
        table=option(False, "only print what the file holds"),
    )
    held = json.loads(options.results.read_text()) if options.results.exists() else {"machine": machine(), "rows": []}
    for other in options.merge:
        held["rows"] += json.loads(other.read_text())["rows"]
    held["rows"] = list({tuple(row[name] for name in KEY): row for row in held["rows"]}.values())
    for seed in () if options.table else options.seeds:
        held["rows"] += measured(options.size_class, seed, options.gradient, options.steps)
        options.results.write_text(json.dumps(held, indent=1))
        for row in held["rows"][-len(SHARES) :]:
            print(
                f"seed {seed}, ε {row['step_size']:.2g} ({row['share']:.3f}): {row['llc']:.1f} ± {row['llc_se']:.1f}, Gibbs "
                f"{row['gibbs']:.1f}, {row['llc'] / row['gibbs'] - 1:+.1%}, expected {row['expected']:.1f}, R-hat {row['r_hat']:.2f}",
                flush=True,
            )
    if options.merge and not options.table:
        held["rows"].sort(key=lambda row: (row["gradient"] != "full", row["seed"], row["share"]))
        options.results.write_text(json.dumps(held, indent=1))
    table([row for row in held["rows"] if (row["size_class"], row["steps"]) == (options.size_class, options.steps)])


if __name__ == "__main__":
    main()
