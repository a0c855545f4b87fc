"""Two rows are tried before a run, so that a module that cannot work is refused at once and in one sentence."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from llc_core.compute.precision import SINGLE
from llc_core.compute.quiet import catching_warnings
from llc_core.potentials.module.dense import DensePasses
from llc_core.potentials.module.losses import Loss, settled
from llc_core.potentials.module.passes import Looped, Position, Vmapped
from llc_core.potentials.module.rows import Rows

ROWS = 2
CHAINS = 2
MIXING = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


def try_module(passes: Looped, rows: Callable[[int, int], Rows], targets: Tensor) -> Loss:
    """Evaluate two rows at w0; ValueError says what is wrong with module, loss or data. Returns the loss for these data.

    targets: of all rows.
    """
    for name, part in passes.modules.mine().named_modules():
        if isinstance(part, MIXING) and not part.track_running_stats:
            raise ValueError(
                f"{name or 'module'} is a batch norm without running statistics, which mixes the samples of a batch; "
                "set track_running_stats=True and train it, or replace it."
            )
    here = rows(0, ROWS)
    inputs, target = here.of(0)
    moving = {name: w for name, w in passes.weights.moving.items()}
    try:
        with torch.no_grad():
            output = torch.func.functional_call(passes.modules.mine(), {**passes.weights.still, **moving}, inputs)
    except Exception as error:
        raise ValueError(
            f"module cannot be called with data's inputs {_shapes(inputs)}: {_first_line(error)}"
        ) from None
    with torch.no_grad():
        again = torch.func.functional_call(passes.modules.mine(), {**passes.weights.still, **moving}, inputs)
    if isinstance(output, Tensor) and not torch.equal(output, again) and bool(torch.isfinite(output).all()):
        raise ValueError(
            "module gives a random output even in eval mode; switch off dropout or noise that its forward method adds, "
            "for example F.dropout(x, p, training=self.training)."
        )
    loss = settled(passes.loss, output, target, targets) if isinstance(output, Tensor) else passes.loss
    try:
        with torch.no_grad():
            losses = loss(output, target)
    except Exception as error:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ValueError(
            f"loss cannot be taken of output {shape} and target {tuple(target.shape)} of {target.dtype}: "
            f"{_first_line(error)}"
        ) from None
    if not isinstance(losses, Tensor) or losses.shape != (here.count,):
        shape = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
        raise ValueError(
            f"loss returns {shape} for {here.count} samples; it must return one value per sample, [{here.count}]: for "
            "torch's losses pass reduction='none', or use the name 'cross_entropy'."
        )
    return loss


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
        output = torch.func.functional_call(passes.modules.mine(), {**passes.weights.still, **moving}, here.of(0)[0])
        passes.loss(output, here.of(0)[1])
    return max(64, 2 * sum(seen.values()) // here.count)


def vmap_problem(passes: Vmapped, rows: Callable[[int, int], Rows], dim: int) -> str:
    """Why vmap cannot do this module, in a few words; empty where it can."""
    delta = torch.zeros(1, dim, **SINGLE).expand(CHAINS, -1)
    try:
        with catching_warnings() as found, torch.no_grad():
            passes.add(Position(delta), rows(0, ROWS), 1.0, torch.zeros(CHAINS, dim, **SINGLE))
            passes.losses(Position(delta), rows(0, ROWS))
    except Exception as error:
        return _first_line(error).rstrip(".")
    slow = [str(w.message) for w in found if "performance drop" in str(w.message)]
    return "no rule for " + slow[0].split("batching rule for ")[1].split(".")[0] if slow else ""


def _first_line(error: Exception) -> str:
    text = str(error).strip().split("\n")[0].strip() or type(error).__name__
    text = text if len(text) <= 160 else text[:157] + "…"
    return text if text.endswith((".", "…")) else text + "."


def _shapes(inputs: tuple[Tensor, ...]) -> str:
    return ", ".join(f"{tuple(x.shape)} of {x.dtype}" for x in inputs)
