"""Exact answers under a Laplace likelihood: its density is a mixture of normal ones, so that Gaussian formulas serve.

e^{−|r|/b}/(2b) = ∫ N(r; 0, τ)·Exp(τ; mean 2b²) dτ (Andrews & Mallows 1974). Given the variances τ of the n points everything is as
under a Gaussian likelihood; given f each 1/τ is inverse Gaussian (as in Park & Casella 2008). Drawn in turn they are chains that
need no gradient and no step, or that of the hidden layers alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import numpy_stream
from llc_core.diagnostics.convergence import ess as effective_size
from llc_core.potentials.bayesian.collapsed import CollapsedChains
from llc_core.potentials.bayesian.likelihoods import laplace_scale
from llc_core.potentials.bayesian.network import BayesianNetwork, checked_inputs
from llc_core.references.functions.mixture import Mixture
from llc_core.theory.nngp import nngp_kernel

LEAST_RESIDUAL, JITTER = 1e-12, 1e-10


def variances_given(residual: np.ndarray, scale: float, random: np.random.Generator) -> np.ndarray:
    """τ given r = y − f, of the same shape. scale: b."""
    mean = 1 / (scale * np.maximum(np.abs(residual), LEAST_RESIDUAL))
    return 1 / np.maximum(random.wald(mean, 1 / scale**2), 1e-300)


def nngp_laplace(
    problem: BayesianNetwork, inputs: Any, draws: int = 500, seed: int = 0, burn_in: int = 100
) -> np.ndarray:
    """Draws [draws, P] of f at `inputs` [P, d] from the posterior of an infinitely wide network under a Laplace likelihood.

    One Gibbs chain that draws f and the variances of the points in turn. Raises ValueError for another likelihood.
    """
    kernel = _kernel(problem, inputs)
    return np.stack([f[problem.n :] for f, _ in islice(_gibbs(problem, kernel, seed), burn_in, burn_in + draws)])


def nngp_laplace_mixture(
    problem: BayesianNetwork, inputs: Any, members: int = 400, thinned: int = 5, seed: int = 0, burn_in: int = 100
) -> Mixture:
    """The same distribution of f as a mixture of Gaussians, one for the variances of the points at every `thinned`-th draw.

    Its bands are smooth, and its means have less error than those of draws. Raises ValueError for another likelihood.
    """
    kernel = _kernel(problem, inputs)
    n, y, places = problem.n, problem.data.y, len(kernel) - problem.n
    drawn = islice(_gibbs(problem, kernel, seed), burn_in, burn_in + members * thinned, thinned)
    tau = np.stack([variances for _, variances in drawn])
    factor = np.linalg.cholesky(kernel[:n, :n] + tau[:, :, None] * np.eye(n))
    white = np.linalg.solve(factor, np.concatenate([kernel[:n, n:], y[:, None]], axis=1)[None])
    cross, residual = white[:, :, :-1], white[:, :, -1:]
    means = (cross.transpose(0, 2, 1) @ residual)[:, :, 0]
    covariance = kernel[n:, n:] - cross.transpose(0, 2, 1) @ cross
    roots = np.linalg.cholesky(covariance + JITTER * np.trace(kernel) / len(kernel) * np.eye(places))
    halves = means.reshape(2, members // 2, places).transpose(1, 0, 2) if members % 2 == 0 else means[:, None]
    size = min(effective_size(halves[:, :, p]) for p in range(places))
    return Mixture(np.full(members, 1 / members), means, roots, size, "gibbs")


def _kernel(problem: BayesianNetwork, inputs: Any) -> np.ndarray:
    """[n + P, n + P] of the data's inputs and others."""
    _need_laplace(problem)
    both = np.concatenate([problem.data.x, checked_inputs(inputs, problem.widths[0])])
    return nngp_kernel(problem.activation, both, problem.hidden_layers, problem.weight_variance, problem.bias_variance)


def _gibbs(problem: BayesianNetwork, kernel: np.ndarray, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """f [n + P] and the variances [n] that were drawn given it, for ever."""
    n, y, random = problem.n, problem.data.y, numpy_stream(seed, "nngp laplace")
    root = np.linalg.cholesky(kernel + JITTER * np.trace(kernel) / len(kernel) * np.eye(len(kernel)))
    tau, scale = np.full(n, problem.noise_variance), laplace_scale(problem.noise_variance)
    while True:
        # Matheron's rule: a draw of the prior, moved by what the data say of it.
        prior = root @ random.standard_normal(len(kernel))
        missing = y - prior[:n] - np.sqrt(tau) * random.standard_normal(n)
        f = prior + kernel[:, :n] @ np.linalg.solve(kernel[:n, :n] + np.diag(tau), missing)
        tau = variances_given(y - f[:n], scale, random)
        yield f, tau


class LaplaceChains(CollapsedChains):
    """Collapsed pCN whose noise has a variance of its own at every point and chain, drawn anew after every move."""

    def __init__(self, problem: BayesianNetwork, chains: int, seed: int):
        _need_laplace(problem)
        super().__init__(problem, torch.full((chains, 1), float(problem.n), **EXACT), seed)
        self.noise = self.noise.expand(chains, problem.n, 1).clone()
        self._numpy = numpy_stream(seed, "variances")
        self._scale = laplace_scale(problem.noise_variance)
        self.place_at_prior()

    def move(self, adapt: bool) -> Tensor:
        loss = super().move(adapt)
        residual = torch.from_numpy(self.problem.data.y) - torch.bmm(self._psi, self._u.unsqueeze(2)).squeeze(2)
        tau = variances_given(residual.numpy(), self._scale, self._numpy)
        self.noise = torch.from_numpy(tau).unsqueeze(2)
        self._fit, self._evidence = self._regress(self._psi)
        return loss


def _need_laplace(problem: BayesianNetwork) -> None:
    if not isinstance(problem, BayesianNetwork) or problem.likelihood != "laplace":
        said = getattr(problem, "likelihood", type(problem).__name__)
        raise ValueError(f"likelihood is {said!r}; give a BayesianNetwork with likelihood='laplace'.")
