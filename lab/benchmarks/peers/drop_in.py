"""`llc_core.compat.devinterp` beside devinterp 1.3.2 itself: the same call, in one process, on three small models.

python -m lab.benchmarks.peers.drop_in [--runs 5] [--chains 8] [--draws 1000] [--cache FOLDER]

devinterp is imported in this process where it is installed; else in an environment with both, made under the cache folder on the
first run. Each run of each side has a seed of its own. What is printed: llc/mean of the runs, their gap, and the standard error of
one run's gap, from the spread over chains.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from lab.benchmarks.command import read_options
from lab.benchmarks.peers.programs import CACHE, DEVINTERP, environment
from llc_core.compat import devinterp as ours

ENGINE = ("numpy", "scipy", "arviz-stats", "numba", "threadpoolctl")
"""What the engine takes beside torch."""
ROWS = 1000


class Case(NamedTuple):
    """criterion: of output and target.  settings: optimizer_kwargs."""

    name: str
    module: nn.Module
    data: TensorDataset
    criterion: Callable[..., Any]
    settings: dict[str, float]


def trained(module: nn.Module, x: torch.Tensor, y: torch.Tensor, criterion: Callable[..., Any], decay: float) -> None:
    """At a minimum of the loss with a little weight decay, by LBFGS."""
    step = torch.optim.LBFGS(module.parameters(), max_iter=500, line_search_fn="strong_wolfe", tolerance_grad=1e-9)

    def closure() -> torch.Tensor:
        step.zero_grad()
        loss = criterion(module(x), y) + decay * sum(p.square().sum() for p in module.parameters())
        loss.backward()
        return loss

    step.step(closure)


def cases() -> list[Case]:
    torch.manual_seed(0)
    n_beta = ROWS / math.log(ROWS)
    x, linear = torch.randn(ROWS, 8), nn.Linear(8, 3)
    y = (linear(x) + 0.5 * torch.randn(ROWS, 3)).detach()
    trained(linear, x, y, F.mse_loss, 0.0)
    found = [
        Case(
            "linear 8→3, mse",
            linear,
            TensorDataset(x, y),
            F.mse_loss,
            {"lr": 1e-3, "nbeta": n_beta, "localization": 1.0},
        )
    ]
    deep = nn.Sequential(nn.Linear(6, 4, bias=False), nn.Linear(4, 6, bias=False))
    x = torch.randn(ROWS, 6)
    y = (deep(x) + 0.5 * torch.randn(ROWS, 6)).detach()
    trained(deep, x, y, F.mse_loss, 0.0)
    settings = {"lr": 1e-3, "nbeta": n_beta, "localization": 1.0, "weight_decay": 2.0}
    found.append(Case("deep linear 6-4-6, mse, weight decay", deep, TensorDataset(x, y), F.mse_loss, settings))
    net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 3))
    x = torch.randn(ROWS, 10)
    labels = torch.distributions.Categorical(logits=2 * nn.Linear(10, 3)(x).detach()).sample()
    trained(net, x, labels, F.cross_entropy, 1e-3)
    settings = {"lr": 2e-3, "nbeta": n_beta, "localization": 10.0}
    found.append(Case("10-16-3 tanh, cross entropy", net, TensorDataset(x, labels), F.cross_entropy, settings))
    return found


def runs(side: Any, case: Case, options: argparse.Namespace) -> tuple[torch.Tensor, float]:
    """λ̂ of every chain [runs, chains], and the seconds they took."""
    rows, begin = [], time.perf_counter()
    with torch.no_grad():
        at_w0 = float(case.criterion(case.module(case.data.tensors[0]), case.data.tensors[1]))
    for seed in range(options.runs):
        found = side.estimate_learning_coeff_with_summary(
            case.module,
            DataLoader(case.data, 100, shuffle=True),
            evaluate=side.make_evaluate(case.criterion),
            optimizer_kwargs=dict(case.settings),
            num_draws=options.draws,
            num_chains=options.chains,
            num_burnin_steps=options.draws // 2,
            init_loss=at_w0,
            seed=seed,
            verbose=False,
        )
        rows.append([found[f"llc-chain/{i}"] for i in range(options.chains)])
    return torch.tensor(rows), time.perf_counter() - begin


def compare(options: argparse.Namespace) -> None:
    from devinterp.slt import sampler as theirs
    from devinterp.utils import make_evaluate

    theirs.make_evaluate = make_evaluate
    print(f"{options.runs} runs of {options.chains} chains × {options.draws} draws, batch 100 of {ROWS}")
    print(
        "model | ours | devinterp | gap of the means | standard error of one run's gap | gaps of single runs, in these | seconds"
    )
    for case in cases():
        (mine, my_time), (other, other_time) = (runs(side, case, options) for side in (ours, theirs))
        error = math.sqrt((mine.var(1).mean() + other.var(1).mean()) / options.chains)
        gaps = mine.mean(1) - other.mean(1)
        single = ", ".join(f"{gap / error:+.1f}" for gap in gaps)
        print(
            f"{case.name} | {mine.mean():.3f} | {other.mean():.3f} | {gaps.mean():+.3f} | {error:.3f} | {single} | "
            f"{my_time:.0f}, {other_time:.0f}"
        )


def main() -> None:
    options = read_options(
        globals(),
        {"runs": 1, "chains": 2, "draws": 4},
        one_thread=True,
        runs=5,
        chains=8,
        draws=1000,
        cache=CACHE / "llc-lab-drop-in",
    )
    warnings.simplefilter("ignore")
    if find_spec("devinterp") is not None:
        compare(options)
    else:
        python = str(environment(options.cache, (*ENGINE, *DEVINTERP)))
        sys.exit(subprocess.run([python, "-m", "lab.benchmarks.peers.drop_in", *sys.argv[1:]], check=False).returncode)


if __name__ == "__main__":
    main()
