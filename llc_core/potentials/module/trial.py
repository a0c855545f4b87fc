"""Two rows are tried before a run, so that a module, a loss or data that cannot work are refused at once and in one sentence. Long,
since the same rows settle which of the passes evaluates the module, and what a row takes of the memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from llc_core.compute.precision import SINGLE, Casts
from llc_core.compute.quiet import catching_warnings
from llc_core.compute.streams import torch_stream
from llc_core.potentials.module.calling import Calling, Numbers, OfBatch, OfOutput, first_line
from llc_core.potentials.module.data.rows import Rows
from llc_core.potentials.module.losses import settled
from llc_core.potentials.module.passes.any_module import Looped, ModulePerThread, Position, Vmapped
from llc_core.potentials.module.passes.dense import DensePasses
from llc_core.potentials.module.passes.layers import Dense, dense_stack, row_numbers
from llc_core.potentials.module.place import Place

ROWS = 2
TOGETHER, ALONE = 8, 2
"""Rows that are evaluated together, and how many of them alone, to see whether rows mix: beside one other row attention may be
all on itself."""
MOVED = 0.001
"""Share of a weight's usual size by which weights move, to see what autocast hides: about what chains do at n = 10⁶."""
MIXING = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
BY_NAME = "; a loss by name takes one tensor, so give a function loss(output, target)"
JOIN = " Where an item of data is a whole batch, give the DataLoader itself."
SAME = 1e-4
"""Losses of a row alone and beside another may differ by this share of their size: a thousand times the rounding of float32, for
products whose order of summation depends on the number of rows. Batch statistics change them by their own size."""

Columns = tuple[tuple[Tensor, ...], Tensor]


def settle(network: Any, given: nn.Module) -> int:
    """Try two rows of a `NetworkPotential` that is being made: its calling, its stack and what its method "auto" means are then known.

    given: its module as it came.  Returns the bytes that a row of one chain takes.  ValueError for what cannot be evaluated.
    """
    first = Place(network, torch.device("cpu"), torch.float32)
    uncalled = ModulePerThread(network.module).mine()
    # a forward may write to the parameters it is given, which are w0 itself here
    numbers = {**first.weights.still, **{name: w.clone() for name, w in first.weights.moving.items()}}
    network.calling = try_calling(network.calling, network.module, numbers, first.rows, network.data.targets)
    check_reached(Looped(uncalled, network.calling, first.weights), given, first.rows, network.dim)
    loop = Looped(network.module, network.calling, first.weights)
    if network.method in ("auto", "dense"):
        plain = isinstance(network.calling, OfOutput) and network.data.inputs == 1
        network.stack = dense_stack(network.module) if plain else None
        if network.stack is not None and _stack_agrees(network, network.stack):
            network.method = "dense"
            return 4 * row_numbers(network.stack)
        network.stack = None
        if network.method == "dense":
            raise ValueError("method is 'dense', which is for linear layers and elementwise activations; use 'auto'.")
    if network.method == "auto" and network.by_chain:
        network.method = "loop"  # chains come one after another, where plain autograd is the fastest
    elif network.method != "loop":
        trouble = vmap_problem(Vmapped(network.module, network.calling, first.weights), first.rows, network.dim)
        if trouble and network.method == "auto":
            said = f"vmap cannot evaluate this module ({trouble}); its chains are evaluated one after another."
            warnings.warn(said, stacklevel=3)
        elif trouble:
            raise ValueError(f"method is 'vmap', which cannot evaluate this module ({trouble}); use 'loop'.")
        network.method = "loop" if trouble else "vmap"
    return activation_bytes(loop, first.rows, network.dim)


def _stack_agrees(network: Any, stack: list[Dense]) -> bool:
    moving = {piece.name for piece in network.pieces}
    if not {name for layer in stack for name in (layer.weight, layer.bias)} & moving:
        return False
    place = Place(network, torch.device("cpu"), torch.float32 if network.by_chain else torch.float64)
    loop = Looped(network.module, network.calling, place.weights)
    return dense_agrees(place.dense, loop, place.rows(0, 2), place.zero(1).expand(1, network.dim))


