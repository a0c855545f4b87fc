"""C fully connected nets side by side, whose weights are rows of one tensor, and their loss where the reward of one action is told.

With dropout units of the last hidden layer are left out at random, in learning and in deciding (Gal & Ghahramani 2016).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from llc_core.compute.streams import seeded, stream_seed
from llc_core.networks.models import mlp
from llc_core.potentials.module.data.rows import Rows
from llc_core.potentials.module.losses import SLOPES
from llc_core.potentials.module.parameters import choose, frozen_copy
from llc_core.potentials.module.passes.any_module import Position, Weights
from llc_core.potentials.module.passes.dense import DensePasses
from llc_core.potentials.module.passes.layers import RELU, Dense


def chosen_loss(output: Tensor, target: Tensor) -> Tensor:
    """(prediction of the chosen action − reward)², [B]. output: [B, A].  target: [B, 2], action and reward."""
    index, reward = target[:, :1].long(), target[:, 1]
    return (output.gather(1, index).squeeze(1) - reward).square()


def _chosen_loss_slope(output: Tensor, target: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    index, reward = target[:, :1].long(), target[:, 1]
    residual = output.gather(1, index).squeeze(1) - reward
    slope = torch.zeros_like(output).scatter_(1, index, (residual * (2 * weight)).unsqueeze(1))
    return residual.square(), slope


SLOPES[chosen_loss] = _chosen_loss_slope  # autograd took a seventh of a step of small nets


class Nets:
    """ReLU nets of the given widths, inputs first. w0 is 0, so that displacements are the weights themselves.

    dim: numbers D of one net.  shapes: of its blocks.
    dropout: share of the units of the last hidden layer that is left out, other ones for every row; the others count 1/(1 − dropout)
    times.  samples: such outputs of which the mean is taken.
    """

    def __init__(self, widths: Sequence[int], dropout: float = 0.0, samples: int = 1):
        module = mlp(list(widths))
        self._pieces = pieces = choose(module, None)
        _, numbers = frozen_copy(module)
        self.dim, self.shapes = pieces[-1].stop, tuple(piece.shape for piece in pieces)
        zeros = {name: torch.zeros_like(value) for name, value in numbers.items()}
        weights = Weights(zeros, pieces, torch.device("cpu"), torch.float32)
        last = len(widths) - 2
        self.layers = [
            Dense(f"{2 * k}.weight", f"{2 * k}.bias", widths[k], widths[k + 1], RELU if k < last else None)
            for k in range(last + 1)
        ]
        self._passes = DensePasses(self.layers, chosen_loss, weights, torch.device("cpu"))
        self._widths, self.dropout, self.samples = list(widths), dropout, samples

    def start(self, chains: int, seed: int) -> Tensor:
        """[C, D], torch's usual first weights, other ones for each chain."""
        with seeded(stream_seed(seed, "nets") % (1 << 62)):
            rows = [torch.cat([p.detach().flatten() for p in mlp(self._widths).parameters()]) for _ in range(chains)]
        return torch.stack(rows)

    def losses_and_grad(
        self, delta: Tensor, inputs: Tensor, target: Tensor, random: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Mean loss [C] over B rows, and its gradient [C, D]. inputs: [C, B, d].  target: [C, B, 2].  random: of dropout."""
        if self.dropout:
            with torch.enable_grad():
                at = delta.detach().requires_grad_()
                losses = chosen_loss(self._forward(at, inputs, random).flatten(0, 1), target.flatten(0, 1))
                losses = losses.view(len(delta), -1).mean(dim=1)
                (slope,) = torch.autograd.grad(losses.sum(), at)
            return losses.detach(), slope
        grad = torch.empty_like(delta)
        losses = self._passes.write(Position(delta), Rows((inputs,), target), 1 / inputs.shape[1], grad)
        return losses.mean(dim=1), grad

    def outputs(self, delta: Tensor, inputs: Tensor, random: torch.Generator | None = None) -> Tensor:
        """[C, B, A] at inputs [B, d].  random: of dropout."""
        return self._forward(delta, inputs.expand(len(delta), *inputs.shape), random)

    def _forward(self, delta: Tensor, x: Tensor, random: torch.Generator | None) -> Tensor:
        parts = {each.name: delta[:, each.start : each.stop].unflatten(1, each.shape) for each in self._pieces}
        for k, layer in enumerate(self.layers):
            assert layer.bias is not None
            if self.dropout and k == len(self.layers) - 1:
                # the last layer is linear: the mean of its outputs is its output at the mean
                x = x * self._kept(x, random)
            x = torch.baddbmm(parts[layer.bias].unsqueeze(1), x, parts[layer.weight].transpose(1, 2))
            if layer.activation == RELU:
                x = x.relu()
        return x

    def _kept(self, x: Tensor, random: torch.Generator | None) -> Tensor:
        """What units count for, as x: the mean over `samples` draws of 0 or 1/(1 − dropout)."""
        drawn = torch.rand((self.samples, *x.shape), generator=random, dtype=x.dtype, device=x.device)
        return (drawn >= self.dropout).to(x.dtype).mean(dim=0) / (1 - self.dropout)
