"""Semi-synthetic risk on six tables and a CSV of one's own, both likelihoods, with the gap to the Bayes risk.

    python -m lab.benchmarks.accuracy.function_risk
    python -m lab.benchmarks.accuracy.function_risk --csv my_inputs.csv --tasks 3

Inputs are real and standardised; the targets come from a network 50-50 drawn from the prior, with noise .05. Every chain has the same
number of gradients. The bar: HMC is at most .002 above the best of three MALA on every table, on average over the exact posterior. The risk for
the very network that made the targets has its luck in it as well, and stands beside. Rows are kept as they come.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import torch

import lab
from lab.benchmarks.keeping import Kept
from lab.benchmarks.machine import machine
from llc_core.decisions.mushroom_table import read_mushrooms
from llc_core.networks.tables import Table, read_table, tabular
from llc_core.studies.risk.comparison import HMC, Effort, Risks, measured
from llc_core.studies.risk.task import semi_synthetic

SETS = ("wine", "diabetes", "breast_cancer", "iris", "friedman1")
MUSHROOMS = "mushroom"
ROOM = 0.002
"""How much worse than the best MALA HMC may be."""


def table_of(name: str) -> Table:
    """One of scikit-learn's, the mushrooms as zeros and ones, or a file."""
    if name == MUSHROOMS:
        found = read_mushrooms(Path(lab.__file__).parent / "data/mushroom.csv")
        return Table(name, tuple(found.columns), found.features.astype(float))
    if name.endswith(".csv"):
        path = Path(name)
        try:
            return read_table(path.read_text(encoding="utf-8"), path.name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"--csv {name}: {error}") from None
    return tabular(name)


def risks_of(name: str, likelihood: str, options: argparse.Namespace, kept: Kept) -> Risks:
    """Measured, or read from what was kept."""
    effort = Effort(options.chains, options.gradients, options.moves)
    found = []
    for seed in range(options.tasks):
        asked = [name, likelihood, seed, options.rows, options.chains, options.gradients, options.moves]
        if asked not in kept:
            task = semi_synthetic(table_of(name), rows=options.rows, likelihood=likelihood, seed=seed)
            began = time.process_time()
            rows, bayes = measured(task, effort, seed)
            kept.add(asked, {"rows": rows, "bayes": bayes, "noise": task.noise, "seconds": time.process_time() - began})
        found.append(kept[asked])
    return Risks.of([each["rows"] for each in found], [each["bayes"] for each in found], found[0]["noise"])


def _known(r_hat: float) -> float | None:
    """Methods without chains have none."""
    return None if math.isnan(r_hat) else round(float(r_hat), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", action="append", default=[], help="a table of inputs; may be given several times")
    parser.add_argument("--only", action="append", default=[], help="names of tables, in place of all six")
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--rows", type=int, default=100, help="a fifth of them is held out")
    parser.add_argument("--chains", type=int, default=16)
    parser.add_argument("--gradients", type=int, default=1_000)
    parser.add_argument("--moves", type=int, default=1_500)
    parser.add_argument("--kept", type=Path, help="a file of rows that are known already, and that are added to")
    parser.add_argument("--out", type=Path, help="a file of JSON for the figures")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(machine())
    names = options.only or [*SETS, MUSHROOMS]
    kept, answers, failed, open_ = Kept(options.kept), {}, [], []
    for name in [*names, *options.csv]:
        for likelihood in ("gaussian", "laplace"):
            risks = risks_of(name, likelihood, options, kept)
            over, lucky = risks.gap(HMC) - risks.gap(risks.best_mala), risks.mean(HMC) - risks.mean(risks.best_mala)
            if risks.doubt:
                open_.append(f"{name}, {likelihood}")
            elif over > ROOM:
                failed.append(f"{name}, {likelihood}")
            print(
                f"\n{name}, {likelihood}\n{risks}\nHMC less the best MALA: {over:+.4f} of gaps, {lucky:+.4f} of risks",
                flush=True,
            )
            answers[f"{Path(name).stem}, {likelihood}"] = {
                "noise": risks.noise,
                "bayes": round(float(risks.bayes.mean()), 4),
                "risk": {way: round(risks.mean(way), 4) for way in risks.risks},
                "gap": {way: round(risks.gap(way), 4) for way in risks.risks},
                "r_hat": {way: _known(values.max()) for way, values in risks.r_hats.items()},
            }
    print(f"\nbar, HMC ≤ best MALA + {ROOM}: " + ("missed on " + "; ".join(failed) if failed else "met"))
    if open_:
        print("not counted, since the exact posterior's own chains do not agree: " + "; ".join(open_))
    if options.out is not None:
        command = f"python -m lab.benchmarks.accuracy.function_risk --tasks {options.tasks} --rows {options.rows}"
        settings = {key: getattr(options, key) for key in ("tasks", "rows", "chains", "gradients", "moves")}
        said = {"command": command, "machine": machine(), "settings": settings, "origin": kept.origin()}
        options.out.write_text(
            json.dumps({**said, "tables": answers}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        )


if __name__ == "__main__":
    main()
