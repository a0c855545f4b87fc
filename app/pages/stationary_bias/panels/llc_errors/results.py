"""What the benchmark of adaptive samplers measured, read from its file of results."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from app.pages.measured import RESULTS

FILE = RESULTS / "adaptive_llc.json"


MISSING = (
    "The measured answer is not in this copy yet. Run <code>python -m lab.benchmarks.accuracy.adaptive</code> to make it, then "
    "open the page again."
)


REFERENCES = {"expected": "expected λ̂", "gibbs": "exact sampler"}


@lru_cache(maxsize=1)
def results(path: Path = FILE) -> dict[str, Any] | None:
    """The benchmark's file (see `lab.benchmarks.accuracy.adaptive`), or None where there is none."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return _named(found) if found.get("problems") else None


def _named(found: dict[str, Any]) -> dict[str, Any]:
    """The same with PSGLD's λ called what it is called everywhere: λ is the learning coefficient."""
    found["methods"] = {name.replace("λ=", "stability "): method for name, method in found["methods"].items()}
    for problem in found["problems"]:
        for row in problem["rows"]:
            row["method"] = row["method"].replace("λ=", "stability ")
    return found


def errors(found: dict[str, Any], share: float, reference: str) -> dict[str, list[tuple[int, float, float]]]:
    """method → (problem, relative error of λ̂, its standard error) for the step size at `share` of the stability limit.

    reference: "expected" or "gibbs".
    """
    table: dict[str, list[tuple[int, float, float]]] = {name: [] for name in found["methods"]}
    for problem in found["problems"]:
        for row in problem["rows"]:
            if math.isclose(row["share"], share) and problem[reference] and row["llc"] is not None:
                truth = problem[reference]
                table[row["method"]].append((problem["seed"], row["llc"] / truth - 1, row["llc_se"] / truth))
    return table


def summary(found: dict[str, Any], share: float) -> list[dict[str, Any]]:
    """One row per method: mean error against both references with standard errors, mean size, diverged chains."""
    rows = []
    against = {reference: errors(found, share, reference) for reference in REFERENCES}
    for name in found["methods"]:
        entry: dict[str, Any] = {"method": name}
        for reference, table in against.items():
            values = np.array([error for _, error, _ in table[name] if math.isfinite(error)])
            entry[reference] = float(values.mean()) if len(values) else math.nan
            entry[f"{reference}_se"] = float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else math.nan
            entry[f"{reference}_size"] = float(np.abs(values).mean()) if len(values) else math.nan
        entry["dead"] = sum(
            row["diverged"]
            for problem in found["problems"]
            for row in problem["rows"]
            if row["method"] == name and math.isclose(row["share"], share)
        )
        rows.append(entry)
    return rows


def percent(value: float, se: float = math.nan) -> str:
    if not math.isfinite(value):
        return "–"
    text = f"{value:+.1%}".replace("-", "−")
    return f"{text} ± {se:.1%}" if math.isfinite(se) else text


def table(rows: list[dict[str, Any]]) -> str:
    """HTML."""
    body = "".join(
        f"<tr><th scope=row>{escape(row['method'])}</th><td>{percent(row['gibbs'], row['gibbs_se'])}</td>"
        f"<td>{row['gibbs_size']:.1%}</td><td>{percent(row['expected'], row['expected_se'])}</td>"
        f"<td>{row['dead']}</td></tr>"
        for row in rows
    )
    return (
        "<table><thead><tr><th scope=col>sampler</th><th scope=col>error against an exact sampler</th><th scope=col>its mean "
        "size</th><th scope=col>error against expected λ̂</th><th scope=col>diverged chains</th></tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def advice(found: dict[str, Any], share: float) -> str:
    """HTML: what survives of the advice to take an adaptive sampler, in the numbers of this file."""
    by = {row["method"]: row for row in summary(found, share)}
    parts = []

    def size(name: str) -> str:
        return f"{by[name]['gibbs_size']:.1%}"

    if {"SGLD", "RMSProp a=0.1", "RMSProp a=1e-4"} <= set(by):
        parts.append(
            f"With exact gradients RMSProp misses an exact sampler by {size('RMSProp a=0.1')} on average at a = 0.1. "
            f"At a = 10⁻⁴ it misses by {size('RMSProp a=1e-4')}. "
            f"Plain SGLD misses by {size('SGLD')} at the same share of its stability limit."
        )
    for name, row in by.items():
        if name.startswith("Frozen PSGLD") and "minibatch" not in name:
            parts.append(
                f"Freezing the metric after burn-in leaves {row['gibbs_size']:.1%}: where an adaptive step is wanted, "
                "adapt it in burn-in only."
            )
    best = min((row for row in by.values() if math.isfinite(row["gibbs_size"])), key=lambda row: row["gibbs_size"])
    parts.append(f"Nearest to an exact sampler at this step size: {escape(best['method'])}, {best['gibbs_size']:.1%}.")
    return " ".join(parts)
