"""Fixed matrices R with R·Rᵀ near the inverse curvature of U, (nβ∇²L + γ)⁻¹: one for each group of chains.

Shapes: G groups of c chains with D parameters each; vectors are [G, c, D].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from llc_core.potentials.base import Factors

Apply = Callable[[Tensor], Tensor]
"""The curvature of U, [G, D] → [G, D], a mean over the chains of each group."""

FLATTEST = 1e-6
"""Curvatures below this share of the largest one count as this share: γ may be 0 and the loss flat."""
FURTHER = 8
"""Lanczos steps by which the curvature beside the captured directions is looked at."""
LOST = 1e-5
"""A new Lanczos vector that is shorter than this share of the largest curvature is rounding."""


class Root(Protocol):
    """R of every group."""

    def spread(self, z: Tensor) -> Tensor:
        """R·z, [G, c, D]."""

    def gather(self, gradient: Tensor) -> Tensor:
        """Rᵀ·g, [G, c, D]."""


class DenseRoot:
    """R = Q·h^−½ from the eigenvalues h and eigenvectors Q of whole matrices; h is at least γ."""

    def __init__(self, curvature: Tensor, localization: Tensor):
        """curvature: [G, D, D] of U.  localization: γ [G]."""
        wide = curvature.double()
        values, vectors = torch.linalg.eigh((wide + wide.transpose(1, 2)) / 2)
        self._root = (vectors * _at_least(values, localization).rsqrt().unsqueeze(1)).to(curvature)

    def spread(self, z: Tensor) -> Tensor:
        return torch.matmul(z, self._root.transpose(1, 2))

    def gather(self, gradient: Tensor) -> Tensor:
        return torch.matmul(gradient, self._root)


class KroneckerRoot:
    """The same from a Kronecker model of every layer's curvature, as in `llc_core.engine.target`. What it misses: how
    layers move together, and how the factors of one place depend on each other."""

    def __init__(self, factors: Sequence[Factors], n_beta: Tensor, localization: Tensor, like: Tensor):
        """factors: (B [G, H, H], A [G, H', H']) of ∇²L, of every layer.  n_beta, localization: [G].  like: of the device and
        precision wanted."""
        self._layers = []
        start = 0
        for out_factor, in_factor in factors:
            b, p = torch.linalg.eigh(out_factor.double())
            a, q = torch.linalg.eigh(in_factor.double())
            loss = n_beta.double()[:, None, None] * b.clamp_min(0)[:, :, None] * a.clamp_min(0)[:, None, :]
            total = (loss + localization.double()[:, None, None]).flatten(1)
            scale = _at_least(total, localization).rsqrt().view(loss.shape).unsqueeze(1)
            stop = start + loss[0].numel()
            p, q, scale = (part.to(like) for part in (p.unsqueeze(1), q.unsqueeze(1), scale))
            self._layers.append((start, stop, p, q, scale))
            start = stop

    def spread(self, z: Tensor) -> Tensor:
        result = torch.empty_like(z)
        for start, stop, p, q, scale in self._layers:
            layer = z[:, :, start:stop].reshape(*z.shape[:2], p.shape[2], q.shape[2]) * scale
            result[:, :, start:stop] = torch.matmul(torch.matmul(p, layer), q.transpose(2, 3)).flatten(2)
        return result

    def gather(self, gradient: Tensor) -> Tensor:
        result = torch.empty_like(gradient)
        for start, stop, p, q, scale in self._layers:
            layer = gradient[:, :, start:stop].reshape(*gradient.shape[:2], p.shape[2], q.shape[2])
            result[:, :, start:stop] = (torch.matmul(torch.matmul(p.transpose(2, 3), layer), q) * scale).flatten(2)
        return result


class LanczosRoot:
    """R = Σ q·qᵀ/√h over the Ritz pairs of a Krylov space, and √m elsewhere (Lanczos 1950).

    m is such that beside the captured directions tr(M·nβ∇²L) is what it should be, Σ a/(a + γ), by the spectrum that a
    random vector sees (Ubaru, Chen & Saad 2017). What it misses: there the stiffer directions weigh too much, in the
    ratio of their curvature to the mean one, and the flatter ones too little.
    """

    def __init__(self, apply: Apply, first: Tensor, second: Tensor, localization: Tensor, steps: int):
        """first, second: [G, D] random vectors.  localization: γ [G].  steps: dimension of the space."""
        values, vectors, _ = _lanczos(apply, first, steps, None)
        self._vectors = vectors
        values = _at_least(values, localization)
        rest = 1 / values.amin(dim=1)
        if vectors.shape[1] < vectors.shape[2]:
            beside, _, weights = _lanczos(apply, second, FURTHER, vectors)
            total = _at_least(beside, localization, values.amax(dim=1))
            loss = (total - localization.to(total).unsqueeze(1)).clamp_min(0)
            share, size = (weights * loss / total).sum(dim=1), (weights * loss).sum(dim=1)
            rest = torch.where(size > FLATTEST * values.amin(dim=1), share / size, rest)
        self._rest = rest.sqrt()[:, None, None].to(first)
        self._more = (values.rsqrt().to(first) - self._rest[:, :, 0]).unsqueeze(1)

    def spread(self, z: Tensor) -> Tensor:
        inside = torch.matmul(z, self._vectors.transpose(1, 2)) * self._more
        return torch.baddbmm(self._rest * z, inside, self._vectors)

    gather = spread  # R is symmetric


def _at_least(values: Tensor, localization: Tensor, top: Tensor | None = None) -> Tensor:
    """values [G, k], none below γ [G] or FLATTEST of the largest."""
    top = values.amax(dim=1) if top is None else top
    least = torch.maximum(localization.to(values), FLATTEST * top).clamp_min(1e-300)
    return values.maximum(least.unsqueeze(1))


def _lanczos(apply: Apply, start: Tensor, steps: int, known: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Ritz values [G, k], vectors [G, k, D] and the start's weights on them [G, k], orthogonal to `known` [G, k', D].

    All vectors are made orthogonal twice, since in single precision the recursion alone loses it.
    """
    basis: list[Tensor] = []
    steps = min(steps, start.shape[1] - (0 if known is None else known.shape[1]))
    matrix = start.new_zeros(len(start), steps, steps, dtype=torch.float64)

    def free(vector: Tensor) -> Tensor:
        for _ in range(2):
            for space in ([] if known is None else [known]) + ([torch.stack(basis, dim=1)] if basis else []):
                vector = vector - torch.bmm(torch.bmm(space, vector.unsqueeze(2)).transpose(1, 2), space).squeeze(1)
        return vector

    vector = free(start)
    vector = vector / vector.norm(dim=1, keepdim=True).clamp_min(1e-30)
    scale = start.new_zeros(len(start), 1)
    for step in range(steps):
        basis.append(vector)
        image = apply(vector)
        matrix[:, step, step] = (image * vector).sum(dim=1).double()
        image = free(image)
        length = image.norm(dim=1, keepdim=True)
        scale = torch.maximum(scale, length + matrix[:, step, step : step + 1].abs().to(length))
        lost = length <= LOST * scale
        if step + 1 < steps:
            # An invariant space was found: go on from any vector beside it.
            other = free(start.roll(step + 1, dims=1))
            other = other / other.norm(dim=1, keepdim=True).clamp_min(1e-30)
            vector = torch.where(lost, other, free(image / length.clamp_min(1e-30)))
            vector = vector / vector.norm(dim=1, keepdim=True).clamp_min(1e-30)
            matrix[:, step, step + 1] = matrix[:, step + 1, step] = torch.where(lost, 0.0, length).squeeze(1).double()
    values, turns = torch.linalg.eigh(matrix)
    vectors = torch.bmm(turns.transpose(1, 2).to(start), torch.stack(basis, dim=1))
    return values, vectors, turns[:, 0].square()
