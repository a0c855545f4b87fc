"""Kernel Stein discrepancy: how far draws are from a law whose score is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

BOOTSTRAPS = 500
MOST_DRAWS = 5_000


@dataclass(frozen=True)
class SteinDiscrepancy:
    """v, u: V- and U-statistic of the squared discrepancy.  root: √v, the discrepancy.

    null: [B] values of √v that draws from the law itself would give (wild bootstrap, Chwialkowski et al. 2016); p: share of them
    that are at least as large. It is blind to modes far away that no draw has found.
    """

    v: float
    u: float
    null: np.ndarray = field(repr=False)
    p: float

    @property
    def root(self) -> float:
        return math.sqrt(max(self.v, 0.0))


def kernel_stein_discrepancy(
    draws: np.ndarray, score: np.ndarray, covariance: np.ndarray | None = None, seed: int = 0
) -> SteinDiscrepancy:
    """Between draws [N, d] and the law with ∇log p = score [N, d] at them.

    The kernel is the inverse multiquadric (1 + ‖x − y‖²)^−½, in coordinates in which `covariance` [d, d] is the identity (None: as
    given). Raises ValueError for shapes that do not fit and for more than 5,000 draws.
    Source: Liu, Lee & Jordan 2016; Chwialkowski, Strathmann & Gretton 2016; Gorham & Mackey 2017 for the kernel.
    """
    x, s = np.asarray(draws, dtype=float), np.asarray(score, dtype=float)
    if x.ndim != 2 or x.shape != s.shape or not 2 <= len(x) <= MOST_DRAWS:
        raise ValueError(
            f"draws has the shape {x.shape} and score {s.shape}; give both [N, d] with 2 ≤ N ≤ {MOST_DRAWS:,}."
        )
    if covariance is not None:
        root = np.linalg.cholesky(covariance)
        x, s = np.linalg.solve(root, x.T).T, s @ root
    matrix = _stein_kernel(x, s)
    count = len(x)
    v = float(matrix.mean())
    u = float((matrix.sum() - np.trace(matrix)) / (count * (count - 1)))
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(BOOTSTRAPS, count))
    null = np.sqrt(np.maximum(np.einsum("bi,ij,bj->b", signs, matrix, signs, optimize=True), 0)) / count
    return SteinDiscrepancy(v, u, null, float((null >= math.sqrt(max(v, 0.0))).mean()))


def _stein_kernel(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The Stein kernel [N, N] of k = (1 + r²)^−½."""
    squares = np.square(x).sum(axis=1)
    r2 = np.maximum(squares[:, None] + squares[None] - 2 * x @ x.T, 0.0)
    base = 1 + r2
    k, slope = base**-0.5, base**-1.5
    # ∇_x k = −slope·(x − y), ∇_y k = slope·(x − y).
    own = (s * x).sum(axis=1)
    toward = own[:, None] - s @ x.T  # s_x·(x − y)
    back = (x @ s.T) - own[None]  # s_y·(x − y)
    trace = x.shape[1] * slope - 3 * r2 * base**-2.5
    return s @ s.T * k + slope * (toward - back) + trace
