"""Does an ensemble of draws know better than one net what it was never shown? Digits 0–4 within, 5–9 outside.

    python -m lab.benchmarks.networks.ensembles
    python -m lab.benchmarks.networks.ensembles --seeds 3

Each seed splits the digits 0–4 anew, trains an MLP 64-32-5 on four fifths of them, and scores the held-out fifth against all
digits 5–9. Draws come from four SGLD chains that begin at the trained net, under its posterior at temperature 1. Beside them
stand five nets trained from other starts, and logistic regression, what a linear baseline does. Differences are seed by seed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import llc_core
from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from llc_core.ensembles import EnsemblePrediction
from llc_core.ensembles.scores import CalibrationCurve, calibration_curve
from llc_core.networks import build_model, digit_halves, train
from llc_core.networks.data.splits import KNOWN

MLP = {"kind": "mlp", "widths": [64, 32, KNOWN]}
LINEAR = {"kind": "mlp", "widths": [64, KNOWN]}
OTHERS = 4
"""Nets from other starts, beside the first."""
THINNED = 4
BINS = 10
"""Of the calibration curve."""


@dataclass(frozen=True)
class Row:
    """What a method says of the held-out digits within, and of those outside."""

    inside: EnsemblePrediction
    outside: EnsemblePrediction

    def figures(self, targets: Tensor) -> Mapping[str, float]:
        by_entropy = self.inside.against(self.outside)
        return {
            "AUROC": by_entropy.auroc,
            "AUPR": by_entropy.aupr,
            "FPR95": by_entropy.fpr95,
            "AUROC, information": self.inside.against(self.outside, "mutual_information").auroc,
            "accuracy": self.inside.accuracy(targets),
            "NLL": self.inside.negative_log_likelihood(targets),
            "Brier": self.inside.brier(targets),
            "ECE": self.inside.calibration_error(targets),
        }


def rows_of(seed: int, steps: int, localization: float) -> tuple[Mapping[str, Row], Tensor]:
    """Method → what it says, for one split and its nets; and the labels of the held-out digits."""
    halves = digit_halves(seed)
    split, outside = halves.known, halves.foreign

    def trained(description: Mapping[str, object], start: int) -> torch.nn.Module:
        model = build_model(description, start)
        train(model, split, steps=500, seed=start)
        return model

    def said(model: object, draws: object) -> Row:
        return Row(*(llc_core.predictive(model, draws, x) for x in (split.test_inputs, outside)))

    nets = [trained(MLP, 1000 * seed + k) for k in range(1 + OTHERS)]
    problem = llc_core.NetworkPotential(nets[0], "cross_entropy", split.pair)
    run = llc_core.estimate(
        problem, llc_core.SGLD(), chains=4, steps=steps, burn_in=steps // 3, n_beta=float(len(split)),
        localization=localization, seed=seed, observables=[{"name": "WeightDraws", "count": problem.dim}],
    )  # fmt: skip
    draws = run.observables["WeightDraws"]["draws"][::THINNED]
    linear = trained(LINEAR, seed)
    found = {
        "one net": said(nets[0], [nets[0].state_dict()]),
        "sampled ensemble": said(problem, draws),
        "five trained nets": said(nets[0], [net.state_dict() for net in nets]),
        "logistic regression": said(linear, [linear.state_dict()]),
    }
    return found, split.test_targets


def calibration(rows: list[Row], targets: list[Tensor]) -> CalibrationCurve:
    """Of the held-out digits of all splits together, in BINS bins."""
    together = torch.cat([row.inside.probabilities for row in rows])
    return calibration_curve(together, torch.cat(targets), BINS)


def main() -> None:
    options = read_options(
        globals(),
        {"seeds": 1, "steps": 30},
        one_thread=True,
        seeds=10,
        steps=option(1500, "of a chain; a third of them is burn-in"),
        localization=1.0,
        out=option(None, "a file of JSON for the figures", type=Path),
    )
    began = time.process_time()
    found, targets = zip(
        *(rows_of(seed, options.steps, options.localization) for seed in range(options.seeds)), strict=True
    )
    figures = [{m: row.figures(labels) for m, row in each.items()} for each, labels in zip(found, targets, strict=True)]
    names = list(figures[0]["one net"])
    table = {method: np.array([[each[method][name] for name in names] for each in figures]) for method in figures[0]}
    print(f"{options.seeds} seeds, mean ± standard error, {time.process_time() - began:.0f} s of processor")
    print(f"{'':22}" + "".join(f"{name:>20}" for name in names))
    for method, values in table.items():
        show(method, values)
    print("less one net, seed by seed")
    for method, values in table.items():
        if method != "one net":
            show(method, values - table["one net"])
            better = int((values[:, 0] > table["one net"][:, 0]).sum())
            print(f"{'':22}AUROC above one net's on {better} of {options.seeds} splits")
    curves = {method: calibration([each[method] for each in found], list(targets)) for method in table}
    if options.out is not None:
        kept = {
            "command": f"python -m lab.benchmarks.networks.ensembles --seeds {options.seeds} --steps {options.steps} --out {options.out}",
            "machine": machine(),
            "seeds": options.seeds,
            "figures": names,
            "methods": {method: _mean_and_se(values) for method, values in table.items()},
            "AUROC of each seed": {method: values[:, 0].round(4).tolist() for method, values in table.items()},
            "calibration": {
                method: {
                    "confidence": curve.confidence.round(4).tolist(),
                    "accuracy": curve.accuracy.round(4).tolist(),
                    "digits": curve.counts.astype(int).tolist(),
                }
                for method, curve in curves.items()
            },
            "less one net": {method: _mean_and_se(values - table["one net"]) for method, values in table.items()},
        }
        options.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def _mean_and_se(values: np.ndarray) -> dict[str, list[float]]:
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.zeros(values.shape[1])
    return {"mean": values.mean(axis=0).round(4).tolist(), "se": error.round(4).tolist()}


def show(name: str, values: np.ndarray) -> None:
    mean = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full_like(mean, np.nan)
    print(f"{name:22}" + "".join(f"{f'{m:.4f} ± {e:.4f}':>20}" for m, e in zip(mean, error, strict=True)))


if __name__ == "__main__":
    main()
