"""How far the precision of a run shifts the loss of a network: few rows in both precisions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from llc_core.compute.precision import full_precision
from llc_core.potentials.module.data.rows import chunks
from llc_core.potentials.module.passes.any_module import Position

FEW_CHAINS = 4
AT_ONCE = 64
"""Rows of a pass: what it holds then is less than what a step of all chains does."""
MOST_NUMBERS = 1 << 24
"""Of these chains' parameters: beyond it a copy in double precision is not made, nor where chains go one by one to save memory."""


@torch.no_grad()
@full_precision()
def rounding_of(network: Any, delta: Tensor, rows: int) -> Tensor | None:
    """|ΔL in the precision of δ − ΔL in float64| on all data at δ [C, D], [C], by the first `rows` rows of a `NetworkPotential`.

    A few chains are looked at, and stand for the others. The errors of rows have a common part, and one that falls with the root of
    their number. None: not known, since the run has float64, the network is too large, or takes one precision alone.
    """
    large = network.by_chain or FEW_CHAINS * network.dim > MOST_NUMBERS
    if large or delta.dtype == torch.float64 or delta.device.type == "mps":
        return None
    looked = torch.arange(0, len(delta), -(-len(delta) // FEW_CHAINS), device=delta.device)
    some = delta[looked]
    try:
        exact = _differences(network, some.double(), rows)
    except (RuntimeError, TypeError, ValueError):  # of the user's own module
        return None
    errors = _differences(network, some, rows).double() - exact
    mean, variance = errors.mean(1), errors.var(1) if rows > 1 else errors.new_zeros(len(some))
    common = (mean.square() - variance / rows).clamp_min(0) if rows < network.samples else mean.square()
    own = variance / network.samples if rows < network.samples else 0.0
    found = (common + own).sqrt()
    result = found.nanmean().expand(len(delta)).clone()
    result[looked] = found
    return result


def _differences(network: Any, delta: Tensor, rows: int) -> Tensor:
    """Losses of rows at δ less those at w0, [C, rows]."""
    place, home = network._place(delta), torch.zeros_like(delta[:1])
    found = []
    for start, stop in chunks(rows, min(AT_ONCE, network._chunk(delta))):
        part = network.data.slice(start, stop, delta)
        losses = place.passes.losses
        found.append(losses(Position(delta), part) - losses(Position(home), part))
    return torch.cat(found, dim=1)
