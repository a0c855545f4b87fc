"""A mixture of Gaussians over functions: what a network of finite width answers, exactly up to the number of its members."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

SETTLED = 1.2
"""R-hat of the 64 chains behind an answer, from which on it is not shown: they are then worth fewer than 150 draws."""


@dataclass(frozen=True)
class Mixture:
    """f at P inputs, as a mixture of S Gaussians: given the hidden layers f is Gaussian.

    shares: [S], summing to 1.  means: [S, P].  factors: [S, P, P], Cholesky factors of the covariances.
    ess: effective number of independent members.  method: "importance", "chains", or "gibbs" (variances of points).
    log_evidence: log p(y) in nats, nan for chains.  log_evidence_se: its standard error.
    r_hat: of the members' means along the chains, the largest over the inputs; nan for importance.
    """

    shares: np.ndarray
    means: np.ndarray
    factors: np.ndarray
    ess: float
    method: str
    log_evidence: float = math.nan
    log_evidence_se: float = math.nan
    r_hat: float = math.nan

    @property
    def doubt(self) -> str:
        """Why this is no exact answer, in a sentence; empty where it is one."""
        if self.method != "chains" or self.r_hat < SETTLED:
            return ""
        fault = "are too few to be compared" if math.isnan(self.r_hat) else f"do not agree (R-hat {self.r_hat:.2f})"
        return f"The chains of hidden layers {fault}; give more moves, or take a wider network or fewer data."

    @property
    def mean(self) -> np.ndarray:
        """[P]"""
        return self.shares @ self.means

    @property
    def variances(self) -> np.ndarray:
        """[S, P] of the members."""
        return np.square(self.factors).sum(axis=2)

    @property
    def sd(self) -> np.ndarray:
        """[P], without the noise of the data."""
        return np.sqrt(self.shares @ (self.variances + self.means**2) - self.mean**2)

    @property
    def covariance(self) -> np.ndarray:
        """[P, P]"""
        inner = np.einsum("s,sij,skj->ik", self.shares, self.factors, self.factors)
        centred = self.means - self.mean
        return inner + (self.shares[:, None] * centred).T @ centred

    def quantile(self, share: float) -> np.ndarray:
        """[P] of f at each input by itself, by bisection of the mixture's distribution function."""
        from scipy.optimize import brentq  # scipy takes longer to import than the engine
        from scipy.special import ndtr

        sd = np.sqrt(self.variances)
        low, high = (self.means - 9 * sd).min(axis=0), (self.means + 9 * sd).max(axis=0)

        def at(p: int) -> float:
            gap = lambda f: float(self.shares @ ndtr((f - self.means[:, p]) / sd[:, p])) - share  # noqa: E731
            return float(brentq(gap, low[p], high[p], xtol=1e-6))

        return np.array([at(p) for p in range(self.means.shape[1])])

    def sample(self, count: int, seed: int = 0) -> np.ndarray:
        """Draws [count, P], jointly over the inputs."""
        random = np.random.default_rng(seed)
        which = random.choice(len(self.shares), size=count, p=self.shares)
        noise = random.standard_normal((count, self.means.shape[1], 1))
        return self.means[which] + (self.factors[which] @ noise)[:, :, 0]

    def score(self, f: np.ndarray) -> np.ndarray:
        """∇ log p(f) [N, P] at points f [N, P]."""
        from scipy.special import logsumexp

        inverse = np.linalg.inv(self.factors)
        members, width = self.means.shape
        rows, centres = inverse.reshape(members * width, width), inverse @ self.means[:, :, None]
        logs = np.log(np.maximum(self.shares, 1e-300)) - np.log(np.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1)
        found = np.empty_like(f, dtype=float)
        for start in range(0, len(f), 64):
            part = np.asarray(f[start : start + 64], dtype=float)
            white = (part @ rows.T).reshape(len(part), members, width) - centres[:, :, 0]
            each = logs - np.square(white).sum(axis=2) / 2
            share = np.exp(each - logsumexp(each, axis=1, keepdims=True))
            found[start : start + 64] = -(share[:, :, None] * white).reshape(len(part), -1) @ rows
        return found
