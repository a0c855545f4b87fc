"""Covariances of losses beside linear regressions in closed form: kernel, influence, susceptibilities, and how their errors cover.

    python -m lab.benchmarks.accuracy.influence.covariances        100 seeds; a quarter of an hour of one core

Independent draws and autoregressive chains tell of the estimators alone; HMC on the same regression of the whole way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from lab.benchmarks.command import option, read_options
from lab.benchmarks.smoke import status
from llc_core import (
    HMC,
    Estimate,
    LinearLosses,
    NetworkPotential,
    estimate,
    influence,
    linear_losses,
    loss_kernel,
    susceptibilities,
    with_rows,
)

DIMS = (2, 3, 5, 10)
JUDGED = 3
"""The number of weights at which the bars are judged: the error of any estimate from N draws grows as √(1 + weights)."""
COUNTS = {500: 0.10, 8000: 0.04}
ROWS = 200
QUERIES = 8
KEEP = 0.8
"""Correlation of one draw with the next in the autoregressive chains: nine draws count as one."""
STEPS = 4000
RUN: dict[str, Any] = {
    "chains": 16,
    "steps": 600,
    "burn_in": 100,
    "localization": 1.0,
    "dtype": "float64",
    "progress": False,
}
SAMPLER = HMC(step_size=0.08, leapfrog_steps=6)
COVER = (0.92, 0.98)


def main() -> None:
    small = {"seeds": 2, "runs": 1, "DIMS": (JUDGED,), "ROWS": 30, "STEPS": 100}
    options = read_options(
        globals(),
        {**small, "RUN": {**RUN, "steps": 60, "burn_in": 20}},
        one_thread=True,
        seeds=100,
        runs=option(100, "of HMC"),
    )
    fine = [
        kernels(options.seeds),
        left_out(),
        coverage("autoregressive chains", lambda seed: chains(regression(JUDGED), seed), options.seeds),
        coverage("independent draws", lambda seed: independent(regression(JUDGED), 8000, seed), options.seeds),
        one_run(),
        runs(options.runs),
        parts(options.runs),
    ]
    raise SystemExit(status(not all(fine)))


def regression(dim: int) -> LinearLosses:
    rng = np.random.default_rng(dim)
    x = rng.standard_normal((ROWS, dim))
    return linear_losses(x, x @ rng.standard_normal(dim) + 0.5 * rng.standard_normal(ROWS))


def queries(dim: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(100 + dim)
    return rng.standard_normal((QUERIES, dim)), rng.standard_normal(QUERIES)


def independent(exact: LinearLosses, count: int, seed: int) -> np.ndarray:
    """[T, 4, rows + queries]."""
    losses = exact.draws(count, seed, queries(len(exact.mean)))
    return losses.reshape(4, -1, losses.shape[1]).swapaxes(0, 1)


def chains(exact: LinearLosses, seed: int) -> np.ndarray:
    """The same along four chains whose weights remember the last draw."""
    rng, root = np.random.default_rng(seed), np.linalg.cholesky(exact.covariance)
    x, y = (np.concatenate(pair) for pair in zip((exact.x, exact.y), queries(len(exact.mean)), strict=True))
    z = rng.standard_normal((4, len(exact.mean)))
    found = []
    for _ in range(STEPS):
        z = KEEP * z + np.sqrt(1 - KEEP**2) * rng.standard_normal(z.shape)
        found.append((y - (exact.mean + z @ root.T) @ x.T) ** 2)
    return np.array(found)


def off(values: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(values - truth) / np.linalg.norm(truth))


def kernels(seeds: int) -> bool:
    print(
        "\nLoss kernel: relative Frobenius error, mean over seeds; its own error beside; nβ²·Var(L_n) against the exact one"
    )
    print(
        f"{'weights':>7} {'draws':>6} {'error':>7} {'worst':>7} {'said':>7} {'√((1+d)/N)':>10} {'variance':>9} {'bar':>5}"
    )
    fine = True
    for dim in DIMS:
        exact = regression(dim)
        truth = exact.kernel()
        effective = np.trace(truth) ** 2 / (truth**2).sum()
        for count, bar in COUNTS.items():
            found = [loss_kernel(independent(exact, count, seed)[:, :, :ROWS]) for seed in range(min(seeds, 20))]
            errors = [off(each.values, truth) for each in found]
            said = np.mean([each.relative_error for each in found])
            ratio = np.mean([each.values.mean() for each in found]) / exact.loss_variance - 1
            line = f"{dim:>7} {count:>6} {np.mean(errors):>7.1%} {max(errors):>7.1%} {said:>7.1%}"
            print(
                f"{line} {np.sqrt((1 + effective) / count):>10.1%} {ratio:>+9.1%} {bar if dim == JUDGED else '':>5}",
                flush=True,
            )
            fine = fine and (dim != JUDGED or float(np.mean(errors)) <= bar)
    return fine


def left_out() -> bool:
    from scipy.stats import spearmanr

    print(
        "\nInfluence on the losses of queries beside posteriors made anew without each row: rank correlation, least over queries"
    )
    fine = True
    for dim in DIMS:
        exact, asked = regression(dim), queries(dim)
        truth, draws = exact.left_out(asked), independent(exact, 8000, 0)
        found = influence(draws[:, :, :ROWS], draws[:, :, ROWS:])
        ranks = [
            min(spearmanr(-a, b).statistic for a, b in zip(each, truth, strict=True))
            for each in (exact.influence(asked), found.values)
        ]
        print(f"{dim:>7} weights: {ranks[0]:.4f} exactly, {ranks[1]:.4f} from 8,000 draws", flush=True)
        fine = fine and min(ranks) >= 0.95
    return fine


def within(values: np.ndarray, se: np.ndarray, truth: np.ndarray) -> float:
    return float((np.abs(values - truth) <= 2 * se).mean())


def coverage(name: str, make: Callable[[int], np.ndarray], seeds: int) -> bool:
    exact = regression(JUDGED)
    asked = queries(JUDGED)
    some = slice(0, ROWS, max(1, ROWS // 20))
    shares, units = [], []
    for seed in range(seeds):
        draws = make(seed)
        kernel, found = loss_kernel(draws[:, :, :ROWS][:, :, some]), influence(draws[:, :, :ROWS], draws[:, :, ROWS:])
        shares.append(
            (
                within(kernel.values, kernel.se, exact.kernel()[some, some]),
                within(found.values, found.se, exact.influence(asked)),
            )
        )
        units.append(kernel.by)
    return _said(f"{name} ({max(set(units), key=units.count)})", np.array(shares), ("kernel", "influence"))


def _said(name: str, shares: np.ndarray, names: tuple[str, ...]) -> bool:
    means = shares.mean(axis=0)
    errors = shares.std(axis=0) / np.sqrt(len(shares))
    print(f"\n± 2 errors cover, {len(shares)} seeds of {name}:")
    for each, mean, error in zip(names, means, errors, strict=True):
        print(f"  {each:<22} {mean:.1%} ± {error:.1%}", flush=True)
    return bool(((means >= COVER[0]) & (means <= COVER[1])).all())


def network(x: np.ndarray, y: np.ndarray, w0: np.ndarray) -> NetworkPotential:
    module = nn.Linear(x.shape[1], 1, bias=False).double()
    with torch.no_grad():
        module.weight.copy_(torch.as_tensor(w0))
    return NetworkPotential(module, "squared_error", (torch.as_tensor(x), torch.as_tensor(y)[:, None]))


def batch(rows: tuple[np.ndarray, np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.as_tensor(rows[0]), torch.as_tensor(rows[1])[:, None]


def exact_network() -> tuple[NetworkPotential, NetworkPotential, LinearLosses]:
    """The judged regression as a network, its queries as probe rows, and what is exact."""
    start = regression(JUDGED)
    problem = network(start.x, start.y, start.mean)
    exact = linear_losses(start.x, start.y, problem.n_beta, 1.0, start.mean)
    return problem, with_rows(problem, batch(queries(JUDGED))), exact


def one_run() -> bool:
    """With all rows, and the singular fluctuation beside."""
    problem, _, exact = exact_network()
    watched = [{"name": "RowLosses", "every": 1, "most": 4096}]
    found: Estimate = estimate(problem, SAMPLER, observables=watched, functional_variance=1, **RUN)
    kernel = loss_kernel(found)
    error, apart = (
        off(kernel.values, exact.kernel()),
        kernel.beta / 2 * np.trace(kernel.values) / found.singular_fluctuation - 1,
    )
    print(f"\nHMC, {JUDGED} weights: kernel off by {error:.1%} at {kernel.effective_draws:,.0f} effective draws")
    print(f"  β/2·trace of the kernel over ν̂ of FunctionalVariance, less 1: {apart:.1e}", flush=True)
    return error <= COUNTS[8000] and abs(apart) < 1e-10


def runs(count: int) -> bool:
    problem, probes, exact = exact_network()
    some = list(range(0, ROWS, max(1, ROWS // 20)))
    kept = {"every": 1, "most": 4096}
    watched = [{"name": "RowLosses", "rows": some, **kept}, {"name": "LossDraws", **kept}]
    truth, of_queries = exact.kernel()[np.ix_(some, some)], exact.influence(queries(JUDGED))[:, some]
    shares, variances = [], []
    for seed in range(count):
        found: Estimate = estimate(problem, SAMPLER, observable=probes, observables=watched, seed=seed, **RUN)
        kernel, of_rows, rows = loss_kernel(found), influence(found), slice(0, len(some))
        shares.append(
            (
                within(kernel.values[rows, rows], kernel.se[rows, rows], truth),
                within(of_rows.values, of_rows.se, of_queries),
            )
        )
        variances.append(found.n_beta**2 * found.observables["LossDraws"]["draws"].var())
    fine = _said("HMC", np.array(shares), ("kernel", "influence"))
    exactly = problem.n_beta**2 * exact.loss_variance
    ratio, error = np.mean(variances) / exactly - 1, np.std(variances) / exactly
    print(
        f"  nβ²·Var(L_n) = {np.mean(variances):.4f} over all runs, exactly {exactly:.4f} ({ratio:+.2%}); one run: ± {error:.1%}"
    )
    return fine and bool(abs(ratio) < 0.05)


def parts(count: int) -> bool:
    """The data never show the third input: its weight moves freely, so that a probe of it is not touched by what binds the part."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, 4))
    x[:, 2] = 0
    y = x @ np.array([1.0, -0.5, 0.3, 0.2]) + 0.5 * rng.standard_normal(ROWS)
    w0 = linear_losses(x, y).mean
    probes = np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.5, 0.0], [0.0, 0.0, 0.0, 2.0]]), np.array([0.3, -0.2, 0.8])
    problem, places = network(x, y, w0), [0, 1, 2]
    made = linear_losses(x[:, places], y - x[:, 3] * w0[3], problem.n_beta, 1.0, w0[places])
    added = -problem.n_beta * made.kernel((probes[0][:, places], probes[1] - probes[0][:, 3] * w0[3])).mean(axis=0)
    truth = added + problem.n_beta * made.loss_variance
    moving = {"first": {"weight": torch.tensor([[True, True, True, False]])}}
    shares, zero, exactly = [], [], True
    for seed in range(count):
        found = susceptibilities(problem, moving, batch(probes), SAMPLER, every=1, most=4096, seed=seed, **RUN)
        shares.append(
            (within(found.values, found.se, truth), within(found.added[:, :2], found.added_se[:, :2], added[:2]))
        )
        zero.append(bool(abs(found.added[0, 1]) <= 2 * found.added_se[0, 1]))
        exactly = exactly and found.added[0, 2] == 0.0
    fine = _said("HMC, a part of 3 weights", np.array(shares), ("susceptibility", "what a probe adds"))
    print(f"  a probe that the part's loss does not see adds 0 within 2 errors in {np.mean(zero):.0%} of the runs")
    print(f"  a probe that does not hang on the part adds 0 exactly: {exactly}")
    return fine and float(np.mean(zero)) >= COVER[0] and exactly


if __name__ == "__main__":
    main()
