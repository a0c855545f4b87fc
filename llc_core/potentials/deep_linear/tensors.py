"""What the evaluation of a linear network needs on a device: weights, products at w0, moments, and the passes over them.

All evaluation is on displacements: with W_l = W⁰_l + δ_l the difference from w0 is propagated,
E_l = W_l E_{l−1} + δ_l A⁰_{l−1}, so that L(w) − L(w0) never comes from subtracting two large numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.matrices import prefers_numpy
from llc_core.compute.precision import EXACT, lasting, products_in
from llc_core.potentials.base import Factors
from llc_core.potentials.deep_linear.cut import Cut, cut_of, parts, saving
from llc_core.potentials.deep_linear.numpy_chains import NumpyAllChains, NumpyChain, NumpyCutChain

ONE_BY_ONE = 192
"""From this width on, a CPU evaluates one chain after the other. A chain's matrices then stay in the cache, and the allocator
returns the same memory again instead of new pages (1.3 times faster at width 400)."""
STACKED_BELOW = 48
"""A CPU on which numpy has the faster products takes all chains at once through `NumpyAllChains` below this width. From it on it goes
chain after chain through `NumpyChain`."""
WIDE_SAVING = 1.5
"""A network that torch evaluates one chain after the other is cut in two if that takes this many times fewer multiplications."""
SAFE_DIGITS = 1e3
"""A difference of products is computed by subtraction if it is this many times larger than the products' rounding."""


