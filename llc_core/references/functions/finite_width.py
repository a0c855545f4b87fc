"""The exact posterior over functions of a network of finite width."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.diagnostics.convergence import ess as effective_size
from llc_core.potentials.bayesian.collapsed import CollapsedChains, features
from llc_core.potentials.bayesian.network import BayesianNetwork, checked_inputs
from llc_core.references.functions.mixture import Mixture
from llc_core.references.functions.nngp import need_gaussian

LEAST_ESS = 400
NEGLIGIBLE = 25.0
"""Draws whose log weight is this far below the best are left out: all together they weigh less than 10⁻⁶."""
NUMBERS = 30_000_000
"""Of all covariances together, at most."""
PART = 250
PILOT = 1_000
CHAINS, EVERY = 64, 10
BURN_IN_SHARE = 0.25


def finite_width(
    problem: BayesianNetwork,
    inputs: Any,
    draws: int = 20_000,
    *,
    method: str = "auto",
    moves: int = 3_000,
    seed: int = 0,
) -> Mixture:
    """The posterior of f at `inputs` [P, d] (or [P], where d = 1) for the width that `problem` has.

    Given the hidden layers f is Gaussian, so that the posterior is a mixture of Gaussians over draws of the hidden layers from
    the prior, each weighted by its evidence p(y | hidden layers).
    method: "importance" is that, and refuses with a ValueError where the draws are worth fewer than 400; "chains" moves the
    hidden layers by collapsed pCN, `moves` times in 64 chains, and has no evidence; "auto" takes the first that holds.
    Raises ValueError for a likelihood that is not Gaussian, and where P² covariances of so many draws have no room.
    Source: own derivation; the output layer is reparametrised as in Hron et al. 2022.
    """
    need_gaussian(problem)
    if method not in ("auto", "importance", "chains"):
        raise ValueError(f"method is {method!r:.60}; choose one of auto, importance, chains.")
    at = torch.from_numpy(checked_inputs(inputs, problem.widths[0]))
    if method == "importance" or (method == "auto" and _promising(problem, at, draws, seed)):
        found = _importance(problem, at, draws, seed)
        if found.ess >= LEAST_ESS:
            return found
        if method == "importance":
            raise ValueError(
                f"{draws:,} draws of the prior are worth only {found.ess:.0f} of the posterior, and {LEAST_ESS} are needed; use "
                "method='chains' or more draws."
            )
    return _chains(problem, at, moves, seed)


def _promising(problem: BayesianNetwork, at: Tensor, draws: int, seed: int) -> bool:
    """Whether a few draws let hope that all of them are worth enough."""
    few = min(PILOT, draws)
    return _importance(problem, at[:1], few, seed).ess * draws / few >= LEAST_ESS


def _importance(problem: BayesianNetwork, at: Tensor, draws: int, seed: int) -> Mixture:
    logs: list[np.ndarray] = []
    means: list[tuple[np.ndarray, ...]] = []
    best = -math.inf
    kept_numbers = 0
    for v in _prior_draws(problem, draws, seed):
        evidence, mean, factor = _given_hidden(problem, v, at)
        logs.append(evidence)
        best = max(best, float(evidence.max()))
        good = evidence > best - NEGLIGIBLE
        means.append((evidence[good], mean[good], factor[good]))
        kept_numbers += int(good.sum()) * len(at) ** 2
        _room(kept_numbers, draws)
    log = np.concatenate(logs)
    from scipy.special import logsumexp  # scipy takes longer to import than the engine

    total = float(logsumexp(log))
    weights = np.exp(log - total)
    kept, means_kept, factors = (np.concatenate(each) for each in zip(*means, strict=True))
    shares = np.exp(kept - total)
    size = float(1 / np.square(weights).sum())
    # Relative error of a mean of weights: √(1/ess − 1/S), which is that of its logarithm.
    error = math.sqrt(max(1 / size - 1 / len(log), 0.0))
    evidence_of_all = total - math.log(len(log))
    return Mixture(shares / shares.sum(), means_kept, factors, size, "importance", evidence_of_all, error)


def _chains(problem: BayesianNetwork, at: Tensor, moves: int, seed: int) -> Mixture:
    chains = CollapsedChains(problem, torch.full((CHAINS, 1), float(problem.n), dtype=torch.float64), seed)
    chains.place(chains.normals((CHAINS, problem.dim)) * chains.scale)
    burn_in = int(BURN_IN_SHARE * moves)
    means: list[np.ndarray] = []
    factors: list[np.ndarray] = []
    every = max(EVERY, math.ceil((moves - burn_in) * CHAINS * len(at) ** 2 / NUMBERS))
    for move in range(moves):
        chains.move(adapt=move < burn_in)
        if move >= burn_in and (move - burn_in) % every == 0:
            _, mean, factor = _given_hidden(problem, chains.hidden_layers, at)
            means.append(mean)
            factors.append(factor)
    trace = np.stack(means)  # [T, C, P]
    drawn = [effective_size(trace[:, :, p]) for p in range(trace.shape[2])]
    count = trace.shape[0] * CHAINS
    size = float(np.nanmin(drawn)) if np.isfinite(drawn).any() else math.nan
    return Mixture(np.full(count, 1 / count), np.concatenate(means), np.concatenate(factors), size, "chains")


def _prior_draws(problem: BayesianNetwork, draws: int, seed: int) -> Iterator[Tensor]:
    random = torch_stream(seed, "hidden layers")
    for start in range(0, draws, PART):
        shape = (min(PART, draws - start), problem.layout.hidden_dim)
        yield torch.randn(shape, generator=random, dtype=torch.float64)


def _given_hidden(problem: BayesianNetwork, v: Tensor, at: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence [B], mean [B, P] and Cholesky factors [B, P, P] of f at the inputs, for hidden layers v [B, D']."""
    n = problem.n
    psi = features(problem, v, torch.cat([torch.from_numpy(problem.data.x), at]))
    kernel = torch.bmm(psi, psi.transpose(1, 2))
    seen = kernel[:, :n, :n] + problem.noise_variance * torch.eye(n, dtype=v.dtype)
    factor = torch.linalg.cholesky(seen)
    y = torch.from_numpy(problem.data.y).expand(len(v), -1).unsqueeze(2)
    white = torch.linalg.solve_triangular(factor, y, upper=False)
    cross = torch.linalg.solve_triangular(factor, kernel[:, :n, n:], upper=False)
    logs = factor.diagonal(dim1=1, dim2=2).log().sum(dim=1)
    evidence = -white.square().sum(dim=(1, 2)) / 2 - logs - n / 2 * math.log(2 * math.pi)
    covariance = kernel[:, n:, n:] - torch.bmm(cross.transpose(1, 2), cross)
    # The rank is at most H + 1: what is missing to full rank is filled with a share of the size that no picture shows.
    size = covariance.diagonal(dim1=1, dim2=2).mean(dim=1)
    covariance = covariance + (1e-9 * size)[:, None, None] * torch.eye(len(at), dtype=v.dtype)
    root = torch.linalg.cholesky(covariance)
    return evidence.numpy(), torch.bmm(cross.transpose(1, 2), white).squeeze(2).numpy(), root.numpy()


def _room(numbers: int, draws: int) -> None:
    if numbers > 4 * NUMBERS:
        raise ValueError(f"{draws:,} draws at so many inputs need more than 1 GB; give fewer inputs or draws.")
