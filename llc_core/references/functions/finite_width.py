"""The exact posterior over functions of a network of finite width. Long, since both ways to it share the members that they make."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.diagnostics.convergence import ess as effective_size
from llc_core.diagnostics.convergence import r_hat
from llc_core.fields import choice
from llc_core.potentials.bayesian.collapsed import CollapsedChains, features
from llc_core.potentials.bayesian.network import BayesianNetwork, checked_inputs
from llc_core.references.functions.laplace import LaplaceChains
from llc_core.references.functions.mixture import Mixture
from llc_core.references.functions.nngp import need_network

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
    hidden layers by collapsed pCN, `moves` times in 64 chains, has no evidence, and refuses with a ValueError where these chains
    do not agree (R-hat of 1.2 and above); "auto" takes the first that holds.
    Under a Laplace likelihood the noise is a mixture of normal ones: chains draw the variances of the points as well, and there is
    no importance.
    Raises ValueError for what is no Bayesian network, and where P² covariances of so many draws have no room.
    Source: own derivation; the output layer is reparametrised as in Hron et al. 2022.
    """
    work = FiniteWidth(problem, inputs, draws, method=method, moves=moves, seed=seed)
    while not work.finished:
        work.advance()
    found = work.mixture()
    if found.doubt:
        raise ValueError(found.doubt)
    return found


class FiniteWidth:
    """The same work in pieces, with an answer in between. Arguments as of `finite_width`.

    Nothing is refused for chains that do not agree: `Mixture.doubt` says so, and whoever shows the answer shows that too.
    """

    def __init__(
        self,
        problem: BayesianNetwork,
        inputs: Any,
        draws: int = 20_000,
        *,
        method: str = "auto",
        moves: int = 3_000,
        seed: int = 0,
    ):
        need_network(problem)
        choice("method", method, ("auto", "importance", "chains"))
        if problem.likelihood != "gaussian":
            if method == "importance":
                raise ValueError(f"method is 'importance' and likelihood is {problem.likelihood!r}; choose 'chains'.")
            method = "chains"
        at = torch.from_numpy(checked_inputs(inputs, problem.widths[0]))
        self._falls_back = partial(_Chains, problem, at, moves, seed) if method == "auto" else None
        weighted = method == "importance" or (method == "auto" and _promising(problem, at, draws, seed))
        self._work: _Importance | _Chains = (
            _Importance(problem, at, draws, seed) if weighted else _Chains(problem, at, moves, seed)
        )

    @property
    def finished(self) -> bool:
        return self._work.finished

    def advance(self) -> None:
        """One piece: 250 draws of the prior, or ten moves of the chains."""
        self._work.advance()
        done = self._work
        if self._falls_back is not None and isinstance(done, _Importance) and done.finished and done.ess < LEAST_ESS:
            self._work = self._falls_back()

    def mixture(self) -> Mixture:
        """What is known so far; ValueError where that is too little to be told."""
        return self._work.mixture()


def _promising(problem: BayesianNetwork, at: Tensor, draws: int, seed: int) -> bool:
    """Whether a few draws let hope that all of them are worth enough."""
    few = min(PILOT, draws)
    pilot = _Importance(problem, at[:1], few, seed)
    while not pilot.finished:
        pilot.advance()
    return pilot.ess * draws / few >= LEAST_ESS


class _Importance:
    """Draws of the hidden layers from the prior, weighted by their evidence."""

    def __init__(self, problem: BayesianNetwork, at: Tensor, draws: int, seed: int):
        self._problem, self._at, self._draws = problem, at, draws
        self._parts, self._done = _prior_draws(problem, draws, seed), 0
        self._noise = torch.full((1, 1, 1), problem.noise_variance, **EXACT)
        self._logs: list[np.ndarray] = []
        self._kept: list[tuple[np.ndarray, ...]] = []
        self._best, self._numbers = -math.inf, 0

    @property
    def finished(self) -> bool:
        return self._done >= self._draws

    @property
    def ess(self) -> float:
        return float(1 / np.square(self._weights()).sum())

    def advance(self) -> None:
        v = next(self._parts)
        self._done += len(v)
        evidence, mean, factor = _given_hidden(self._problem, v, self._at, self._noise)
        self._logs.append(evidence)
        self._best = max(self._best, float(evidence.max()))
        good = evidence > self._best - NEGLIGIBLE
        self._kept.append((evidence[good], mean[good], factor[good]))
        self._numbers += int(good.sum()) * len(self._at) ** 2
        _room(self._numbers, self._draws)

    def mixture(self) -> Mixture:
        size = self.ess if self._logs else 0.0
        if not size >= LEAST_ESS:
            raise ValueError(
                f"{self._done:,} draws of the prior are worth only {size:.0f} of the posterior, and {LEAST_ESS} are needed; use "
                "method='chains' or more draws."
            )
        total = self._total()
        kept, means, factors = (np.concatenate(each) for each in zip(*self._kept, strict=True))
        shares = np.exp(kept - total)
        # Relative error of a mean of weights: √(1/ess − 1/S), which is that of its logarithm.
        error = math.sqrt(max(1 / size - 1 / self._done, 0.0))
        evidence_of_all = total - math.log(self._done)
        return Mixture(shares / shares.sum(), means, factors, size, "importance", evidence_of_all, error)

    def _total(self) -> float:
        from scipy.special import logsumexp  # scipy takes longer to import than the engine

        return float(logsumexp(np.concatenate(self._logs)))

    def _weights(self) -> np.ndarray:
        return np.exp(np.concatenate(self._logs) - self._total())


