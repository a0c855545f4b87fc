"""What an evaluation of a network needs, on one device in one precision; and what its module gives at inputs that its data need not
have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import vmap

from llc_core.compute.precision import full_precision
from llc_core.fields import short
from llc_core.potentials.module.calling import Calling, OfOutput
from llc_core.potentials.module.data.rows import Data, Rows, chunks
from llc_core.potentials.module.passes.any_module import (
    Looped,
    ModulePerThread,
    Passes,
    PlainAttention,
    Position,
    Vmapped,
    Weights,
)
from llc_core.potentials.module.passes.dense import DensePasses


def as_inputs(inputs: Any, data: Data, calling: Calling) -> Tensor:
    """Inputs [P, …] shaped as the rows of the data; ValueError where they do not fit, or where the module takes more than one."""
    if not isinstance(calling, OfOutput):
        raise ValueError(
            "predict needs a module whose output is known, but this network has a loss_fn; give loss in its place."
        )
    fields = data.kinds[int(calling.weighted) : -1]
    if len(fields) != 1:
        raise ValueError(f"predict needs a module of one input, but this one takes {len(fields)}; leave predict out.")
    given = inputs.detach().cpu().numpy() if isinstance(inputs, Tensor) else inputs
    try:
        found = torch.as_tensor(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        raise ValueError(f"inputs is {short(inputs)}; give rows of numbers.") from None
    shape = tuple(fields[0].shape[1:])
    found = found[:, None] if found.dim() == 1 and shape == (1,) else found
    if found.dim() == 0 or len(found) == 0 or tuple(found.shape[1:]) != shape or not bool(found.isfinite().all()):
        raise ValueError(
            f"inputs has the shape {tuple(found.shape)}; give finite rows {['P', *shape]}, as the data have them."
        )
    if fields[0].is_floating_point():
        return found
    if not bool((found == found.round()).all()):
        raise ValueError("inputs has fractions, but the data are whole numbers; give whole numbers.")
    return found.to(fields[0].dtype)


class Outputs:
    """Outputs of a module at w0 + δ. looped: chain after chain, where vmap cannot do the module or memory counts."""

    def __init__(self, module: nn.Module, calling: Calling, weights: Weights, looped: bool):
        assert isinstance(calling, OfOutput)  # `as_inputs` has refused the others
        self.modules, self.weights, self.looped = ModulePerThread(module), weights, looped
        self.calling = replace(calling, weighted=False)

    def at(self, point: Position, inputs: Tensor, rows: int) -> Tensor:
        """[C, P, k], or [C, P] where k = 1, at inputs [P, …], of which `rows` are taken at once."""
        found = torch.cat([self._part(point, inputs[a:b]) for a, b in chunks(len(inputs), rows)], dim=1)
        return found[:, :, 0] if found.dim() == 3 and found.shape[2] == 1 else found

    @torch.no_grad()
    def _part(self, point: Position, x: Tensor) -> Tensor:
        output: Callable[[Mapping[str, Tensor]], Tensor] = partial(self._output, self.modules.mine(), x)
        if self.looped:
            one = (self.weights.at(point.of(c)) for c in range(len(point)))
            return torch.stack([output({name: value[0] for name, value in each.items()}) for each in one])
        with PlainAttention():
            return vmap(output)(self.weights.at(point))

    def _output(self, module: nn.Module, x: Tensor, moving: Mapping[str, Tensor]) -> Tensor:
        found = self.calling.output(module, {**self.weights.still, **moving}, (x,))
        if not isinstance(found, Tensor) or found.dim() == 0 or len(found) != len(x):
            raise ValueError(
                "predict needs a module that returns one row of outputs for each input; leave predict out."
            )
        return found


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
        self.network.say_which_mean(base)
        return base
