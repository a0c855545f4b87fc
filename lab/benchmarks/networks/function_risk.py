"""Semi-synthetic risk on six tables and a CSV of one's own, both likelihoods, with the gap to the Bayes risk.

    python -m lab.benchmarks.networks.function_risk --kept rows.jsonl
    python -m lab.benchmarks.networks.function_risk --csv my_inputs.csv --tasks 3

Inputs are real and standardised; the targets come from some networks 50-50 drawn from the prior, with noise .05. Every chain has the same
number of gradients. The bar: HMC is at most .002 above the best of three MALA on every table, on average over the networks. It is asked of
gaps, averages over the exact posterior, and of the risks for the very networks that made the targets; averaged over many networks both are
the same, but the latter have the networks' luck in them. Rows are kept as they come, network after network.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import lab
from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from llc_core.decisions.mushrooms import read_mushrooms
from llc_core.networks.data.tables import UCI, Table, read_table, tabular, uci
from llc_core.studies.keeping import Kept, Row
from llc_core.studies.risk.comparison import HMC, Effort, Risks, measured, standard_error
from llc_core.studies.risk.task import semi_synthetic

SETS = ("wine", "diabetes", "breast_cancer", "iris", "friedman1")
MUSHROOMS = "mushroom"
UCI_SETS = "uci: "
ROOM = 0.002
"""How much worse than the best MALA HMC may be."""


def table_of(name: str, folder: Path) -> Table:
    """One of scikit-learn's, the mushrooms as zeros and ones, one of the UCI repository in a folder, or a file."""
    if name == MUSHROOMS:
        found = read_mushrooms(Path(lab.__file__).parent / "data/mushroom.csv")
        return Table(name, tuple(found.columns), found.features.astype(float))
    if name.endswith(".csv"):
        path = Path(name)
        try:
            return read_table(path.read_text(encoding="utf-8"), path.name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"--csv {name}: {error}") from None
    if name.startswith(UCI_SETS):
        try:
            return uci(name.removeprefix(UCI_SETS), folder)
        except ValueError as error:
            raise SystemExit(f"--uci {folder}: {error}") from None
    return tabular(name)


def question(name: str, likelihood: str, seed: int, options: argparse.Namespace) -> list[object]:
    """What a row answers."""
    return [name, likelihood, seed, options.rows, options.chains, options.gradients, options.moves]


def row_of(name: str, likelihood: str, seed: int, options: argparse.Namespace, kept: Kept) -> Row:
    """One task, measured, or read from what was kept."""
    asked = question(name, likelihood, seed, options)
    if asked not in kept:
        task = semi_synthetic(table_of(name, options.uci), rows=options.rows, likelihood=likelihood, seed=seed)
        began = time.process_time()
        found = measured(task, Effort(options.chains, options.gradients, options.moves), seed)
        spent = time.process_time() - began
        kept.add(asked, {"rows": found.rows, "bayes": found.bayes, "noise": task.noise, "seconds": spent})
        print(f"{name}, {likelihood}, network {seed}: {spent:.0f} s of processor", flush=True)
    return kept[asked]


def judged(over: tuple[float, float], networks: int) -> str:
    """Whether HMC is at most ROOM above the best MALA: for sure where Student's interval of 95% says so."""
    from scipy.stats import t

    mean, error = over
    if networks == 1:
        return "met by one network" if mean <= ROOM else "missed by one network"
    reach = float(t.ppf(0.975, networks - 1)) * error
    if mean + reach <= ROOM:
        return "met for sure"
    return "missed for sure" if mean - reach > ROOM else "met on average" if mean <= ROOM else "missed on average"


def _known(value: float, digits: int = 3) -> float | None:
    """Methods without chains have no R-hat, and one network no standard error."""
    return None if math.isnan(value) else round(float(value), digits)


