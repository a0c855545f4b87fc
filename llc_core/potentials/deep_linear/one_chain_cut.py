"""One chain after the other by numpy's matrix products, on a network cut in two at its narrowest layer (see `cut.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from llc_core.potentials.deep_linear.one_chain import Array, NumpyChains, loss_and_force


class _Memory:
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

    def _make_memory(self) -> _Memory:
        return _Memory(self)

    def _one(self, m: _Memory, delta: Array, sxx: Array, snx: Array, grad: Array) -> float:
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

    def _propagated(self, m: _Memory, moves: list[Array]) -> Array:
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
