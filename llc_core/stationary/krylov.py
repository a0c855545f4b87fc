"""GMRES with products of matrices where scipy's goes vector by vector, which took two thirds of a distribution's time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Apply = Callable[[np.ndarray], np.ndarray]
CANCELLED = 0.1
"""A vector of which less than this is left is made orthogonal once more, since rounding then leaves too much of the others in it."""


def correction(apply: Apply, precondition: Apply, rest: np.ndarray, vectors: int, enough: float) -> np.ndarray:
    """x [n] that makes ‖M(rest − A·x)‖ least among combinations of the first `vectors` Krylov vectors of M·A.

    It ends sooner where what is left is below `enough` times ‖M·rest‖. All of x is nan where a number on the way is. Source:
    Saad & Schultz 1986; of zᵀH = 0 with z_0 = 1 follows that the least residual of H·y = e_0 is 1/‖z‖.
    """
    first = precondition(rest)
    size = float(np.linalg.norm(first))
    if size == 0:
        return np.zeros_like(rest)
    basis = np.empty((vectors + 1, len(rest)))
    np.multiply(first, 1 / size, out=basis[0])
    projected = np.zeros((vectors + 1, vectors))
    z = np.zeros(vectors + 1)
    z[0] = 1.0
    for count in range(1, vectors + 1):
        new, known, column = precondition(apply(basis[count - 1])), basis[:count], projected[:count, count - 1]
        length = float(np.linalg.norm(new))
        while True:
            before, parts = length, known @ new
            new -= parts @ known
            column += parts
            length = float(np.linalg.norm(new))
            if not 0 < length <= CANCELLED * before:  # nor where a number is nan
                break
        projected[count, count - 1] = length
        if not math.isfinite(length):
            return np.full_like(rest, math.nan)
        if length == 0:
            break
        np.multiply(new, 1 / length, out=basis[count])
        z[count] = -(z[:count] @ column) / length
        if np.linalg.norm(z) * enough > 1:
            break
    wanted = np.zeros(count + 1)
    wanted[0] = size
    found: np.ndarray = np.linalg.lstsq(projected[: count + 1, :count], wanted, rcond=None)[0] @ basis[:count]
    return found
