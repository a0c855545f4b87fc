"""Forward and backward pass of a fully connected stack by hand: products into buffers that are kept. Long, since there are two: of
all chains at once, batched, and of one chain.

Beside torch.func this saves the graph, the allocations and the copies into one flat gradient. `OneChain` does what `DensePasses`
does, without a dimension for the chains, by plain matrices and views that are kept. A step of 784-256-256-10 then makes 235 calls
for each chain instead of 514, which matters where several threads share one interpreter.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field

import torch
from torch import Tensor

from llc_core.potentials.module.data.rows import Rows
from llc_core.potentials.module.losses import Loss, slope_of
from llc_core.potentials.module.parameters import Piece
from llc_core.potentials.module.passes.any_module import Position, Weights
from llc_core.potentials.module.passes.layers import FROM_VALUE, Dense, activate, is_wide, slope_before


@dataclass
class _Buffers:
    """Buffers of one thread for one number of rows: values before and after each activation, and slopes."""

    z: list[Tensor]
    a: list[Tensor | None]
    slope: list[Tensor]


@dataclass
class _KeptOfOne(threading.local):
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
        self._kept = _KeptOfOne()

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


ONE_BY_ONE = 192
"""From this width on, a CPU takes one chain after the other: its matrices stay in the cache, and rows are not copied."""


class DensePasses:
    """See `passes.Passes`. Autograd differentiates a user's own loss; the layers are always done by hand."""

    def __init__(self, layers: list[Dense], loss: Loss, weights: Weights, device: torch.device):
        self.layers, self.loss, self.weights = layers, loss, weights
        self.pieces = {piece.name: piece for piece in weights.pieces}
        self.by_chain = device.type == "cpu" and is_wide(layers, ONE_BY_ONE)
        moving = [layer.weight in self.pieces or layer.bias in self.pieces for layer in layers]
        self.lowest = moving.index(True)
        used = [name for layer in layers[self.lowest :] for name in (layer.weight, layer.bias) if name in self.pieces]
        self.writes = sorted(used) == sorted(self.pieces)
        """Whether a pass reaches every piece exactly once. If two layers share a tensor, the second adds to its gradient."""
        whole = all(piece.chosen is None for piece in weights.pieces)
        self.one = OneChain(layers, loss, weights, self.lowest) if whole and self.writes else None
        self._kept = _Kept()

    def losses(self, point: Position, rows: Rows) -> Tensor:
        if self.by_chain and len(point) > 1:
            return torch.cat([self.losses(point.of(c), _one(rows, c)) for c in range(len(point))])
        if self.one is not None and len(point) == 1:
            inputs, target = rows.of(0)
            return self.one.losses(point, inputs[0], target).unsqueeze(0)
        inputs, target = rows.stacked()
        output = self._forward(point, inputs[0])[-1]
        each = target.expand(len(point), *target.shape[1:])
        return self.loss(output.flatten(0, 1), each.flatten(0, 1)).view(output.shape[:2])

    def write(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        if not self.writes:
            return self.add(point, rows, weight, grad.zero_())
        return self._losses_and_grad(point, rows, weight, grad, 0.0)

    def add(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        return self._losses_and_grad(point, rows, weight, grad, 1.0)

    def _losses_and_grad(self, point: Position, rows: Rows, weight: float, grad_to: Tensor, keep: float) -> Tensor:
        """keep: what a gradient that is there already is multiplied with, as `beta` in torch.addmm."""
        if self.by_chain and len(point) > 1:
            chains = range(len(point))
            parts = [
                self._losses_and_grad(point.of(c), _one(rows, c), weight, grad_to[c : c + 1], keep) for c in chains
            ]
            return torch.cat(parts)
        if self.one is not None and len(point) == 1:
            inputs, target = rows.of(0)
            return self.one.losses_and_grad(point, inputs[0], target, weight, grad_to[0], keep).unsqueeze(0)
        inputs, target = rows.stacked()
        given = self._forward(point, inputs[0])
        losses, slope = self._slope(given[-1], target, weight)
        self._backward(given, slope, grad_to, keep)
        return losses

    def _forward(self, point: Position, x: Tensor) -> list[Tensor]:
        """What each layer is given [C, B, H], then the output; values before an activation go to the buffers."""
        chains, count = len(point), x.shape[1]
        x = x.reshape(len(x), count, -1)
        shared = self._kept.shared = len(x) < chains
        given = [x.expand(chains, -1, -1)]
        for index, layer in enumerate(self.layers):
            w = self._weight(point, layer.weight)
            z = self._of_layer("z", index, (chains, count, layer.outputs), point.delta)
            if index == 0 and shared:
                # Rows that all chains share: one product for all of them.
                flat = z.transpose(0, 1).view(count, -1)
                torch.mm(x[0], w.reshape(-1, layer.inputs).T, out=flat)
                if layer.bias is not None:
                    flat += self._weight(point, layer.bias).reshape(1, -1)
            elif layer.bias is None or chains == 1:
                _product(given[-1], w.transpose(1, 2), z)
                if layer.bias is not None:
                    z += self._weight(point, layer.bias).unsqueeze(1)
            else:
                bias = self._weight(point, layer.bias).unsqueeze(1)
                torch.baddbmm(bias, given[-1], w.transpose(1, 2), out=z)
            other = None if layer.activation in FROM_VALUE else self._of_layer("a", index, z.shape, z)
            given.append(activate(layer.activation, z, other))
        return given

    def _slope(self, output: Tensor, target: Tensor, weight: float) -> tuple[Tensor, Tensor]:
        chains, count = output.shape[:2]
        each = target.expand(chains, *target.shape[1:])
        if self.layers[-1].activation is not None:  # its value is needed again, and slopes overwrite it
            output = output.clone()
        losses, slope = slope_of(self.loss)(output.flatten(0, 1), each.flatten(0, 1), weight)
        return losses.view(chains, count), slope.view(output.shape)

    def _backward(self, given: list[Tensor], slope: Tensor, grad_to: Tensor, keep: float) -> None:
        """slope: weight·∂loss/∂output, [C, B, K].  keep: 1 to add to `grad_to`, 0 to write it."""
        for index in range(len(self.layers) - 1, self.lowest - 1, -1):
            layer = self.layers[index]
            if layer.activation is not None:
                value = given[index + 1]
                z = value if layer.activation in FROM_VALUE else self._of_layer("z", index, value.shape, value)
                slope = slope_before(layer.activation, slope, value, z)
            piece = self.pieces.get(layer.weight)
            if piece is not None:
                self._add_product(piece, slope, given[index], grad_to, self._kept.shared and index == 0, keep)
            if layer.bias is not None and layer.bias in self.pieces:
                _put(self.pieces[layer.bias], slope.sum(1), grad_to, keep)
            if index > self.lowest:
                below = self._of_layer("s", index - 1, given[index].shape, slope)
                slope = _product(slope, self._kept.weights[layer.weight], below)

    def _add_product(
        self, piece: Piece, slope: Tensor, given: Tensor, grad_to: Tensor, shared: bool, keep: float
    ) -> None:
        if shared:
            flat = slope.transpose(0, 1).reshape(slope.shape[1], -1)
            _put(piece, torch.mm(flat.T, given[0]).view(len(grad_to), -1), grad_to, keep)
        elif piece.chosen is None:
            into = grad_to[:, piece.start : piece.stop].view(len(grad_to), *piece.shape)
            if len(into) == 1:
                into[0].addmm_(slope[0].T, given[0], beta=keep)
            else:
                into.baddbmm_(slope.transpose(1, 2), given, beta=keep)
        else:
            _put(piece, torch.bmm(slope.transpose(1, 2), given).flatten(1), grad_to, keep)

    # -- numbers ------------------------------------------------------------------------------------------------------

    def _weight(self, point: Position, name: str) -> Tensor:
        """The tensor at w0 + δ, [C, …], kept for the backward pass."""
        piece = self.pieces.get(name)
        if piece is None:
            still = self.weights.still[name]
            w = still.expand(len(point), *still.shape)
        else:
            w = self._buffer(f"w{name}", (len(point), *piece.shape), point.delta)
            point.put(w.view(len(point), -1), self.weights.moving[name], piece)
        self._kept.weights[name] = w
        return w

    def _of_layer(self, kind: str, index: int, shape: tuple[int, ...] | torch.Size, like: Tensor) -> Tensor:
        """A buffer [C, B, H] for what layer `index` gives. For rows that all chains share, the first layer's lies in
        memory as [B, C, H]: one large product then does for all chains."""
        if index == 0 and self._kept.shared:
            chains, count, width = shape
            return self._buffer(f"{kind}{index}", (count, chains, width), like).transpose(0, 1)
        return self._buffer(f"{kind}{index}", shape, like)

    def _buffer(self, name: str, shape: tuple[int, ...] | torch.Size, like: Tensor) -> Tensor:
        size = math.prod(shape)
        have = self._kept.buffers.get(name)
        if have is None or len(have) < size:
            have = self._kept.buffers[name] = torch.empty(size, dtype=like.dtype, device=like.device)
        return have[:size].view(shape)


class _Kept(threading.local):
    """Memory of one thread: two runs may share a potential, each in its own."""

    def __init__(self) -> None:
        self.buffers: dict[str, Tensor] = {}
        self.weights: dict[str, Tensor] = {}
        self.shared = False


def _put(piece: Piece, part: Tensor, grad_to: Tensor, keep: float) -> None:
    """A tensor's gradient [C, entries] to its place in the whole one."""
    into, part = grad_to[:, piece.start : piece.stop], part if piece.chosen is None else part[:, piece.chosen]
    into.add_(part) if keep else into.copy_(part)


def _product(a: Tensor, b: Tensor, out: Tensor) -> Tensor:
    """a·b for every chain. A single chain is one plain product: for 784-256-256-10 a step's products then took 3.6 ms instead of
    3.9 ms."""
    if len(out) == 1:
        torch.mm(a[0], b[0], out=out[0])
        return out
    return torch.bmm(a, b, out=out)


def _one(rows: Rows, chain: int) -> Rows:
    inputs, target = rows.of(chain)
    return Rows(tuple([x] for x in inputs), [target])