class Tensors:
    """The tensors of networks of one shape (mostly of one network), on one device and in one precision.

    networks: have weights, widths, and data with sxx and snx.  each: chains of each network. Weights and products have a
    row for every chain, or one for all where there is one network; moments have a row for every network.
    """

    def __init__(self, networks: Sequence[Any], device: torch.device, dtype: torch.dtype, each: int = 1):
        self.device, self.dtype, self.each = device, dtype, each
        self.networks, self.widths = networks, list(networks[0].widths)
        self.cut = cut_of(self.widths)
        weights = [list(network.weights) for network in networks]
        products = [[np.eye(self.widths[0])] for _ in networks]
        for mine, before in zip(weights, products, strict=True):
            for w in mine:
                before.append(w @ before[-1])
        self.w0 = [self._put(layer) for layer in zip(*weights, strict=True)]
        *a0, p0 = [self._put(layer) for layer in zip(*products, strict=True)]
        self.a0, self.p0 = a0, p0
        self.p0_norm = max(float(np.linalg.norm(mine[-1])) for mine in products)
        self.is_wide = max(self.widths) >= ONE_BY_ONE
        self.products = products_in(dtype)
        offsets = np.cumsum([0, *(w.size for w in weights[0])])
        self.slices = [(int(a), int(b), *w.shape) for a, b, w in zip(offsets, offsets[1:], weights[0], strict=False)]
        self._sizes = [stop - start for start, stop, *_ in self.slices]

    def _put(self, arrays: Sequence[np.ndarray]) -> Tensor:
        """One array of every network, for its chains."""
        rows = torch.stack([torch.as_tensor(array, **EXACT) for array in arrays]).to(self.device, self.dtype)
        return rows if len(rows) == 1 else rows.repeat_interleave(self.each, 0)

    @cached_property
    @lasting()
    def parts(self) -> tuple[list[Tensor], list[Tensor]]:
        """`cut.parts` of every network at w0."""
        above, below = zip(*(parts(list(network.weights), self.cut) for network in self.networks), strict=True)
        return [self._put(rows) for rows in zip(*above, strict=True)], [
            self._put(rows) for rows in zip(*below, strict=True)
        ]

    @cached_property
    @lasting()
    def halves(self) -> Cut | None:
        """The network cut in two, where that is less work."""
        # `differences` subtracts there, three products a layer where the cut has four.
        least = WIDE_SAVING if self.is_wide and self.device.type == "cpu" else 0.0
        if not self.cut or saving(self.widths, self.cut) < least:
            return None
        return Cut(self.w0, *self.parts, self.products)

    @cached_property
    def by_numpy(self) -> NumpyChain | NumpyCutChain | NumpyAllChains | None:
        like = self.w0[0]
        if like.device.type != "cpu" or not prefers_numpy() or self.products.is_short:
            return None
        if stacks(self.widths):
            return NumpyAllChains([w.numpy() for w in self.w0], [a.numpy() for a in self.a0], self.slices)
        if len(self.networks) > 1:
            return None
        w0, p0 = _arrays(self.w0), self.p0[0].numpy()
        safe = SAFE_DIGITS * self.rounding(like)
        if self.cut:
            above, below = (_arrays(rows) for rows in self.parts)
            return NumpyCutChain(w0, above, below, p0, self.slices, safe)
        return NumpyChain(w0, _arrays(self.a0), p0, self.slices, safe)

    def rounding(self, like: Tensor) -> float:
        """Norm of the rounding error of P0."""
        return torch.finfo(like.dtype).eps * len(self.w0) ** 0.5 * self.p0_norm

    @cached_property
    @lasting()
    def sxx(self) -> Tensor:
        """[networks, N, N]."""
        return torch.stack([network.data.sxx for network in self.networks]).to(self.w0[0])

    @cached_property
    @lasting()
    def snx(self) -> Tensor:
        """[networks, outputs, N]."""
        return torch.stack([network.data.snx for network in self.networks]).to(self.w0[0])

    def layers(self, flat: Tensor) -> list[Tensor]:
        """Views [C, H_l, H_{l−1}] into a flat [C, D]."""
        parts = torch.split_with_sizes(flat, self._sizes, 1)
        return [part.view(-1, rows, columns) for part, (_, _, rows, columns) in zip(parts, self.slices, strict=True)]

    def products_at_w0(self, x: Tensor | None) -> list[Tensor]:
        if x is None:
            return self.a0
        result = [x]
        for w in self.w0[:-1]:
            result.append(torch.matmul(w, result[-1]))
        return result

    def forward(self, delta: Tensor, x: Tensor | None) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Weights W_l, differences E_l = (W_l ⋯ W_1 − W⁰_l ⋯ W⁰_1)x, and A⁰_l = W⁰_l ⋯ W⁰_1 x from l = 0.

        x None stands for the identity, [C or 1, H_0, q] otherwise.
        """
        moves = self.layers(delta)
        chains = delta.shape[0]
        weights = [w + d for w, d in zip(self.w0, moves, strict=True)]
        a0 = self.products_at_w0(x)
        errors = [moves[0].clone() if x is None else self.products.multiply(moves[0], x)]
        for layer in range(1, len(moves)):
            moved = self.products.multiply(moves[layer], a0[layer].expand(chains, -1, -1))
            errors.append(self.products.add_product(moved, weights[layer], errors[-1]))
        return weights, errors, a0

    def differences(self, delta: Tensor) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """Weights, what each layer is given, and D = W_M ⋯ W_1 − P0.

        For one chain of a wide network on a CPU, D is the difference of two products: this takes one matrix product a layer
        instead of two. If D is less than SAFE_DIGITS times their rounding, it is propagated layer by layer instead.
        """
        alone = len(delta) == 1 and delta.device.type == "cpu"
        if alone and self.is_wide and len(self.slices) > 1 and not self.products.is_short:
            weights = [w + d for w, d in zip(self.w0, self.layers(delta), strict=True)]
            given = [self.a0[0], weights[0]]
            for w in weights[1:-1]:
                given.append(torch.bmm(w, given[-1]))
            difference = torch.bmm(weights[-1], given[-1]).sub_(self.p0)
            if float(difference.norm()) > SAFE_DIGITS * self.rounding(delta):
                return weights, given, difference
        weights, errors, a0 = self.forward(delta, None)
        return weights, self.inputs(errors[:-1], a0), errors[-1]

    def backward(self, weights: list[Tensor], inputs: list[Tensor], upstream: Tensor, grad: Tensor) -> None:
        """Write the gradient [C, D] from ∂L/∂(W_M ⋯ W_1 x) = upstream [C, H_M, q]; inputs[l] is what layer l + 1 gets."""
        views = self.layers(grad)
        for layer in range(len(views) - 1, 0, -1):
            self.products.multiply(upstream, inputs[layer].transpose(1, 2), out=views[layer])
            upstream = self.products.multiply(weights[layer].transpose(1, 2), upstream)
        if inputs[0] is self.a0[0]:
            views[0].copy_(upstream)
        else:
            self.products.multiply(upstream, inputs[0].transpose(1, 2), out=views[0])

    def inputs(self, errors: list[Tensor], a0: list[Tensor]) -> list[Tensor]:
        """What each layer is given, A⁰ + E; made in place of the differences, which are not needed any more."""
        return [a0[0], *(error.add_(before) for error, before in zip(errors, a0[1:], strict=False))]

    def kronecker_factors(self, delta: Tensor, sxx: Tensor) -> list[Factors]:
        """sxx: [b, H_0, H_0], b dividing C."""
        weights, errors, a0 = self.forward(delta, None)
        chains = delta.shape[0]
        each = sxx if len(sxx) == 1 else spread(sxx, chains)
        inputs = [i.expand(chains, -1, -1) for i in self.inputs(errors[:-1], a0)]
        after = torch.eye(weights[-1].shape[1], dtype=delta.dtype, device=delta.device).expand(chains, -1, -1)
        factors: list[Factors] = []
        for w, before in zip(reversed(weights), reversed(inputs), strict=True):
            b = 2 * torch.bmm(after.transpose(1, 2), after)
            a = torch.bmm(torch.matmul(before, each), before.transpose(1, 2))
            factors.append((b, a))
            after = torch.bmm(after, w)
        return factors[::-1]

    def hvp(self, delta: Tensor, vector: Tensor, sxx: Tensor, snx: Tensor) -> Tensor:
        """sxx: [b, H_0, H_0], snx: [b, H_M, H_0], b dividing C."""
        weights, errors, a0 = self.forward(delta, None)
        moves = self.layers(vector)
        chains = delta.shape[0]
        inputs = self.inputs(errors[:-1], a0)
        ahead = [moves[0]]
        for layer in range(1, len(moves)):
            ahead.append(torch.bmm(moves[layer], inputs[layer]).baddbmm_(weights[layer], ahead[-1]))
        sxx, snx = spread(sxx, chains), spread(snx, chains)
        upstream = torch.bmm(errors[-1], sxx).sub_(snx).mul_(2)
        tangent = torch.bmm(ahead[-1], sxx).mul_(2)
        result = torch.empty_like(vector)
        views = self.layers(result)
        for layer in range(len(moves) - 1, 0, -1):
            crossed = torch.bmm(upstream, ahead[layer - 1].transpose(1, 2))
            views[layer].copy_(crossed.baddbmm_(tangent, inputs[layer].transpose(1, 2)))
            turned = weights[layer].transpose(1, 2)
            tangent = torch.baddbmm(torch.bmm(moves[layer].transpose(1, 2), upstream), turned, tangent)
            upstream = torch.bmm(turned, upstream)
        views[0].copy_(tangent)
        return result


def stacks(widths: Sequence[int]) -> bool:
    """Whether a CPU on which numpy has the faster products takes all chains of such a network at once."""
    return len(widths) == 2 or max(widths) < STACKED_BELOW


def cut_on(widths: Sequence[int], device: str) -> int:
    """Where a network is cut when a run on `device` evaluates all chains; 0: not at all."""
    stacked = device == "cpu" and prefers_numpy() and max(widths) < STACKED_BELOW
    return 0 if stacked else cut_of(widths)


def _arrays(tensors: Sequence[Tensor]) -> list[Any]:
    """Of the only network."""
    return [tensor[0].numpy() for tensor in tensors]


def spread(rows: Tensor, chains: int) -> Tensor:
    """One row for every chain, [C, …], from rows that each belong to equally many chains."""
    return rows.expand(chains, -1, -1) if len(rows) == 1 else rows.repeat_interleave(chains // len(rows), 0)