def try_calling(
    calling: Calling, module: nn.Module, numbers: Numbers, rows: Callable[[int, int], Rows], targets: Iterable[Tensor]
) -> Calling:
    """Evaluate two rows at w0; ValueError says what is wrong. Returns the calling for these data: its loss settled.

    targets: of all rows, in parts.  Warns where the loss of a row depends on the rows beside it.
    """
    for name, part in module.named_modules():
        if isinstance(part, MIXING) and not part.track_running_stats:
            raise ValueError(
                f"{name or 'module'} is a batch norm without running statistics, which mixes the samples of a batch; "
                "set track_running_stats=True and train it, or replace it."
            )
    assert isinstance(calling, OfOutput | OfBatch)
    calling = replace(calling, attends=any(isinstance(part, nn.MultiheadAttention) for part in module.modules()))
    with torch.no_grad():
        both = rows(0, ROWS).of(0)
        seen = _cast_to(calling, module, numbers, both)
        calling = replace(calling, casts=seen is not None)
        if isinstance(calling, OfOutput):
            calling = _try_output(calling, module, numbers, both, targets)
        else:
            calling = _try_batch(calling, module, numbers, rows, both)
        _notice_mixing(calling, module, numbers, rows)
        if seen is not None:
            warnings.warn(_said_of_cast(seen, calling, module, numbers, rows(0, TOGETHER).of(0)), stacklevel=5)
    return calling


def _cast_to(calling: OfOutput | OfBatch, module: nn.Module, numbers: Numbers, both: Columns) -> torch.dtype | None:
    """The type in which something is computed under autocast; None where nothing is."""
    with Casts() as found, suppress(Exception):  # what cannot be called is told by the trial itself
        if isinstance(calling, OfBatch):
            calling.value(module, numbers, _unweighted(calling, both))
        else:
            inputs, target = both
            calling.loss(calling.output(module, numbers, inputs), target)
    return found.seen


def _said_of_cast(
    seen: torch.dtype, calling: OfOutput | OfBatch, module: nn.Module, numbers: Numbers, some: Columns
) -> str:
    """What autocast would do to ΔL of a few rows, where all weights move a little."""
    generator = torch_stream(0, "autocast")
    moved = {
        name: w + MOVED * w.abs().mean() * torch.randn(w.shape, generator=generator, **SINGLE)
        if w.dtype == torch.float32 else w
        for name, w in numbers.items()
    }  # fmt: skip
    cast, plain = (
        float((each.losses(module, moved, *some) - each.losses(module, numbers, *some)).float().mean())
        for each in (replace(calling, casts=False), calling)
    )
    changes = f" Weights that move by {MOVED:.1%} change the loss of {len(some[1])} rows by {cast:.3g} there, and by {plain:.3g} without."
    return (
        f"The module or its loss computes under autocast in {str(seen).removeprefix('torch.')}, whose rounding hides small changes "
        f"of the loss, of which λ̂ is made; the autocast is left out.{changes if cast != plain else ''}"
    )


def _try_output(
    calling: OfOutput, module: nn.Module, numbers: Numbers, both: Columns, targets: Iterable[Tensor]
) -> OfOutput:
    inputs, target = both
    try:
        output = calling.output(module, numbers, inputs)
    except Exception as error:
        given = inputs[1:] if calling.weighted else inputs
        raise ValueError(f"module cannot be called with data's inputs {_shapes(given)}: {first_line(error)}") from None
    if isinstance(output, Tensor):
        _check_random(output, calling.output(module, numbers, inputs))
        calling = replace(calling, loss=settled(calling.loss, output, target, targets))
    try:
        losses: Any = calling.loss(output, target)
    except Exception as error:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ValueError(
            f"loss cannot be taken of output {shape} and target {tuple(target.shape)} of {target.dtype}: "
            f"{first_line(error).rstrip('.')}{'' if isinstance(output, Tensor) else BY_NAME}."
        ) from None
    if not isinstance(losses, Tensor) or losses.shape != (len(target),):
        of_batches = isinstance(losses, Tensor) and losses.dim() > 1 and target.dim() > 1
        raise ValueError(
            f"loss returns {_kind(losses)} for {len(target)} samples; it must return one value per sample, [{len(target)}]: for "
            f"torch's losses pass reduction='none', or use the name 'cross_entropy'.{JOIN if of_batches else ''}"
        )
    return calling


