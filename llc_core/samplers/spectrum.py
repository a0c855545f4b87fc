"""Powers of symmetric matrices that are running means, and how these powers change with the matrix."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

CONDITION = 1e-6
"""Eigenvalues of a matrix count as at least this share of the largest. It averages few steps, so that most of its eigenvalues are
near 0, and single precision cannot tell them from 0."""
TINY = 1e-30


@dataclass(frozen=True)
class Spectrum:
    """Of matrices [C, n, n], or of diagonals [C, n].

    values: [C, n] eigenvalues, in rising order for matrices, cut off from below; NaN where a chain is not finite.
    vectors: [C, n, n] eigenvectors as columns, None for diagonals.  uncut: `values` before they were cut off.
    """

    values: Tensor
    vectors: Tensor | None
    uncut: Tensor

    @classmethod
    def of(cls, matrix: Tensor) -> Spectrum:
        """The decomposition raises for a matrix that is not finite: a chain that overflowed must not end the others."""
        if matrix.dim() == 2:
            return cls(matrix.clamp_min(TINY), None, matrix)
        fine = torch.isfinite(matrix).flatten(1).all(dim=1)[:, None, None]
        unit = torch.eye(matrix.shape[1], dtype=matrix.dtype, device=matrix.device)
        safe = torch.where(fine, matrix, unit)
        # The same numbers; of many small matrices the decomposition takes nearly all the time of a step.
        uncut, vectors = (safe[:, 0], torch.ones_like(safe)) if len(unit) == 1 else torch.linalg.eigh(safe)
        values = torch.maximum(uncut, CONDITION * uncut[:, -1:]).clamp_min(TINY)
        return cls(torch.where(fine.squeeze(2), values, torch.nan), vectors, uncut)

    def power(self, exponent: float) -> Tensor:
        """matrix^exponent, [C, n, n], or its diagonal [C, n]."""
        if self.vectors is None:
            return self.values**exponent
        return (self.vectors * (self.values**exponent).unsqueeze(1)) @ self.vectors.transpose(1, 2)

    def change_of_inverse_root(self, degree: int, change: Tensor) -> Tensor:
        """What matrix^(−1/degree) changes by when the matrix changes by `change`, to first order; both [C, N, n, n].

        By Daleckii & Krein: in the basis of the eigenvectors each entry is multiplied by the divided difference of
        f = λ^(−1/degree). With p = λ_i^(1/degree) and q likewise of λ_j that is −1/(pq·Σ_k p^k q^(degree − 1 − k)),
        which has no difference of nearly equal numbers. Eigenvalues that were cut off move with the largest one alone.
        """
        assert self.vectors is not None
        vectors = self.vectors.unsqueeze(1)
        inner = vectors.transpose(2, 3) @ change @ vectors
        root = self.values ** (1 / degree)
        p, q = root[:, None, :, None], root[:, None, None, :]
        # Divided by one after the other: the product is 0 in single precision where each factor is not.
        image = -inner / p / q / sum(p**k * q ** (degree - 1 - k) for k in range(degree))
        share, follows = self._of_cut()
        image = image * share.unsqueeze(1)
        largest = inner[:, :, -1:, -1] * CONDITION / (degree * self.values * root).unsqueeze(1)
        image = image - torch.diag_embed(torch.where(follows.unsqueeze(1), largest, 0.0))
        return vectors @ image @ vectors.transpose(2, 3)

    def _of_cut(self) -> tuple[Tensor, Tensor]:
        """By how much less the cut eigenvalues differ than the uncut ones, [C, n, n], and which were cut, [C, n]."""
        cut = self.values > self.uncut
        apart = self.uncut[:, :, None] - self.uncut[:, None, :]
        closer = self.values[:, :, None] - self.values[:, None, :]
        same = (~cut).to(apart.dtype).unsqueeze(2).expand_as(apart)
        return torch.where(apart == 0, same, closer / torch.where(apart == 0, 1.0, apart)), cut
