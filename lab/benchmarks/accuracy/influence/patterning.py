"""Patterning: whether weights of rows move a mean by what is asked, exactly known for regressions, and as resampled for a deep linear network.

    python -m lab.benchmarks.accuracy.influence.patterning        a quarter of an hour of one core

Beside it what is usual, a pseudo-inverse of slopes of first order, chosen and believed on the same draws; and what the same weights
change at the least loss, where the network is trained again and not sampled.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch
from torch import nn

from lab.benchmarks.command import read_options
from lab.benchmarks.smoke import status
from llc_core import (
    HMC,
    Estimate,
    LinearLosses,
    NetworkPotential,
    estimate,
    linear_losses,
    moving_only,
    patterning,
    susceptibilities,
    with_rows,
)
from llc_core.diagnostics.convergence import mean_error
from llc_core.studies.covariances.draws import RowDraws, row_draws

CASES = ((80, 3), (100, 20))
"""Rows and weights of the regressions."""
COUNTS = (400, 4000)
SHARES = (0.02, 0.05, 0.1)
"""By how much the loss of the first probe is to rise and that of the second to fall."""
COVER = (0.92, 0.98)
LAYERS = {"first": "0.*", "second": "1.*"}
ROWS = 200
RUN: dict[str, Any] = {
    "chains": 64,
    "steps": 1000,
    "burn_in": 100,
    "localization": 1.0,
    "dtype": "float64",
    "progress": False,
}
SAMPLER = HMC(step_size=0.05, leapfrog_steps=8)
ASKED = ({"first": 0.05, "second": 0.0}, {"first": 0.0, "second": 0.05}, {"first": -0.05, "second": -0.05})
"""Shares of the excess loss of each layer alone."""


def main() -> None:
    small = {"seeds": 3, "COUNTS": (400,), "ROWS": 40, "RUN": {**RUN, "chains": 8, "steps": 200}}
    options = read_options(globals(), small, one_thread=True, seeds=100)
    fine = [exactly(rows, dim, options.seeds) for rows, dim in CASES]
    raise SystemExit(status(not all([*fine, deep()])))


def exactly(rows: int, dim: int, seeds: int) -> bool:
    """Changes of two losses by weights from independent draws, over what is wanted."""
    exact, probes = regression(rows, dim)
    print(
        f"\n{rows} rows, {dim} weights: change over what is wanted, mean over {seeds} seeds, of two losses of probe rows"
    )
    print(
        f"{'share':>6} {'draws':>6} {'patterning':>32} {'± 2 cover':>11} {'carrying':>9} {'trained again':>32} {'first order, same draws':>32} {'refused':>8}"
    )
    covered = []
    for share in SHARES:
        wanted = share * np.array([1, -1]) * exact.expected(probes)
        for count in COUNTS:
            got, usual, again, off, carrying = [], [], [], [], []
            for seed in range(seeds):
                kept, phi = drawn(exact, probes, count, seed)
                usual.append(moved(exact, first_order(kept, phi, wanted), probes) / wanted)
                try:
                    found = patterning(kept, wanted, phi)
                except ValueError:
                    continue
                change = moved(exact, found.weights, probes)
                got.append(change / wanted)
                again.append(trained_again(exact, found.weights, probes) / wanted)
                off.append(np.abs(change - wanted) < 2 * found.se)
                carrying.append(found.carrying)
            line = f"{share:>6.0%} {count:>6} {said(got):>32} {np.mean(off):>11.1%} {np.mean(carrying):>9.0%} {said(again):>32}"
            print(f"{line} {said(usual):>32} {seeds - len(got):>8}", flush=True)
            covered += off
    share, error = float(np.mean(covered)), float(np.std(np.mean(covered, axis=1)) / np.sqrt(len(covered)))
    print(f"± 2 errors cover {share:.1%} ± {error:.1%} of all")
    return COVER[0] <= share <= COVER[1]


def regression(rows: int, dim: int) -> tuple[LinearLosses, tuple[np.ndarray, np.ndarray]]:
    """The exact posterior, and two probe rows."""
    rng = np.random.default_rng(dim)
    x, truth, x_new = rng.standard_normal((rows, dim)), rng.standard_normal(dim), rng.standard_normal((2, dim))
    exact = linear_losses(x, x @ truth + 0.5 * rng.standard_normal(rows))
    return exact, (x_new, x_new @ truth + np.array([1.0, -1.0]))


def said(ratios: list[np.ndarray]) -> str:
    means, errors = np.mean(ratios, axis=0), np.std(ratios, axis=0) / np.sqrt(len(ratios))
    return ", ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in zip(means, errors, strict=True))


def drawn(exact: LinearLosses, probes: Any, count: int, seed: int, chains: int = 8) -> tuple[RowDraws, np.ndarray]:
    """Losses of the rows, and of the probes, [T, C, …]."""
    losses = exact.draws(count, seed, probes).reshape(chains, count // chains, -1).swapaxes(0, 1)
    kept = row_draws(losses[:, :, : len(exact.y)])
    return replace(kept, beta=exact.beta, n_beta=exact.n_beta), losses[:, :, len(exact.y) :]


def moved(exact: LinearLosses, weights: np.ndarray, probes: Any) -> np.ndarray:
    """What the weights do, exactly."""
    return replace(exact, weights=weights).expected(probes) - exact.expected(probes)


def trained_again(exact: LinearLosses, weights: np.ndarray, probes: Any) -> np.ndarray:
    """The change of the probes' losses at the least loss, where there is no posterior around it."""
    x, y = probes
    root = np.sqrt(weights)
    fits = [np.linalg.lstsq(u[:, None] * exact.x, u * exact.y)[0] for u in (np.ones_like(root), root)]
    before, after = ((y - x @ w) ** 2 for w in fits)
    found: np.ndarray = after - before
    return found


