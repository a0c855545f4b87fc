"""All chains of a small network at once, by numpy's stacked products and in memory that is kept between steps.

A step of a small network takes its time in calls and not in arithmetic. A call of numpy costs a half to a fifth of one of
torch, and fewer are made here. The numbers are those of `LinearPotential._evaluate` up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from llc_core.compute.cores import PerThread
from llc_core.compute.matrices import single_threaded

Array = np.ndarray[Any, Any]


class _Memory:
    """What one thread needs for `count` chains."""

    def __init__(self, stack: NumpyAllChains, count: int):
        widths, inputs, dtype = stack.widths, stack.widths[0], stack.w0.dtype
        # Copies of the displacements and of the gradient, since views of new arrays in every step take longer than to copy.
        self.flat, self.flat_moves, self.flat_grads = np.empty((3, count, stack.w0.shape[1]), dtype)
        self.weights, self.moves, self.grads = map(stack.views, (self.flat, self.flat_moves, self.flat_grads))
        self.turned = [w.transpose(0, 2, 1) for w in self.weights]
        self.errors = [np.empty((count, h, inputs), dtype) for h in widths[1:]]
        self.moved = [np.empty((count, h, inputs), dtype) for h in widths[1:]]
        self.given = [np.empty((count, h, inputs), dtype) for h in widths[1:-1]]
        self.given_turned = [g.transpose(0, 2, 1) for g in self.given]
        self.upstream = [np.empty((count, h, inputs), dtype) for h in widths[1:]]
        self.half, self.work = np.empty((2, count, widths[-1], inputs), dtype)


def numbers(widths: Sequence[int]) -> int:
    """How many numbers `_Memory` keeps for one chain."""
    layers = sum(a * b for a, b in zip(widths, widths[1:], strict=False))
    return 3 * layers + widths[0] * (3 * sum(widths[1:]) + sum(widths[1:-1]) + 2 * widths[-1])


class NumpyAllChains:
    """weights, a0: W⁰_l and W⁰_l ⋯ W⁰_1 in the precision of the run, [1 or C, …]: one for all chains, or one for each."""

    def __init__(self, weights: Sequence[Array], a0: Sequence[Array], slices: Sequence[Any]):
        self.w0 = np.concatenate([w.reshape(len(w), -1) for w in weights], axis=1)
        self.widths = [weights[0].shape[2], *(w.shape[1] for w in weights)]
        self.a0, self.slices = list(a0), list(slices)
        self._local = PerThread()

    def views(self, flat: Array) -> list[Array]:
        """Views [C, H_l, H_{l−1}] into a flat [C, D]."""
        return [flat[:, a:b].reshape(len(flat), rows, columns) for a, b, rows, columns in self.slices]

    def _memory(self, count: int) -> _Memory:
        kept: dict[int, _Memory] = self._local.__dict__.setdefault("memory", {})
        if count not in kept:
            kept.clear()
            kept[count] = _Memory(self, count)
        return kept[count]

    def loss_and_grad(self, delta: Tensor, sxx: Tensor, snx: Tensor, grad: Tensor) -> Tensor:
        """ΔL [C]; the gradient is written to `grad` [C, D]. sxx: [b, N, N], snx: [b', H_M, N], b and b' dividing C."""
        count = delta.shape[0]
        losses = delta.new_empty(count)
        with single_threaded(), np.errstate(all="ignore"):
            self._run(delta.numpy(), _each(sxx, count), _each(snx, count), grad.numpy(), losses.numpy())
        return losses

    def _run(self, delta: Array, sxx: Array, snx: Array, grad: Array, losses: Array) -> None:
        m = self._memory(len(delta))
        moves, views = m.moves, m.grads
        np.add(self.w0, delta, out=m.flat)
        np.copyto(m.flat_moves, delta)
        error = moves[0]
        for layer in range(1, len(moves)):
            np.add(self.a0[layer], error, out=m.given[layer - 1])
            moved = np.matmul(moves[layer], self.a0[layer], out=m.moved[layer])
            error = np.matmul(m.weights[layer], error, out=m.errors[layer])
            error += moved
        half = np.matmul(error, sxx, out=m.half)
        half -= snx
        np.subtract(half, snx, out=m.work)
        np.einsum("cij,cij->c", error, m.work, out=losses)
        half *= 2
        upstream = half
        for layer in range(len(moves) - 1, 0, -1):
            np.matmul(upstream, m.given_turned[layer - 1], out=views[layer])
            out = views[0] if layer == 1 else m.upstream[layer - 1]
            upstream = np.matmul(m.turned[layer], upstream, out=out)
        if len(moves) == 1:
            views[0][:] = half
        np.copyto(grad, m.flat_grads)


def _each(moments: Tensor, count: int) -> Array:
    """One matrix for every chain, or one for all."""
    array = moments.numpy()
    return array if len(array) in (1, count) else np.repeat(array, count // len(array), axis=0)
