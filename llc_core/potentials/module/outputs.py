"""What a module gives at inputs that its data need not have: outputs of all chains, jointly over the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import vmap

from llc_core.fields import short
from llc_core.potentials.module.calling import Calling, OfOutput
from llc_core.potentials.module.passes import ModulePerThread, Position, Weights
from llc_core.potentials.module.plain_attention import PlainAttention
from llc_core.potentials.module.rows import TensorData, chunks


def as_inputs(inputs: Any, data: TensorData, calling: Calling) -> Tensor:
    """Inputs [P, …] shaped as the rows of the data; ValueError where they do not fit, or where the module takes more than one."""
    if not isinstance(calling, OfOutput):
        raise ValueError(
            "predict needs a module whose output is known, but this network has a loss_fn; give loss in its place."
        )
    fields = data.fields[int(calling.weighted) : -1]
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