class _Chains:
    """Hidden layers moved by collapsed pCN; every few moves each chain adds a member."""

    def __init__(self, problem: BayesianNetwork, at: Tensor, moves: int, seed: int):
        self._problem, self._at, self._moves, self._done = problem, at, moves, 0
        if problem.likelihood == "laplace":
            self._chains: CollapsedChains = LaplaceChains(problem, CHAINS, seed)
        else:
            self._chains = CollapsedChains(problem, torch.full((CHAINS, 1), float(problem.n), **EXACT), seed)
            self._chains.place_at_prior()
        self._burn_in = int(BURN_IN_SHARE * moves)
        self._every = max(EVERY, math.ceil((moves - self._burn_in) * CHAINS * len(at) ** 2 / NUMBERS))
        self._means: list[np.ndarray] = []
        self._factors: list[np.ndarray] = []

    @property
    def finished(self) -> bool:
        return self._done >= self._moves

    def advance(self) -> None:
        for move in range(self._done, min(self._done + EVERY, self._moves)):
            self._chains.move(adapt=move < self._burn_in)
            if move >= self._burn_in and (move - self._burn_in) % self._every == 0:
                hidden, noise = self._chains.hidden_layers, self._chains.noise
                _, mean, factor = _given_hidden(self._problem, hidden, self._at, noise)
                self._means.append(mean)
                self._factors.append(factor)
            self._done = move + 1

    def mixture(self) -> Mixture:
        if not self._means:
            raise ValueError(
                f"The first {self._burn_in:,} moves are burn-in, and {self._done:,} are done; do more of them."
            )
        trace = np.stack(self._means)  # [T, C, P]
        drawn = [effective_size(trace[:, :, p]) for p in range(trace.shape[2])]
        spread = [r_hat(trace[:, :, p]) for p in range(trace.shape[2])]
        count = trace.shape[0] * CHAINS
        size = float(np.nanmin(drawn)) if np.isfinite(drawn).any() else math.nan
        worst = float(np.nanmax(spread)) if np.isfinite(spread).any() else math.nan
        return Mixture(
            np.full(count, 1 / count),
            np.concatenate(self._means),
            np.concatenate(self._factors),
            size,
            "chains",
            r_hat=worst,
        )


def _prior_draws(problem: BayesianNetwork, draws: int, seed: int) -> Iterator[Tensor]:
    random = torch_stream(seed, "hidden layers")
    for start in range(0, draws, PART):
        shape = (min(PART, draws - start), problem.layout.hidden_dim)
        yield torch.randn(shape, generator=random, **EXACT)


def _given_hidden(
    problem: BayesianNetwork, v: Tensor, at: Tensor, noise: Tensor
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence [B], mean [B, P] and Cholesky factors [B, P, P] of f at the inputs, for hidden layers v [B, D'].

    noise: variances of the data's points, [B, n, 1] or what broadcasts to it."""
    n = problem.n
    psi = features(problem, v, torch.cat([torch.from_numpy(problem.data.x), at]))
    kernel = torch.bmm(psi, psi.transpose(1, 2))
    seen = kernel[:, :n, :n] + noise * torch.eye(n, dtype=v.dtype, device="cpu")
    factor = torch.linalg.cholesky(seen)
    y = torch.from_numpy(problem.data.y).expand(len(v), -1).unsqueeze(2)
    white = torch.linalg.solve_triangular(factor, y, upper=False)
    cross = torch.linalg.solve_triangular(factor, kernel[:, :n, n:], upper=False)
    logs = factor.diagonal(dim1=1, dim2=2).log().sum(dim=1)
    evidence = -white.square().sum(dim=(1, 2)) / 2 - logs - n / 2 * math.log(2 * math.pi)
    covariance = kernel[:, n:, n:] - torch.bmm(cross.transpose(1, 2), cross)
    # The rank is at most H + 1: what is missing to full rank is filled with a share of the size that no picture shows.
    size = covariance.diagonal(dim1=1, dim2=2).mean(dim=1)
    covariance = covariance + (1e-9 * size)[:, None, None] * torch.eye(len(at), dtype=v.dtype, device="cpu")
    root = torch.linalg.cholesky(covariance)
    return evidence.numpy(), torch.bmm(cross.transpose(1, 2), white).squeeze(2).numpy(), root.numpy()


def _room(numbers: int, draws: int) -> None:
    if numbers > 4 * NUMBERS:
        raise ValueError(f"{draws:,} draws at so many inputs need more than 1 GB; give fewer inputs or draws.")
