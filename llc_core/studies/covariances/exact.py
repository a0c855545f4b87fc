"""Linear regression with its posterior in closed form: covariances of losses and influence without a single draw.

U(w) = nβ·Σ_i u_i ℓ_i(w)/n + γ‖w − w0‖²/2 with ℓ_i = s·(y_i − x_i·w)², s = 1, or ½ where `half`. exp(−U) is normal with
precision 2s·nβ·XᵀuX/n + γ. With residuals r at its mean and S = X V Xᵀ of its covariance V, by the moments of normal numbers
(Isserlis 1918): Cov(ℓ_i, ℓ_j) = s²·(4 r_i r_j S_ij + 2 S_ij²), and E[ℓ_i] = s·(r_i² + S_ii).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from llc_core.fields import number

Rows = tuple[Any, Any]


@dataclass(frozen=True)
class LinearLosses:
    """The posterior of a linear regression, and the exact covariances of its losses.

    x: [n, D].  y: [n].  n_beta: nβ.  localization: γ, around w0 [D].  half: whether losses have a ½.  weights: [n] u, 1 in a plain data set.
    """

    x: np.ndarray
    y: np.ndarray
    n_beta: float
    localization: float
    w0: np.ndarray
    half: bool
    weights: np.ndarray

    @property
    def beta(self) -> float:
        return self.n_beta / len(self.y)

    @property
    def scale(self) -> float:
        return 0.5 if self.half else 1.0

    @cached_property
    def covariance(self) -> np.ndarray:
        """V [D, D]."""
        precision = 2 * self.scale * self.beta * (self.x.T * self.weights) @ self.x
        found: np.ndarray = np.linalg.inv(precision + self.localization * np.eye(len(self.w0)))
        return found

    @cached_property
    def mean(self) -> np.ndarray:
        """[D]."""
        pull = 2 * self.scale * self.beta * self.x.T @ (self.weights * self.y) + self.localization * self.w0
        found: np.ndarray = self.covariance @ pull
        return found

    def kernel(self, others: Rows | None = None) -> np.ndarray:
        """Cov(ℓ_i, ℓ_j) [n, n], or with the losses of other rows (x [P, D], y [P]), [n, P]."""
        x, y = (self.x, self.y) if others is None else _rows(others, self.x.shape[1])
        spread = self.x @ self.covariance @ x.T
        residuals = np.outer(self.y - self.x @ self.mean, y - x @ self.mean)
        found: np.ndarray = self.scale**2 * (4 * residuals * spread + 2 * spread**2)
        return found

    def influence(self, queries: Rows) -> np.ndarray:
        """−Cov(ℓ_i, ℓ_q) [P, n] of every row on the losses of queries (x [P, D], y [P])."""
        return -self.kernel(queries).T

    def expected(self, others: Rows | None = None) -> np.ndarray:
        """E[ℓ] of the rows [n], or of others [P]."""
        x, y = (self.x, self.y) if others is None else _rows(others, self.x.shape[1])
        found: np.ndarray = self.scale * ((y - x @ self.mean) ** 2 + ((x @ self.covariance) * x).sum(axis=1))
        return found

    @property
    def loss_variance(self) -> float:
        """Var(L_n), so that nβ²·Var(L_n) is D/2 up to the localisation."""
        return float(self.kernel().mean())

    def left_out(self, queries: Rows) -> np.ndarray:
        """E[ℓ_q] without row i less that with it, [P, n], of posteriors that are made anew: about β·Cov(ℓ_i, ℓ_q)."""
        before, found = self.expected(queries), []
        for i in range(len(self.y)):
            weights = self.weights.copy()
            weights[i] = 0
            found.append(replace(self, weights=weights).expected(queries) - before)
        return np.array(found).T

    def draws(self, count: int, seed: int = 0, queries: Rows | None = None) -> np.ndarray:
        """Losses [count, n], or [count, n + P] with those of queries behind them, at independent draws of w."""
        noise = np.random.default_rng(seed).standard_normal((count, len(self.w0)))
        w = self.mean + noise @ np.linalg.cholesky(self.covariance).T
        x, y = self.x, self.y
        if queries is not None:
            more = _rows(queries, self.x.shape[1])
            x, y = np.concatenate([x, more[0]]), np.concatenate([y, more[1]])
        found: np.ndarray = self.scale * (y - w @ x.T) ** 2
        return found


def linear_losses(
    x: Any, y: Any, n_beta: float | None = None, localization: float = 1.0, w0: Any = None, half: bool = False
) -> LinearLosses:
    """Exact covariances of losses of the regression y = x·w.

    x: [n, D].  y: [n].  n_beta: nβ; None: n/log n.  localization: γ ≥ 0, around w0 [D], 0 if it is left out.  half: losses
    ½(y − x·w)² in place of (y − x·w)².
    """
    x = np.asarray(x, dtype=float)
    if x.ndim != 2 or x.shape[0] < 3:
        raise ValueError(f"x has the shape {x.shape}; give at least 3 rows ['n', 'D'].")
    x, y = _rows((x, y), x.shape[1])
    n_beta = len(y) / math.log(len(y)) if n_beta is None else number("n_beta", n_beta, above=0)
    gamma = number("localization", localization, 0)
    center = np.zeros(x.shape[1]) if w0 is None else np.asarray(w0, dtype=float).reshape(-1)
    if center.shape != (x.shape[1],):
        raise ValueError(f"w0 has {center.size} numbers and x {x.shape[1]} columns; give as many.")
    if not gamma and np.linalg.matrix_rank(x) < x.shape[1]:
        raise ValueError(
            "localization is 0 and x leaves directions free, so there is no posterior; give a localization above 0."
        )
    return LinearLosses(x, y, n_beta, gamma, center, bool(half), np.ones(len(y)))


def _rows(given: Rows, columns: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = (np.asarray(each, dtype=float) for each in given)
    y = y.reshape(-1) if y.ndim == 2 and y.shape[1] == 1 else y
    if (
        x.ndim != 2
        or x.shape[1] != columns
        or y.shape != x.shape[:1]
        or not (np.isfinite(x).all() and np.isfinite(y).all())
    ):
        raise ValueError(f"x has the shape {x.shape} and y {y.shape}; give finite rows ['n', {columns}] and ['n'].")
    return x, y
