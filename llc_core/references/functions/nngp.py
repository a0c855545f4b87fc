"""The posterior of an infinitely wide network: a Gaussian process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.potentials.bayesian.network import BayesianNetwork, checked_inputs
from llc_core.theory.nngp import nngp_kernel


@dataclass(frozen=True)
class GaussianPosterior:
    """f at P inputs: mean [P], covariance [P, P]; log_evidence: log p(y) in nats."""

    mean: np.ndarray
    covariance: np.ndarray
    log_evidence: float

    @property
    def sd(self) -> np.ndarray:
        """[P], without the noise of the data."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def quantile(self, share: float) -> np.ndarray:
        """[P] of f at each input by itself."""
        from scipy.special import ndtri

        return self.mean + self.sd * float(ndtri(share))

    def sample(self, count: int, seed: int = 0) -> np.ndarray:
        """Draws [count, P], jointly over the inputs."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0))
        return self.mean + np.random.default_rng(seed).standard_normal((count, len(self.mean))) @ root.T


def nngp_posterior(problem: BayesianNetwork, inputs: Any) -> GaussianPosterior:
    """What `problem` would answer at `inputs` [P, d] if its hidden layers were infinitely wide.

    Raises ValueError for a likelihood other than the Gaussian one, under which the posterior is no Gaussian process: see
    `llc_core.references.functions.laplace` for the Laplace one.
    Source: Lee et al. 2018; the kernel is `llc_core.nngp_kernel`.
    """
    from scipy import linalg  # scipy takes longer to import than the engine

    need_gaussian(problem)
    at = checked_inputs(inputs, problem.widths[0])
    n = problem.n
    kernel = nngp_kernel(
        problem.activation,
        np.concatenate([problem.data.x, at]),
        problem.hidden_layers,
        problem.weight_variance,
        problem.bias_variance,
    )
    factor = linalg.cholesky(kernel[:n, :n] + problem.noise_variance * np.eye(n), lower=True)
    y = linalg.solve_triangular(factor, problem.data.y, lower=True)
    cross = linalg.solve_triangular(factor, kernel[:n, n:], lower=True)
    evidence = -float(y @ y) / 2 - float(np.log(np.diag(factor)).sum()) - n / 2 * math.log(2 * math.pi)
    return GaussianPosterior(cross.T @ y, kernel[n:, n:] - cross.T @ cross, evidence)


def need_network(problem: BayesianNetwork) -> None:
    """ValueError where it is no Bayesian network."""
    if not isinstance(problem, BayesianNetwork):
        raise ValueError(f"problem must be a BayesianNetwork, not a {type(problem).__name__}.")


def need_gaussian(problem: BayesianNetwork) -> None:
    """ValueError where the posterior has no evidence and no score in closed form."""
    need_network(problem)
    if problem.likelihood != "gaussian":
        raise ValueError(f"likelihood is {problem.likelihood!r}; this is known for 'gaussian' alone: choose that.")
