"""The exact normal law of one layer given the others, in the bases in which its entries are independent."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Conditional(NamedTuple):
    """A normal law of a matrix Δ: left·Z·rightᵀ with independent Z_ij ~ N(mean_ij, 1/precision_ij).

    left [C, p, p], right [C, q, q]: orthogonal.  mean, precision: [C, p, q].
    curvature: [C, p, q], with which the excess loss grows: by curvature·(Z − mean)² along each entry.
    """

    left: Tensor
    right: Tensor
    mean: Tensor
    precision: Tensor
    curvature: Tensor

    def draw(self, normals: Tensor) -> Tensor:
        """Δ [C, p, q] from standard normals [C, p, q]."""
        return self.left @ (self.mean + normals / self.precision.sqrt()) @ self.right.mT


class Basis(NamedTuple):
    """Orthogonal eigenvectors [C, q, q] (in columns) and eigenvalues [C, q] of a positive semidefinite matrix."""

    vectors: Tensor
    values: Tensor


def gram_basis(factor: Tensor) -> Basis:
    """Eigenbasis of factorᵀ·factor for factor [C, p, q].

    From the singular values of the factor: those of the product would lose half the digits, and an eigenvalue of
    size 10⁻¹⁶ in place of 0 matters once it is multiplied by a large nβ.
    """
    rows, columns = factor.shape[-2:]
    if rows > columns:
        factor = torch.linalg.qr(factor, mode="r")[1]
    _, singular, vectors = torch.linalg.svd(factor, full_matrices=True)
    values = torch.nn.functional.pad(singular.square(), (0, columns - singular.shape[-1]))
    return Basis(vectors.mT, values)
