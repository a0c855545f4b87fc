"""How a CPU evaluates linear networks, by numpy: all chains of a small network at once, one chain after the other of larger ones.
Long, since there are three ways, and which is quickest hangs on the widths.

All chains of a small network go at once, by stacked products in memory that is kept between steps: a step takes its time in calls
and not in arithmetic, a call of numpy costs a half to a fifth of one of torch, and fewer are made here.

One chain after the other, a chain's matrices stay in its core's cache, no step allocates memory, and chains are spread over the
cores. The same on a network cut in two at its narrowest layer: see `cut.py`.

The numbers are those of `LinearPotential._evaluate` up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from llc_core.compute.cores import PerThread, over_chains
from llc_core.compute.matrices import single_threaded

Array = np.ndarray[Any, Any]


class _MemoryOfAll:
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
    """How many numbers `_MemoryOfAll` keeps for one chain."""
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

    def _memory(self, count: int) -> _MemoryOfAll:
        kept: dict[int, _MemoryOfAll] = self._local.__dict__.setdefault("memory", {})
        if count not in kept:
            kept.clear()
            kept[count] = _MemoryOfAll(self, count)
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


class _CutMemory:
    """What one thread needs for one chain."""

    def __init__(self, evaluation: NumpyCutChain):
        dtype, at = evaluation.w0.dtype, len(evaluation.below)
        self.flat = np.empty_like(evaluation.w0)
        self.weights = evaluation.layers(self.flat)
        self.above = [self.weights[at], *(np.empty_like(a) for a in evaluation.above[1:])]
        self.below = [*(np.empty_like(b) for b in evaluation.below[:-1]), self.weights[at - 1]]
        self.up, self.down = ([np.empty_like(x) for x in part] for part in (evaluation.above, evaluation.below))
        self.errors = np.empty_like(evaluation.p0)
        self.half, self.work = (np.empty(evaluation.p0.shape, dtype) for _ in range(2))


class NumpyCutChain(NumpyChains):
    """weights, p0, slices, safe: as of `NumpyChain`.  above, below: the `cut.parts` of the weights."""

    def __init__(
        self,
        weights: Sequence[Array],
        above: Sequence[Array],
        below: Sequence[Array],
        p0: Array,
        slices: Sequence[Any],
        safe: float,
    ):
        super().__init__()
        self.w0 = np.concatenate([w.ravel() for w in weights])
        self.above, self.below, self.p0, self.slices, self.safe = list(above), list(below), p0, list(slices), safe

    def layers(self, flat: Array) -> list[Array]:
        """Views [H_l, H_{l−1}] into a flat [D]."""
        return [flat[start:stop].reshape(rows, columns) for start, stop, rows, columns in self.slices]

    def _make_memory(self) -> _CutMemory:
        return _CutMemory(self)

    def _one(self, m: _CutMemory, delta: Array, sxx: Array, snx: Array, grad: Array) -> float:
        np.add(self.w0, delta, out=m.flat)
        at, last = len(self.below), len(self.slices) - 1
        for layer in range(at + 1, last + 1):
            np.matmul(m.weights[layer], m.above[layer - at - 1], out=m.above[layer - at])
        for layer in range(at - 2, -1, -1):
            np.matmul(m.below[layer + 1], m.weights[layer], out=m.below[layer])
        u, v = m.above[-1], m.below[0]
        difference = np.matmul(u, v, out=m.errors)
        np.subtract(difference, self.p0, out=difference)
        if np.linalg.norm(difference) <= self.safe:
            difference = self._propagated(m, self.layers(delta))
        loss, force = loss_and_force(m, difference, sxx, snx)
        grads = self.layers(grad)
        upward, downward = force, force
        for layer in range(last, at - 1, -1):
            out = grads[at] if layer == at else m.up[layer - at]
            upward = np.matmul(*((force, v.T) if layer == last else (m.weights[layer + 1].T, upward)), out=out)
            if layer > at:
                np.matmul(upward, m.above[layer - at - 1].T, out=grads[layer])
        for layer in range(at):
            out = grads[at - 1] if layer == at - 1 else m.down[layer]
            downward = np.matmul(*((u.T, force) if layer == 0 else (downward, m.weights[layer - 1].T)), out=out)
            if layer < at - 1:
                np.matmul(m.below[layer + 1].T, downward, out=grads[layer])
        return loss

    def _propagated(self, m: _CutMemory, moves: list[Array]) -> Array:
        """W_M ⋯ W_1 − P0 when it is too small to be taken by subtraction."""
        at = len(self.below)
        u_error = moves[at]
        for layer in range(at + 1, len(moves)):
            u_error = moves[layer] @ self.above[layer - at - 1] + m.weights[layer] @ u_error
        v_error = moves[at - 1]
        for layer in range(at - 2, -1, -1):
            v_error = self.below[layer + 1] @ moves[layer] + v_error @ m.weights[layer]
        np.matmul(u_error, m.below[0], out=m.errors)
        return np.add(m.errors, self.above[-1] @ v_error, out=m.errors)