def as_row(risks: Risks) -> Row:
    """What the file says of one table: means over the networks, with standard errors."""

    def over(best: str, of_gaps: bool) -> Row:
        mean, error = risks.over(HMC, best, of_gaps)
        return {
            "mala": best,
            "mean": round(mean, 5),
            "se": _known(error, 5),
            "bar": judged((mean, error), len(risks.bayes)),
        }

    return {
        "noise": risks.noise,
        "networks": len(risks.bayes),
        "bayes": round(float(risks.bayes.mean()), 4),
        "bayes_se": _known(standard_error(risks.bayes), 4),
        "risk": {way: round(risks.mean(way), 4) for way in risks.risks},
        "risk_se": {way: _known(standard_error(values), 4) for way, values in risks.risks.items()},
        "gap": {way: round(risks.gap(way), 5) for way in risks.risks},
        "gap_se": {way: _known(risks.gap_se(way), 5) for way in risks.risks},
        "r_hat": {way: _known(values.max()) for way, values in risks.r_hats.items()},
        "hmc_less_best_mala": {
            "of_gaps": over(risks.best_mala, True),
            "of_risks": over(min(risks.malas, key=risks.mean), False),
        },
        "doubt": risks.doubt,
    }


def main() -> None:
    options = read_options(
        globals(),
        {"only": ["iris"], "tasks": 1, "rows": 20, "chains": 2, "gradients": 20, "moves": 20},
        one_thread=True,
        csv=option([], "a table of inputs; may be given several times", action="append"),
        uci=option(None, "a folder with files of the UCI repository, see llc_core.networks.data.tables.uci", type=Path),
        only=option([], "names of tables, in place of all six", action="append"),
        tasks=4,
        rows=option(60, "a fifth of them is held out"),
        chains=16,
        gradients=1_000,
        moves=1_500,
        kept=option(None, "a file of rows that are known already, and that are added to", type=Path),
        known=option(False, "measure nothing: only the networks that are in the file of rows"),
        out=option(None, "a file of JSON for the figures", type=Path),
    )
    published = [f"{UCI_SETS}{name}" for name, each in UCI.items() if options.uci and each.path(options.uci).is_file()]
    names = [*(options.only or [*SETS, MUSHROOMS]), *published, *options.csv]
    kept, answers = Kept(options.kept), {}
    cases = [(name, likelihood) for name in names for likelihood in ("gaussian", "laplace")]
    wanted = [(seed, case) for seed in range(options.tasks) for case in cases]
    # All tables with the first network, then all with the next one: what is there can be read before the end.
    rows = {
        (case, seed): row_of(*case, seed, options, kept)
        for seed, case in wanted
        if not options.known or question(*case, seed, options) in kept
    }
    for case in cases:
        found = [rows[case, seed] for seed in range(options.tasks) if (case, seed) in rows]
        if not found:
            continue
        risks = Risks.of([each["rows"] for each in found], [each["bayes"] for each in found], found[0]["noise"])
        answers[f"{Path(case[0]).stem}, {case[1]}"] = as_row(risks)
        print(f"\n{', '.join(case)}\n{risks}", flush=True)
    for kind in ("of_gaps", "of_risks"):
        print(f"\nHMC less the best MALA, {kind.replace('_', ' ')}; bar: at most {ROOM}")
        for name, said in answers.items():
            over = said["hmc_less_best_mala"][kind]
            print(f"{name:26} {over['mean']:+.4f} ± {over['se'] or math.nan:.4f}  {over['bar']} ({over['mala']})")
    if options.out is not None:
        asked = " ".join(f"--{name} {getattr(options, name)}" for name in ("tasks", "rows", "chains"))
        command = f"python -m lab.benchmarks.networks.function_risk {asked}"
        settings = {key: getattr(options, key) for key in ("tasks", "rows", "chains", "gradients", "moves")}
        said = {"command": command, "machine": machine(), "settings": settings, "origin": kept.origin()}
        options.out.write_text(
            json.dumps({**said, "tables": answers}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        )


if __name__ == "__main__":
    main()
