"""What an evaluation of a network needs, on one device in one precision."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from llc_core.compute.precision import full_precision
from llc_core.potentials.module.dense import DensePasses
from llc_core.potentials.module.outputs import Outputs
from llc_core.potentials.module.passes import Looped, Passes, Vmapped, Weights
from llc_core.potentials.module.rows import Rows


class Place:
    """Made by a `NetworkPotential` for itself."""

    def __init__(self, network: Any, device: torch.device, dtype: torch.dtype):
        self.network, self.device, self.dtype = network, device, dtype
        self.weights = Weights(network._numbers, network.pieces, device, dtype)
        self.gradient: Tensor | None = None

    @cached_property
    def dense(self) -> DensePasses:
        assert self.network.stack is not None
        return DensePasses(self.network.stack, self.network.loss, self.weights, self.device)

    @cached_property
    def passes(self) -> Passes:
        if self.network.method == "dense":
            return self.dense
        kind = Looped if self.network.method == "loop" else Vmapped
        return kind(self.network.module, self.network.calling, self.weights)

    @cached_property
    def outputs(self) -> Outputs:
        looped = self.network.method == "loop" or self.network.by_chain
        return Outputs(self.network.module, self.network.calling, self.weights, looped)

    def zero(self, dim: int) -> Tensor:
        return torch.zeros(1, dim, dtype=self.dtype, device=self.device)

    def rows(self, start: int, stop: int) -> Rows:
        return self.network.data.slice(start, stop, self.zero(0))

    @cached_property
    def base(self) -> Tensor:
        """Losses of all rows at w0, [rows]."""
        with torch.no_grad(), full_precision():
            at_w0 = self.zero(self.network.dim)
            base = self.network.per_sample_loss(at_w0, 0, self.network.samples)[0]
        if not bool(torch.isfinite(base).all()):
            row = int((~torch.isfinite(base)).nonzero()[0])
            raise ValueError(
                f"The loss at w0 is not finite in row {int(self.network.data.order[row])}; check the module and the data."
            )
        return base
