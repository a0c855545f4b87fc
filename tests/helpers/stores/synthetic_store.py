"""A store as `llc-lab sweep` writes it, with rows from a plausible distribution instead of runs.

Small steps read too little (burn-in), large ones too much (discretisation, minibatch noise), and beyond the stability limit
chains die; the printed baseline is off by one large draw per run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.sweeps.store import Store

LIMIT = {"SGLD": 2e-7, "RMSPropSGLD": 3e-6, "SGHMC": 2e-8, "UnderdampedLangevin": 3e-3, "HMC": 4e-3}
NOISE = {"minibatch": 1.0, "control_variate": 0.03, "full": 0.0}


def synthetic_rows(
    problems: int = 6,
    samplers: Sequence[str] = tuple(LIMIT),
    gradients: Sequence[str] = tuple(NOISE),
    steps: int = 8,
    classes: Sequence[str] = ("1K",),
    ranks: Sequence[str] = ("equal", "paper"),
) -> list[dict[str, Any]]:
    rng = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    for size in classes:
        for kind in ranks:
            for problem in range(problems):
                local = float(np.round(60 + 300 * rng.random(), 1)) * (10 if size == "10K" else 1)
                for sampler in samplers:
                    for gradient in gradients:
                        rows += _unit(rng, size, kind, problem, sampler, gradient, local, steps)
    return rows


def _unit(rng, size, kind, problem, sampler, gradient, local, steps) -> list[dict[str, Any]]:
    expected, limit, rows = 0.96 * local, LIMIT[sampler], []
    for i, step in enumerate(np.geomspace(limit * 10**-4.5, limit * 3, steps).tolist()):
        share = step / limit
        dead = int(rng.binomial(4, min(1.0, max(0.0, share - 0.7))))
        slow = -0.5 * np.exp(-share / 1e-3)
        error = slow + 0.25 * share + NOISE[gradient] * 30 * share + 0.02 * rng.standard_normal()
        llc = None if dead > 2 else expected * (1 + error)
        offset = 0.0 if gradient == "full" else 4.4 * local * rng.standard_normal()
        config = {
            "problem": {"kind": "dln", "size_class": size, "ranks": kind, "seed": problem},
            "sampler": {"name": sampler, "step_size": step}, "gradient": gradient, "chains": 4, "steps": 2000,
        }  # fmt: skip
        rows.append(
            {
                "key": f"{size}-{kind}-{problem}-{sampler}-{gradient}-{i}",
                "unit": f"{size}-{kind}-{problem}-{sampler}-{gradient}",
                "size_class": size, "ranks": kind, "problem": problem, "dim": 1000, "sampler": sampler, "gradient": gradient,
                "step_size": step, "step_index": i, "chains": 4, "dead": dead,
                "status": "diverged" if llc is None else "ok",
                "llc": llc, "llc_se": None if llc is None else 0.01 * local,
                "llc_from_variance": None if llc is None or (problem + i) % 4 == 3 else 1.02 * llc,
                "llc_from_variance_se": None if llc is None or (problem + i) % 4 == 3 else 0.03 * local,
                "llc_printed": None if llc is None else llc + offset,
                "global_llc": local if kind == "equal" else 0.9 * local, "local_llc": local, "expected_llc": expected,
                "r_hat": 1.0 + 0.3 * np.exp(-share / 1e-2), "ess": 40.0, "stable_step": limit * (0.5 + rng.random()),
                "steps": 2000, "seconds": 0.5, "error": None, "config": json.dumps(config), "grid": "[]",
                "finished": "2026-11-21T12:00:00",
            }
        )  # fmt: skip
    return rows


def failed_row(**changes: Any) -> dict[str, Any]:
    """A unit that could not be run."""
    row = synthetic_rows(1, ["SGLD"], ["full"], 1, ranks=["equal"])[0]
    nothing = {
        name: None
        for name in (
            "llc",
            "llc_se",
            "llc_from_variance",
            "llc_from_variance_se",
            "llc_printed",
            "r_hat",
            "ess",
            "seconds",
        )
    }
    return {**row, **nothing, "key": "failed", "status": "error", "error": "Out of memory.", **changes}


def write_store(path: Path, rows: Sequence[dict[str, Any]], **progress: Any) -> Path:
    """progress: what the sweep says of itself, such as state="running", done=3, total=9."""
    with Store(path) as store:
        store.add(rows)
        if progress:
            store.report({}, **progress)
    return path
