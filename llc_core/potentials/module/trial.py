"""Which of the passes can evaluate a module, tried on two rows, and what a row takes of the memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from llc_core.compute.precision import SINGLE
from llc_core.compute.quiet import catching_warnings
from llc_core.potentials.module.dense import DensePasses
from llc_core.potentials.module.first_rows import ROWS, first_line
from llc_core.potentials.module.passes import Looped, Position, Vmapped
from llc_core.potentials.module.rows import Rows

CHAINS = 2


def dense_agrees(dense: DensePasses, loop: Looped, rows: Rows, like: Tensor) -> bool:
    """Whether the stack that was recognised computes what the module does: losses, and the gradient near w0.

    like: [1, D] of the precision to use. The two gradients are subtracted as they are made, to spare a copy.
    """
    delta = (
        torch.linspace(-1, 1, like.shape[1], dtype=like.dtype, device=like.device).unsqueeze(0) / like.shape[1] ** 0.5
    )
    grad = torch.zeros_like(delta)
    try:
        with torch.no_grad():
            by_hand = dense.add(Position(delta), rows, 1.0, grad)
            size = float(grad.abs().max())
            by_loop = loop.add(Position(delta), rows, -1.0, grad)
    except (RuntimeError, IndexError):
        return False
    close = 1e-9 if like.dtype == torch.float64 else 1e-4
    return torch.allclose(by_hand, by_loop, rtol=close, atol=close) and float(grad.abs().max()) <= close * max(
        size, 1.0
    )


def activation_bytes(passes: Looped, rows: Callable[[int, int], Rows], dim: int) -> int:
    """Bytes for one row: what its forward pass keeps for the backward pass, and as much again for the backward pass itself."""
    here = rows(0, ROWS)
    moving = passes.weights.at(Position(torch.zeros(1, dim, **SINGLE)))
    moving = {name: w[0].requires_grad_() for name, w in moving.items()}
    weights = {w.untyped_storage().data_ptr() for w in [*passes.weights.still.values(), *moving.values()]}
    seen: dict[int, int] = {}

    def pack(x: Tensor) -> Tensor:
        if x.untyped_storage().data_ptr() not in weights:
            seen[x.data_ptr()] = x.nbytes  # not of the storage: rows are views of all the data
        return x

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        passes.calling.losses(passes.modules.mine(), {**passes.weights.still, **moving}, *here.of(0))
    return max(64, 2 * sum(seen.values()) // here.count)


def vmap_problem(passes: Vmapped, rows: Callable[[int, int], Rows], dim: int) -> str:
    """Why vmap cannot do this module, in a few words; empty where it can."""
    delta = torch.zeros(1, dim, **SINGLE).expand(CHAINS, -1)
    try:
        with catching_warnings() as found, torch.no_grad():
            passes.add(Position(delta), rows(0, ROWS), 1.0, torch.zeros(CHAINS, dim, **SINGLE))
            passes.losses(Position(delta), rows(0, ROWS))
    except Exception as error:
        return first_line(error).rstrip(".")
    slow = [str(w.message) for w in found if "performance drop" in str(w.message)]
    return "no rule for " + slow[0].split("batching rule for ")[1].split(".")[0] if slow else ""
