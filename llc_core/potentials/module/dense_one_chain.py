"""Forward and backward pass of a fully connected stack for one chain: plain matrices, buffers and views that are kept.

It does what `dense.DensePasses` does, without a dimension for the chains. A step of 784-256-256-10 then makes 235 calls for
each chain instead of 514, which matters where several threads share one interpreter.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import torch
from torch import Tensor

from llc_core.potentials.module.activations import FROM_VALUE, activate, slope_before
from llc_core.potentials.module.layers import Dense
from llc_core.potentials.module.losses import Loss, slope_of
from llc_core.potentials.module.passes import Position, Weights


@dataclass
class _Buffers:
    """Buffers of one thread for one number of rows: values before and after each activation, and slopes."""

    z: list[Tensor]
    a: list[Tensor | None]
    slope: list[Tensor]


@dataclass
class _Kept(threading.local):
    w: list[Tensor] = field(default_factory=list)
    buffers: dict[int, _Buffers] = field(default_factory=dict)


class OneChain:
    """For stacks of which whole tensors move, each used once (`DensePasses.writes`)."""

    def __init__(self, layers: list[Dense], loss: Loss, weights: Weights, lowest: int):
        self.layers, self.loss, self.lowest = layers, loss, lowest
        self.slope = slope_of(loss)
        self.sizes = [piece.stop - piece.start for piece in weights.pieces]
        self.shapes = [piece.shape for piece in weights.pieces]
        self.w0 = [weights.moving[piece.name].reshape(-1) for piece in weights.pieces]
        self.place = {piece.name: i for i, piece in enumerate(weights.pieces)}
        self.still = weights.still
        self._kept = _Kept()

    def losses(self, point: Position, x: Tensor, target: Tensor) -> Tensor:
        """Losses [B]. x [B, …], target [B, …]."""
        return self.loss(self._forward(point, x)[1][-1], target)

    def losses_and_grad(
        self, point: Position, x: Tensor, target: Tensor, weight: float, grad: Tensor, keep: float
    ) -> Tensor:
        """Losses [B]. keep: 1 to add weight·Σ of their gradients to `grad` [D], 0 to write it there."""
        weights, given = self._forward(point, x)
        output = given[-1]
        if self.layers[-1].activation is not None:  # its value is needed again, and slopes overwrite it
            output = output.clone()
        losses, slope = self.slope(output, target, weight)
        buffers = self._kept.buffers[len(x)]
        into = grad.split(self.sizes)
        for index in range(len(self.layers) - 1, self.lowest - 1, -1):
            layer = self.layers[index]
            slope = slope_before(layer.activation, slope, given[index + 1], buffers.z[index])
            at = self.place.get(layer.weight)
            if at is not None:
                into[at].view(self.shapes[at]).addmm_(slope.T, given[index], beta=keep)
            at = None if layer.bias is None else self.place.get(layer.bias)
            if at is not None:
                if keep:
                    into[at].add_(slope.sum(0))
                else:
                    torch.sum(slope, 0, out=into[at])
            if index > self.lowest:
                slope = torch.mm(slope, weights[layer.weight], out=buffers.slope[index - 1])
        return losses

    def _forward(self, point: Position, x: Tensor) -> tuple[dict[str, Tensor], list[Tensor]]:
        """The tensors at w0 + δ, and what each layer is given, then the output."""
        weights = {**self.still, **self._weights(point)}
        given = [x.view(len(x), -1) if x.is_contiguous() else x.reshape(len(x), -1)]
        buffers = self._buffers(given[0])
        for index, layer in enumerate(self.layers):
            z, w = buffers.z[index], weights[layer.weight]
            if layer.bias is None:
                torch.mm(given[-1], w.T, out=z)
            else:
                torch.addmm(weights[layer.bias], given[-1], w.T, out=z)
            given.append(activate(layer.activation, z, buffers.a[index]))
        return weights, given

    def _weights(self, point: Position) -> dict[str, Tensor]:
        delta = point.delta[0]
        kept = self._kept.w
        if not kept:
            whole = delta.new_empty(len(delta))
            kept = self._kept.w = [part.view(s) for part, s in zip(whole.split(self.sizes), self.shapes, strict=True)]
        vectors = None if point.scale is None or point.vector is None else point.vector[0].split(self.sizes)
        for i, (w0, move) in enumerate(zip(self.w0, delta.split(self.sizes), strict=True)):
            w = kept[i].view(-1)
            torch.add(w0, move, out=w)
            if vectors is not None and point.scale is not None:
                w.addcmul_(point.scale[0], vectors[i])
        return {name: kept[i] for name, i in self.place.items()}

    def _buffers(self, x: Tensor) -> _Buffers:
        rows = x.shape[0]
        if rows not in self._kept.buffers:
            if len(self._kept.buffers) > 1:  # a batch's chunks and a last, shorter one
                self._kept.buffers.clear()
            shapes = [(rows, layer.outputs) for layer in self.layers]
            self._kept.buffers[rows] = _Buffers(
                [x.new_empty(shape) for shape in shapes],
                [
                    None if layer.activation in FROM_VALUE else x.new_empty(shape)
                    for layer, shape in zip(self.layers, shapes, strict=True)
                ],
                [x.new_empty(shape) for shape in shapes],
            )
        return self._kept.buffers[rows]