def _try_batch(
    calling: OfBatch, module: nn.Module, numbers: Numbers, rows: Callable[[int, int], Rows], both: Columns
) -> OfBatch:
    columns = _unweighted(calling, both)
    try:
        value: Any = calling.value(module, numbers, columns)
        again = calling.value(module, numbers, columns)
    except Exception as error:
        raise ValueError(f"loss_fn cannot be called with the module and a batch: {first_line(error)}") from None
    count = len(columns[0])
    if not isinstance(value, Tensor) or value.shape not in ((), (count,)):
        raise ValueError(
            f"loss_fn returns {_kind(value)} for {count} samples; it must return one value, the mean over the batch, or one "
            f"value per sample, [{count}]."
        )
    _check_random(value, again)
    if value.dim() == 1:
        return calling
    calling = replace(calling, by_row=True)
    try:
        each = calling._each(module, numbers, columns)
    except Exception:
        calling = replace(calling, vmapped=False)
        each = calling._each(module, numbers, columns)
    if count > 1 and _differs(value, each.mean()):
        if not _differs(value, each.sum()):
            raise ValueError("loss_fn returns the sum over a batch; return the mean, or one value per sample.")
        warnings.warn(
            "loss_fn gives two rows together another value than the mean of their own: it weights rows, or the module mixes "
            "them; L_n is taken as the mean over rows of the value that each has alone.",
            stacklevel=7,
        )
    return calling


def _notice_mixing(calling: Calling, module: nn.Module, numbers: Numbers, rows: Callable[[int, int], Rows]) -> None:
    """A warning where a row's loss is another alone than beside other rows."""
    some = rows(0, TOGETHER).of(0)
    if len(some[1]) < ROWS or (isinstance(calling, OfBatch) and calling.by_row):
        return
    together = calling.losses(module, numbers, *some)[:ALONE]
    try:
        alone = torch.cat([calling.losses(module, numbers, *rows(i, i + 1).of(0)) for i in range(ALONE)])
        mixes = bool(torch.isfinite(together).all()) and _differs(together, alone)
    except (ValueError, RuntimeError):  # batch statistics of one row
        mixes = True
    if mixes:
        warnings.warn(
            "The loss of a row depends on the rows beside it, so the module mixes the rows of a batch (batch statistics, "
            "attention across the batch): λ̂ then depends on batch_size and chunk; make the forward treat each row alone.",
            stacklevel=6,
        )


def _differs(a: Tensor, b: Tensor) -> bool:
    return bool(((a - b).abs() > SAME * (a.abs() + b.abs()) + 1e-6).any())


def _check_random(output: Tensor, again: Tensor) -> None:
    if not torch.equal(output, again) and bool(torch.isfinite(output).all()):
        raise ValueError(
            "module gives a random output even in eval mode; switch off dropout or noise that its forward method adds, "
            "for example F.dropout(x, p, training=self.training)."
        )


def _unweighted(calling: OfBatch, both: Columns) -> tuple[Tensor, ...]:
    inputs, target = both
    return (*inputs[1:], target) if calling.weighted else (*inputs, target)


def _kind(value: Any) -> str:
    return str(tuple(value.shape)) if isinstance(value, Tensor) else type(value).__name__


def _shapes(inputs: tuple[Tensor, ...]) -> str:
    return ", ".join(f"{tuple(x.shape)} of {x.dtype}" for x in inputs)


CHAINS = 2
SEARCHED = 256
"""Rows among which one is looked for whose loss depends on what moves, where that of the first does not: experts serve some rows."""
NAMED = 3
"""Parameters that a sentence names."""


