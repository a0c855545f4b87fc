"""Residual networks on pictures: accuracy, NLL, Brier score, calibration, and whether foreign pictures are noticed. A file per table.

    python -m lab.benchmarks.accuracy.pictures lab/sweeps/pictures/cifar100.toml --size small
    python -m lab.benchmarks.accuracy.pictures lab/sweeps/pictures/cifar100.toml --size paper --folder DATA --outside DATA --device cuda

"small": narrow copies of the networks on scikit-learn's digits, 0 to 4 within and 5 to 9 outside. "paper": the networks of Deng et al.
2022 on CIFAR with SVHN outside; their files must lie in the folders, and nothing was measured at that size here. Chains begin at the
trained net, so they sample around it and are not the paper's runs of 500 epochs from a random start.
"""

from __future__ import annotations

import argparse
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import llc_core
from lab.benchmarks.accuracy.ensembles import halves
from lab.benchmarks.machine import machine
from llc_core.ensembles import EnsemblePrediction, RunningPrediction
from llc_core.networks import PUBLISHED, Split, build_model, cifar10, cifar100, svhn, train

CHAINS_BY = ("SGLD", "SGHMC")
METHODS = ("one net", "five nets", *CHAINS_BY)
DATA = {"cifar10": (cifar10, 10), "cifar100": (cifar100, 100)}
NETS, CHAINS, EVERY = 5, 2, 5


@dataclass(frozen=True)
class Table:
    """What is compared. data: of DATA, at the paper's size."""

    data: str
    networks: tuple[str, ...]
    methods: tuple[str, ...]


def read_table(path: Path) -> Table:
    """ValueError with one sentence for what is no table."""
    try:
        given = tomllib.loads(path.read_text())
        table = Table(str(given.pop("data")), tuple(given.pop("networks")), tuple(given.pop("methods")))
    except (OSError, KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path.name} is no table of pictures ({error}); it has data, networks and methods.") from None
    for name, known, values in (
        ("data", DATA, (table.data,)),
        ("networks", PUBLISHED, table.networks),
        ("methods", METHODS, table.methods),
        ("keys", (), tuple(given)),
    ):
        wrong = [value for value in values if value not in known]
        if wrong:
            raise ValueError(f"{path.name} has {wrong[0]!r} among its {name}; choose of {', '.join(known) or 'none'}.")
    return table


@dataclass(frozen=True)
class Task:
    """split: what is learned.  outside: inputs of another kind.  classes: of `split`."""

    split: Split
    outside: Tensor
    classes: int


def task_of(table: Table, options: argparse.Namespace) -> Task:
    if options.size == "small":
        split, outside = halves(options.seed)
        return Task(split, outside, 5)
    if options.folder is None or options.outside is None:
        raise ValueError("folder and outside are not given; name the folders of CIFAR and of SVHN.")
    load, classes = DATA[table.data]
    return Task(load(options.folder), svhn(options.outside).test_inputs, classes)


def said(
    method: str, model: Mapping[str, Any], task: Task, options: argparse.Namespace
) -> tuple[EnsemblePrediction, EnsemblePrediction]:
    """What a method says of the held-out pictures and of those outside."""
    split = task.split

    def trained(seed: int) -> torch.nn.Module:
        net = build_model(model, seed)
        train(net, split, "Adam", steps=options.train_steps, seed=seed)
        return net

    nets = [trained(100 * options.seed + k) for k in range(NETS if method == "five nets" else 1)]
    if method not in CHAINS_BY:
        draws = [net.state_dict() for net in nets]
        inside, outside = (llc_core.predictive(nets[0], draws, x) for x in (split.test_inputs, task.outside))
        return inside, outside
    problem = llc_core.NetworkPotential(nets[0], "cross_entropy", split.pair)
    config = llc_core.RunConfig(
        sampler={"name": method}, chains=CHAINS, steps=options.steps, burn_in=options.steps // 3, batch_size=64,
        n_beta=len(split) / options.temperature, localization=1.0, seed=options.seed, device=options.device,
    )  # fmt: skip
    run = llc_core.run(config, problem)
    both = RunningPrediction(), RunningPrediction()
    run.advance(options.steps // 3)
    while not run.finished:
        run.advance(EVERY)
        for running, inputs in zip(both, (split.test_inputs, task.outside), strict=True):
            running.add(problem, run.displacements, inputs)
    return both[0].prediction, both[1].prediction


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--size", choices=("small", "paper"), default="small")
    parser.add_argument("--networks", help="some of the table's, with commas between them")
    parser.add_argument("--folder", type=Path, help="of CIFAR's binary files")
    parser.add_argument("--outside", type=Path, help="of SVHN's files")
    parser.add_argument("--train-steps", type=int, default=300)
    parser.add_argument("--steps", type=int, default=150, help="of a chain; a third of them is burn-in")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = read_table(options.table)
    task = task_of(table, options)
    print(machine())
    print(
        f"{task.split.name}, {options.size}, {options.train_steps} steps of training, {options.steps} of {CHAINS} chains"
    )
    print(f"{'':30}{'accuracy':>10}{'NLL':>9}{'Brier':>9}{'ECE':>9}{'AUROC':>9}{'processor s':>13}")
    for name in options.networks.split(",") if options.networks else table.networks:
        model = PUBLISHED[name].model(options.size, task.classes)
        for method in table.methods:
            began = time.process_time()
            inside, outside = said(method, model, task, options)
            targets = task.split.test_targets
            figures = (
                inside.accuracy(targets), inside.negative_log_likelihood(targets), inside.brier(targets),
                inside.calibration_error(targets), inside.against(outside).auroc,
            )  # fmt: skip
            cells = f"{figures[0]:10.3f}" + "".join(f"{value:9.3f}" for value in figures[1:])
            print(f"{f'{name}, {method}':30}{cells}{time.process_time() - began:13.1f}", flush=True)


if __name__ == "__main__":
    main()
