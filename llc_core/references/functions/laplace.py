"""Exact answers under a Laplace likelihood: its density is a mixture of normal ones, so that Gaussian formulas serve.

e^{−|r|/b}/(2b) = ∫ N(r; 0, τ)·Exp(τ; mean 2b²) dτ (Andrews & Mallows 1974). Given the variances τ of the n points everything is as
under a Gaussian likelihood; given f each 1/τ is inverse Gaussian (as in Park & Casella 2008). Drawn in turn they are chains that
need no gradient and no step, or that of the hidden layers alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.streams import numpy_stream
from llc_core.potentials.bayesian.collapsed import CollapsedChains
from llc_core.potentials.bayesian.likelihoods import laplace_scale
from llc_core.potentials.bayesian.network import BayesianNetwork, checked_inputs
from llc_core.theory.nngp import nngp_kernel

LEAST_RESIDUAL = 1e-12


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
    _need_laplace(problem)
    at = checked_inputs(inputs, problem.widths[0])
    n, y, random = problem.n, problem.data.y, numpy_stream(seed, "nngp laplace")
    both = np.concatenate([problem.data.x, at])
    kernel = nngp_kernel(
        problem.activation, both, problem.hidden_layers, problem.weight_variance, problem.bias_variance
    )
    root = np.linalg.cholesky(kernel + 1e-10 * np.trace(kernel) / len(both) * np.eye(len(both)))
    tau, found = np.full(n, problem.noise_variance), np.empty((draws, len(at)))
    scale = laplace_scale(problem.noise_variance)
    for move in range(burn_in + draws):
        # Matheron's rule: a draw of the prior, moved by what the data say of it.
        prior = root @ random.standard_normal(len(both))
        missing = y - prior[:n] - np.sqrt(tau) * random.standard_normal(n)
        f = prior + kernel[:, :n] @ np.linalg.solve(kernel[:n, :n] + np.diag(tau), missing)
        tau = variances_given(y - f[:n], scale, random)
        if move >= burn_in:
            found[move - burn_in] = f[n:]
    return found


class LaplaceChains(CollapsedChains):
    """Collapsed pCN whose noise has a variance of its own at every point and chain, drawn anew after every move."""

    def __init__(self, problem: BayesianNetwork, chains: int, seed: int):
        _need_laplace(problem)
        super().__init__(problem, torch.full((chains, 1), float(problem.n), dtype=torch.float64), seed)
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
