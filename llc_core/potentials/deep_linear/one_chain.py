"""One chain after the other by numpy's matrix products: how a CPU evaluates all but small networks.

A chain's matrices stay in its core's cache, no step allocates memory, and chains are spread over the cores. The numbers
are those of `LinearPotential._evaluate` up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from llc_core.compute.cores import PerThread, over_chains
from llc_core.compute.matrices import single_threaded

Array = np.ndarray[Any, Any]


class NumpyChains:
    """Evaluates one chain after the other with `_one`. Chains are spread over the cores; each thread has its own memory."""

    def __init__(self) -> None:
        self._local = PerThread()

    def loss_and_grad(self, delta: Tensor, sxx: Tensor, snx: Tensor, grad: Tensor) -> Tensor:
        """ΔL [C]; the gradient is written to `grad` [C, D]. sxx: [b, N, N], snx: [b', H_M, N], b and b' dividing C."""
        count = len(delta)
        losses = delta.new_empty(count)
        arrays = (delta.numpy(), sxx.numpy(), snx.numpy(), grad.numpy(), losses.numpy())

        def work(chains: Sequence[int]) -> None:
            moves, xx, nx, out, loss = arrays
            if not hasattr(self._local, "memory"):
                self._local.memory = self._make_memory()
            with np.errstate(all="ignore"):  # every thread has its own
                for c in chains:
                    xx_c, nx_c = xx[c * len(xx) // count], nx[c * len(nx) // count]
                    loss[c] = self._one(self._local.memory, moves[c], xx_c, nx_c, out[c])

        with single_threaded():
            over_chains(count, work)
        return losses

    def _make_memory(self) -> Any:
        raise NotImplementedError

    def _one(self, m: Any, delta: Array, sxx: Array, snx: Array, grad: Array) -> float:
        """ΔL of one chain; the gradient is written to `grad` [D]."""
        raise NotImplementedError


def loss_and_force(m: Any, difference: Array, sxx: Array, snx: Array) -> tuple[float, Array]:
    """ΔL and its gradient in W_M ⋯ W_1, from the difference of this product from its value at w0. Overwrites m.half and m.work."""
    np.matmul(difference, sxx, out=m.half)
    np.subtract(m.half, snx, out=m.half)
    np.subtract(m.half, snx, out=m.work)
    return float(np.vdot(difference, m.work)), np.multiply(m.half, 2, out=m.half)


class _Memory:
    """What one thread needs for one chain."""

    def __init__(self, chain: NumpyChain):
        dtype, widths = chain.w0.dtype, chain.widths
        flat = np.empty_like(chain.w0)
        self.flat, self.weights = flat, [flat[a:b].reshape(rows, columns) for a, b, rows, columns in chain.slices]
        inputs = widths[0]
        self.given = [self.weights[0], *(np.empty((h, inputs), dtype) for h in widths[2:-1])]
        self.errors = [np.empty((h, inputs), dtype) for h in widths[1:]]
        self.half, self.work = np.empty((widths[-1], inputs), dtype), np.empty((widths[-1], inputs), dtype)
        self.upstream = [np.empty((h, inputs), dtype) for h in widths[1:-1]]


class NumpyChain(NumpyChains):
    """weights, a0: W⁰_l and W⁰_l ⋯ W⁰_1 in the precision of the run.

    safe: a difference of products with a norm above this is computed by subtraction, a smaller one layer by layer.
    """

    def __init__(self, weights: Sequence[Array], a0: Sequence[Array], p0: Array, slices: Sequence[Any], safe: float):
        super().__init__()
        self.w0 = np.concatenate([w.ravel() for w in weights])
        self.widths = [weights[0].shape[1], *(w.shape[0] for w in weights)]
        self.a0, self.p0, self.slices, self.safe = list(a0), p0, list(slices), safe

    def _make_memory(self) -> _Memory:
        return _Memory(self)

    def _one(self, m: _Memory, delta: Array, sxx: Array, snx: Array, grad: Array) -> float:
        np.add(self.w0, delta, out=m.flat)
        difference = self._difference(m, delta)
        loss, upstream = loss_and_force(m, difference, sxx, snx)
        for layer in range(len(self.slices) - 1, 0, -1):
            start, stop, rows, columns = self.slices[layer]
            np.matmul(upstream, m.given[layer - 1].T, out=grad[start:stop].reshape(rows, columns))
            if layer == 1:
                start, stop, rows, columns = self.slices[0]
                np.matmul(m.weights[1].T, upstream, out=grad[start:stop].reshape(rows, columns))
            else:
                upstream = np.matmul(m.weights[layer].T, upstream, out=m.upstream[layer - 1])
        return loss

    def _difference(self, m: _Memory, delta: Array) -> Array:
        """D = W_M ⋯ W_1 − P0; what each layer is given is left in `m.given`."""
        last = len(self.slices) - 1
        for layer in range(1, last):
            np.matmul(m.weights[layer], m.given[layer - 1], out=m.given[layer])
        product = np.matmul(m.weights[last], m.given[last - 1], out=m.errors[last])
        np.subtract(product, self.p0, out=product)
        if not np.linalg.norm(product) <= self.safe:  # large enough, or nan
            return product
        error = delta[: self.slices[0][1]].reshape(m.weights[0].shape)
        for layer in range(1, last + 1):
            start, stop, rows, columns = self.slices[layer]
            moved = np.matmul(delta[start:stop].reshape(rows, columns), self.a0[layer])
            np.matmul(m.weights[layer], error, out=m.errors[layer])
            error = np.add(m.errors[layer], moved, out=m.errors[layer])
        return error