def dense_agrees(dense: DensePasses, loop: Looped, rows: Rows, like: Tensor) -> bool:
    """Whether the stack that was recognised computes what the module does: losses and the gradient near w0, and losses where each
    number has the other sign, which a forward that clamps its weights does not let through.

    like: [1, D] of the precision to use. The two gradients are subtracted as they are made, to spare a copy.
    """
    delta = (
        torch.linspace(-1, 1, like.shape[1], dtype=like.dtype, device=like.device).unsqueeze(0) / like.shape[1] ** 0.5
    )
    delta[:, ::2] *= -1  # both signs in every tensor
    grad = torch.zeros_like(delta)
    close = 1e-9 if like.dtype == torch.float64 else 1e-4
    try:
        with torch.no_grad():
            by_hand = dense.add(Position(delta), rows, 1.0, grad)
            size = float(grad.abs().max())
            by_loop = loop.add(Position(delta), rows, -1.0, grad)
            if not torch.allclose(by_hand, by_loop, rtol=close, atol=close):
                return False
            if not float(grad.abs().max()) <= close * max(size, 1.0):
                return False
            for piece in loop.weights.pieces:
                w0 = loop.weights.moving[piece.name].flatten()
                delta[:, piece.start : piece.stop] += 2 * (w0 if piece.chosen is None else w0[piece.chosen])
            delta.neg_()
            by_hand, by_loop = (passes.losses(Position(delta), rows) for passes in (dense, loop))
    except (RuntimeError, IndexError):
        return False
    return torch.allclose(by_hand, by_loop, rtol=close, atol=close, equal_nan=True)


def check_reached(fresh: Looped, given: nn.Module, rows: Callable[[int, int], Rows], dim: int) -> None:
    """ValueError where the loss depends on none of the moving tensors, or on some in the first call alone. A warning where it depends
    on those of the module that was given, which stay at w0.

    fresh: of a module that was not called yet.
    """
    originals = {id(w): name for name, w in given.named_parameters()}
    names = [piece.name for piece in fresh.weights.pieces]
    try:
        with catching_warnings():
            first, of_given = _reached(fresh, originals, rows(0, ROWS), dim)
            later, _ = _reached(fresh, originals, rows(0, ROWS), dim)
            reached = first or later or _reached(fresh, originals, rows(0, SEARCHED), dim)[0]  # such as experts
    except Exception:  # what cannot be differentiated is told where it is
        return
    if not reached:
        raise ValueError(
            f"The loss does not depend on the parameters that move ({_few(names)}): it may use another module than the one it is "
            "given, weights that were stored before, or no gradients; use the module that is passed in, as it is at each call."
        )
    if stored := [name for name in names if name in first and name not in later]:
        raise ValueError(
            f"The module stores what it makes of {_few(stored)} in its first call, so that these do not move; make it anew in each "
            "call, or leave them out of parameters."
        )
    if of_given:
        warnings.warn(
            f"The loss also depends on {_few(of_given)} of the module that was given, which stays at w0, beside the copy that moves; "
            "if that is not meant, use the module that is passed in, and no functions that hold the module itself.",
            stacklevel=4,
        )


def _reached(passes: Looped, originals: dict[int, str], rows: Rows, dim: int) -> tuple[set[str], list[str]]:
    """The moving tensors on which the losses at w0 depend, and those of the originals, by autograd's own record.

    The record is read and not gone through, which costs no gradient. RuntimeError where a part of it is not recorded.
    """
    moving = passes.weights.at(Position(torch.zeros(1, dim, **SINGLE)))
    moving = {name: w[0].requires_grad_() for name, w in moving.items()}
    with torch.enable_grad():
        losses = passes.calling.losses(passes.modules.mine(), {**passes.weights.still, **moving}, *rows.of(0))
    ours = {id(w): name for name, w in moving.items()}
    found, of_given = set[str](), list[str]()
    seen, left = set[Any](), [losses.grad_fn]
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if "Checkpoint" in node.name():  # it records its inputs alone
            raise RuntimeError
        leaf = getattr(node, "variable", None)
        if id(leaf) in ours:
            found.add(ours[id(leaf)])
        elif id(leaf) in originals:
            of_given.append(originals[id(leaf)])
        left.extend(each for each, _ in node.next_functions)
    return found, of_given


def _few(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


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
            for each in (rows(0, ROWS), _own_rows(rows)):
                passes.add(Position(delta), each, 1.0, torch.zeros(CHAINS, dim, **SINGLE))
                passes.losses(Position(delta), each)
    except Exception as error:
        return first_line(error).rstrip(".")
    slow = [str(w.message) for w in found if "performance drop" in str(w.message)]
    return "no rule for " + slow[0].split("batching rule for ")[1].split(".")[0] if slow else ""


def _own_rows(rows: Callable[[int, int], Rows]) -> Rows:
    """The same rows for each chain, as if they were its own: a mask that differs by chain asks more of vmap."""
    inputs, target = rows(0, ROWS).of(0)
    return Rows(tuple([x] * CHAINS for x in inputs), [target] * CHAINS)