def first_order(kept: RowDraws, phi: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """1 + χ⁺·wanted with all draws, whose sum is kept."""
    off = phi - phi.mean(axis=(0, 1))
    slopes = -kept.beta * np.einsum("tcq,tcr->qr", off, kept.of_rows) / off[:, :, 0].size
    slopes -= slopes.mean(axis=1, keepdims=True)
    found: np.ndarray = 1 + np.linalg.pinv(slopes) @ wanted
    return found


def deep() -> bool:
    """A deep linear network [4, 3, 4] at its minimum: each layer alone, before and with the weights."""
    module, x, y = linear_network()
    problem, before = layers_alone(module, x, y, **RUN)
    print(f"\n[4, 3, 4], {ROWS} rows, each layer alone: change of nβ·E[L − L(w0)] of the data as they are")
    fine = True
    for asked in ASKED:
        wanted = {name: share * before[name].llc / problem.n_beta for name, share in asked.items()}
        found = patterning(before, wanted)
        print(
            f"weights from {found.weights.min():.2f} to {found.weights.max():.2f}, {found.carrying:.0%} of the draws carry them"
        )
        weights = torch.as_tensor(found.weights)
        heavier = NetworkPotential(module, "squared_error", (x, y), sample_weights=weights)
        for at, name in enumerate(LAYERS):
            after, mean, noise = resampled(heavier, name, x, y, problem, before, **RUN)
            change, error, want, se = (
                problem.n_beta * each for each in (mean - found.before[at], noise, wanted[name], found.se[at])
            )
            fine = fine and bool(abs(change - want) < 3 * np.hypot(error, se))
            again = deepcopy(module)
            learned(again, x, y, weights, LAYERS[name])
            least = problem.n_beta * (float(squares(again, x, y).detach().mean()) - problem.baseline_loss)
            line = f"  {name:>7}: wanted {want:+.3f} ± {se:.3f}, resampled {change:+.3f} ± {error:.3f}, trained again {least:+.3f}"
            own = f"λ̂ {before[name].llc:.3f} ± {before[name].llc_se:.3f}, with the weights {after.llc:.3f} ± {after.llc_se:.3f}"
            print(f"{line}; {own}", flush=True)
    return fine


def linear_network() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """[4, 3, 4] at the least loss of ROWS rows, inputs and targets."""
    torch.manual_seed(0)
    x = torch.randn(ROWS, 4, dtype=torch.float64)
    y = x @ (torch.randn(4, 2).double() @ torch.randn(2, 4).double()) / 2 + 0.3 * torch.randn(ROWS, 4).double()
    module = nn.Sequential(nn.Linear(4, 3, bias=False), nn.Linear(3, 4, bias=False)).double()
    learned(module, x, y, torch.ones(ROWS, dtype=torch.float64))
    return module, x, y


def squares(module: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = (module(x) - y).square().sum(1)
    return found


def learned(module: nn.Module, x: torch.Tensor, y: torch.Tensor, weights: torch.Tensor, part: str = "*") -> None:
    """To the least loss of rows with weights, where `part` alone moves."""
    moving = [w for name, w in module.named_parameters() if fnmatchcase(name, part)]
    optimizer = torch.optim.LBFGS(moving, max_iter=500)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        found = (weights * squares(module, x, y)).mean()
        found.backward()
        return found

    optimizer.step(loss)


def layers_alone(
    module: nn.Module, x: torch.Tensor, y: torch.Tensor, **run: Any
) -> tuple[NetworkPotential, Mapping[str, Estimate]]:
    """The network with its data, and a run of each layer with the losses of all rows."""
    problem = NetworkPotential(module, "squared_error", (x, y))
    return problem, susceptibilities(problem, LAYERS, list(range(len(x))), SAMPLER, every=2, most=4096, **run).estimates


def resampled(
    heavier: NetworkPotential, name: str, x: Any, y: Any, problem: NetworkPotential, before: Any, **run: Any
) -> tuple[Estimate, float, float]:
    """A run of one layer with the weights, its mean of L − L(w0) of the data as they are, and the error of this less that before."""
    there = moving_only(heavier, LAYERS[name])
    watched = [{"name": "RowLosses", "rows": [0], "every": 2, "most": 4096}]
    after: Estimate = estimate(
        there, SAMPLER, observable=with_rows(there, (x, y)), observables=watched, n_beta=problem.n_beta, seed=1, **run
    )
    losses = row_draws(after).of_probes.mean(axis=2) - problem.baseline_loss
    known = before[name].observables["LossDraws"]["draws"]
    errors = [mean_error(each.mean(axis=0), each).se for each in (losses, known)]
    return after, float(losses.mean()), float(np.hypot(*errors))


if __name__ == "__main__":
    main()
