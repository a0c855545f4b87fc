"""A deep linear network cut in two at its narrowest layer, so that no product is wider than that.

W_M ⋯ W_1 = U·V with U = W_M ⋯ W_{k+1} [H_M, r] and V = W_k ⋯ W_1 [r, H_0], r = H_k. U is made from the cut upwards, on r
columns, and V from the cut downwards, on r rows; the gradient goes back to the cut the same ways. Carrying the identity
through the whole network costs H_0 columns in every layer instead. Over the benchmark's networks of about a hundred
thousand parameters that halves the arithmetic of a step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from llc_core.compute.precision import Products

WORTH = 1.15
"""A cut must save at least this factor of multiplications, since it makes more and smaller products."""


def cut_of(widths: Sequence[int]) -> int:
    """The layer k, 0 < k < M, to cut at; 0: not at all."""
    best = min(range(len(widths) - 1), key=lambda k: multiplications(widths, k))
    return best if saving(widths, best) > WORTH else 0


def saving(widths: Sequence[int], cut: int) -> float:
    """How many times fewer multiplications the cut needs."""
    return multiplications(widths, 0) / multiplications(widths, cut)


def multiplications(widths: Sequence[int], cut: int) -> int:
    """Multiplications of one loss and its gradient, with differences from w0 propagated. cut: the layer of the cut; 0: no cut."""
    inputs, outputs = widths[0], widths[-1]
    sizes = [a * b for a, b in zip(widths, widths[1:], strict=False)]
    moments = outputs * inputs * inputs
    if cut == 0:
        return 4 * sum(sizes[1:]) * inputs + moments
    rank = widths[cut]
    inner = sum(size for layer, size in enumerate(sizes) if layer not in (cut - 1, cut))
    return (4 * inner + 4 * outputs * inputs) * rank + moments


def parts(weights: Sequence[np.ndarray], cut: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """A_l = W_l ⋯ W_{k+1} for l = k+1 … M, and B_l = W_k ⋯ W_l for l = 1 … k."""
    above, below = [weights[cut]], [weights[cut - 1]]
    for w in weights[cut + 1 :]:
        above.append(w @ above[-1])
    for w in reversed(weights[: cut - 1]):
        below.insert(0, below[0] @ w)
    return above, below


class Cut:
    """Loss and gradient of all chains at once.

    w0: the weights; above, below: their `parts`, all [C or 1, …].  products: how they are multiplied.
    """

    def __init__(self, w0: list[Tensor], above: list[Tensor], below: list[Tensor], products: Products):
        self.w0, self.above, self.below, self.products = w0, above, below, products
        self.at = len(below)

    def loss_and_grad(self, moves: list[Tensor], sxx: Tensor, snx: Tensor, grads: list[Tensor]) -> Tensor:
        """ΔL [C]; the gradient is written to `grads`. moves, grads: of each layer, [C, H_l, H_{l−1}]."""
        at, chains = self.at, len(moves[0])
        multiply, add_product = self.products.multiply, self.products.add_product
        weights = [w + d for w, d in zip(self.w0, moves, strict=True)]
        above, moved_u = self._upwards(moves, weights)
        below, moved_v = self._downwards(moves, weights)
        u0 = self.above[-1].expand(chains, -1, -1)
        difference = add_product(multiply(moved_u, below[0]), u0, moved_v)
        _, outputs, inputs = difference.shape
        cross = snx.unsqueeze(1)
        half = multiply(difference.view(len(sxx), -1, inputs), sxx)
        half = half.view(len(snx), -1, outputs, inputs).sub_(cross)
        loss = (difference.view(half.shape) * (half - cross)).sum(dim=(-1, -2)).view(chains)
        force = half.mul_(2).view(chains, outputs, inputs)

        upward = multiply(force, below[0].transpose(1, 2))
        for layer in range(len(weights) - 1, at, -1):
            multiply(upward, above[layer - at - 1].transpose(1, 2), out=grads[layer])
            upward = multiply(weights[layer].transpose(1, 2), upward)
        grads[at].copy_(upward)
        downward = multiply(above[-1].transpose(1, 2), force)
        for layer in range(at - 1):
            multiply(below[layer + 1].transpose(1, 2), downward, out=grads[layer])
            downward = multiply(downward, weights[layer].transpose(1, 2))
        grads[at - 1].copy_(downward)
        return loss

    def _upwards(self, moves: list[Tensor], weights: list[Tensor]) -> tuple[list[Tensor], Tensor]:
        """A_l at w, and how far the last of them is from its place at w0."""
        error, result = moves[self.at], []
        for layer in range(self.at + 1, len(moves)):
            before = self.above[layer - self.at - 1]
            result.append(before + error)
            moved = self.products.multiply(moves[layer], before.expand(len(error), -1, -1))
            error = self.products.add_product(moved, weights[layer], error)
        return [*result, self.above[-1] + error], error

    def _downwards(self, moves: list[Tensor], weights: list[Tensor]) -> tuple[list[Tensor], Tensor]:
        """B_l at w, and how far the first of them is from its place at w0."""
        error, result = moves[self.at - 1], [self.below[-1] + moves[self.at - 1]]
        for layer in range(self.at - 2, -1, -1):
            after = self.below[layer + 1]
            moved = self.products.multiply(after.expand(len(error), -1, -1), moves[layer])
            error = self.products.add_product(moved, error, weights[layer])
            result.insert(0, self.below[layer] + error)
        return result, error
