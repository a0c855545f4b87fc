"""The forward and backward pass of a fully connected network with one output, for many chains at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.potentials.bayesian.activations import Activation


@dataclass(frozen=True)
class Layout:
    """Where weights and biases lie among the D parameters: for each layer W [out, in] row by row, then b [out]."""

    widths: tuple[int, ...]

    @property
    def dim(self) -> int:
        return sum((a + 1) * b for a, b in zip(self.widths, self.widths[1:], strict=False))

    @property
    def hidden_dim(self) -> int:
        """How many parameters come before those of the last layer."""
        return self.dim - self.widths[-2] - 1

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the blocks, in their order."""
        pairs = zip(self.widths, self.widths[1:], strict=False)
        return tuple(shape for a, b in pairs for shape in ((b, a), (b,)))

    def parts(self, flat: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Views W [C, out, in] and b [C, out, 1] of parameters [C, D], layer by layer; of the hidden ones [C, D'] alone too."""
        found, start = [], 0
        for a, b in zip(self.widths, self.widths[1:], strict=False):
            stop = start + (a + 1) * b
            if stop > flat.shape[1]:
                break
            weights = flat[:, start : start + a * b].view(len(flat), b, a)
            found.append((weights, flat[:, start + a * b : stop].unsqueeze(2)))
            start = stop
        return found

    def variances(self, weight_variance: float, bias_variance: float) -> Tensor:
        """[D] of the prior: weight_variance/fan_in for weights, bias_variance for biases."""
        parts = []
        for a, b in zip(self.widths, self.widths[1:], strict=False):
            parts += [torch.full((a * b,), weight_variance / a, **EXACT)]
            parts += [torch.full((b,), bias_variance, **EXACT)]
        return torch.cat(parts)


def forward(parts: Sequence[tuple[Tensor, Tensor]], columns: Tensor, phi: Activation) -> tuple[Tensor, list[Tensor]]:
    """Outputs of the last of the layers `parts` [C, out, n], before an activation, and what `backward` needs.

    columns: inputs [d, n].
    """
    first, bias = parts[0]
    z = torch.matmul(first, columns) + bias
    kept = []
    for weights, bias in parts[1:]:
        a = phi.value(z)
        kept += [z, a]
        z = torch.baddbmm(bias, weights, a)
    return z, kept


def backward(
    slope: Tensor,
    kept: list[Tensor],
    parts: Sequence[tuple[Tensor, Tensor]],
    into: Sequence[tuple[Tensor, Tensor]],
    columns: Tensor,
    phi: Activation,
) -> None:
    """Write the gradient to `into`, views as `parts`. slope: derivative [C, out, n] in the outputs."""
    for layer in range(len(parts) - 1, 0, -1):
        z, a = kept[2 * layer - 2 : 2 * layer]
        into[layer][0].copy_(torch.bmm(slope, a.transpose(1, 2)))
        into[layer][1].copy_(slope.sum(dim=2, keepdim=True))
        slope = torch.bmm(parts[layer][0].transpose(1, 2), slope).mul_(phi.slope(z, a))
    into[0][0].copy_(torch.matmul(slope, columns.T))
    into[0][1].copy_(slope.sum(dim=2, keepdim=True))


def prior_draws(variances: Tensor, count: int, random: torch.Generator) -> Tensor:
    """Weights [count, D] from the prior with these variances [D], on the generator's device."""
    shape = (count, len(variances))
    return torch.randn(shape, generator=random, dtype=torch.float64, device=random.device) * variances.sqrt()


def root_variances(layout: Layout, weight_variance: float, bias_variance: float) -> tuple[float, float]:
    """Standard deviations of the last layer's weights and of its bias."""
    return math.sqrt(weight_variance / layout.widths[-2]), math.sqrt(bias_variance)
