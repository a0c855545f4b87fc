"""Passes of any module at w0 + δ for C chains: forward and backward of all chains at once, or chain after chain. Long, since attention
is written as plain products here, which a pass over many chains can differentiate.

A pass adds its gradient to one that is there already. Rows can then be taken in chunks, and signs can differ, without
further memory of the gradient's size. The first pass writes instead of adding: this saves a gradient of zeros.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from llc_core.compute.cores import PerThread
from llc_core.potentials.module.calling import Calling, holding
from llc_core.potentials.module.data.rows import Rows
from llc_core.potentials.module.parameters import Piece, left_by_passes
from llc_core.potentials.module.passes.replayed import Replayed


class PlainAttention(TorchFunctionMode):
    """Attention as matrix products: the fused kernels have no rule for vmap.

    torch's own switches (`sdpa_kernel`, `mha.set_fastpath_enabled`) change the whole process: other threads would use other
    kernels for a while, or for good. This mode changes one thread only. While it is on, torch's attention layers use their
    ordinary operations.
    """

    def __init__(self) -> None:
        super().__init__()
        self.attends = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention:
            self.attends = True
            return _as_products(*args, **kwargs)
        if func is F.multi_head_attention_forward:
            self.attends = True
            return _with_weights(*args, **kwargs)
        return func(*args, **kwargs)


def _with_weights(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor | None]:
    """Attention with its weights asked for: torch then uses plain products inside, where this mode cannot reach."""
    given = signature(F.multi_head_attention_forward).bind(*args, **kwargs)
    wanted = given.arguments.get("need_weights", True)
    given.arguments["need_weights"] = True
    blind = None if wanted else _take_blind(given.arguments)
    output, weights = F.multi_head_attention_forward(*given.args, **given.kwargs)
    if blind is not None:
        bias = given.arguments["out_proj_bias"]
        output = torch.where(blind.T[:, :, None], output.new_zeros(()) if bias is None else bias, output)
    return output, weights if wanted else None


def _take_blind(given: dict[str, Any]) -> Tensor | None:
    """[N, L], the positions that may look at none, as in a causal model of rows that are padded on the left; None: there are none.

    Plain products give nan for them, and the kernels that are used without weights give 0. So they may look everywhere here.
    """
    mask, padding, query = given.get("attn_mask"), given.get("key_padding_mask"), given["query"]
    if mask is None or padding is None or mask.dim() != 2 or padding.dim() != 2:
        return None
    if given["bias_k"] is not None or given["add_zero_attn"]:
        return None
    both = _added(mask, query)[None] + _added(padding, query)[:, None]  # [N, L, S]
    blind = (both == -torch.inf).all(2)
    both = torch.where(blind[:, :, None], 0.0, both)
    given["attn_mask"], given["key_padding_mask"] = both.repeat_interleave(given["num_heads"], 0), None
    return blind


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """What a mask adds to the scores."""
    if mask.dtype != torch.bool:
        return mask.to(like.dtype)
    return torch.where(mask, -torch.inf, 0.0).to(like.dtype)


def _as_products(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    plain = torch.ops.aten._scaled_dot_product_attention_math
    result: Tensor = plain(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )[0]  # fmt: skip
    return result


@dataclass(frozen=True)
class Position:
    """Where C chains are evaluated: δ [C, D], or δ + scale·vector without making that sum. scale: [C, 1]."""

    delta: Tensor
    scale: Tensor | None = None
    vector: Tensor | None = None

    def __len__(self) -> int:
        return len(self.delta)

    def of(self, chain: int) -> Position:
        row = slice(chain, chain + 1)
        if self.scale is None or self.vector is None:
            return Position(self.delta[row])
        return Position(self.delta[row], self.scale[row], self.vector[row])

    def put(self, w: Tensor, w0: Tensor, piece: Piece) -> None:
        """Write w0 + δ of a piece to w [C, entries of its tensor]."""
        part = slice(piece.start, piece.stop)
        if piece.chosen is None:
            torch.add(w0.flatten(), self.delta[:, part], out=w)
            if self.scale is not None and self.vector is not None:
                w.addcmul_(self.scale, self.vector[:, part])
            return
        w.copy_(w0.flatten().expand_as(w))
        w[:, piece.chosen] += self.delta[:, part]
        if self.scale is not None and self.vector is not None:
            w[:, piece.chosen] += self.scale * self.vector[:, part]


class Passes(Protocol):
    """What evaluates the network."""

    def losses(self, point: Position, rows: Rows) -> Tensor:
        """Losses [C, B] of the rows."""
        ...

    def write(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        """Losses [C, B]; `grad` [C, D] becomes weight·Σ over rows of their gradients, whatever stood there."""
        ...

    def add(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        """Losses [C, B]; adds weight·Σ over rows of their gradients to `grad` [C, D]."""
        ...


class Weights:
    """The module's numbers at w0 on one device, floating point ones in one precision."""

    def __init__(self, numbers: Mapping[str, Tensor], pieces: list[Piece], device: torch.device, dtype: torch.dtype):
        moving = {piece.name for piece in pieces}
        put = {k: v.to(device, dtype if v.is_floating_point() else v.dtype) for k, v in numbers.items()}
        self.still = {k: v for k, v in put.items() if k not in moving}
        self.moving = {k: put[k] for k in moving}
        self.pieces = [
            piece if piece.chosen is None else replace(piece, chosen=piece.chosen.to(device)) for piece in pieces
        ]

    def at(self, point: Position) -> dict[str, Tensor]:
        """name → [C, …]: the moving tensors at w0 + δ."""
        result = {}
        for piece in self.pieces:
            w0 = self.moving[piece.name]
            w = w0.new_empty(len(point), w0.numel())
            point.put(w, w0, piece)
            result[piece.name] = w.view(len(point), *piece.shape)
        return result


class ModulePerThread:
    """A copy of the module for each thread, because a call puts its numbers into the module while it runs."""

    def __init__(self, module: nn.Module):
        self._module, self._mine = module, PerThread()

    def mine(self) -> nn.Module:
        """This thread's copy. It is without numbers and takes no memory."""
        if not hasattr(self._mine, "module"):
            self._mine.module = copy.deepcopy(self._module, left_by_passes(self._module))
        module: nn.Module = self._mine.module
        return module


class Vmapped:
    """All chains at once, by torch.func."""

    def __init__(self, module: nn.Module, calling: Calling, weights: Weights):
        self.modules, self.calling, self.weights = ModulePerThread(module), calling, weights
        self._replayed = Replayed()
        self._attends: bool | None = (
            True if any(isinstance(part, nn.MultiheadAttention) for part in module.modules()) else None
        )

    def _loss(self, module: nn.Module, moving: dict[str, Tensor], inputs: tuple[Tensor, ...], target: Tensor) -> Tensor:
        return self.calling.losses(module, {**self.weights.still, **moving}, inputs, target)

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Inside, attention is done by matrix products. The first pass finds out whether the module has attention at all."""
        if self._attends is False:
            yield
            return
        with PlainAttention() as seen:
            yield
        self._attends = self._attends or seen.attends

    def losses(self, point: Position, rows: Rows) -> Tensor:
        inputs, target, at = _for_vmap(rows)
        moving = self.weights.at(point)

        def pass_over(given: Sequence[Tensor]) -> list[Tensor]:
            loss = partial(self._loss, self.modules.mine())
            with self._plainly():
                return [vmap(loss, in_dims=(0, at, at))(*_apart(given, moving))]

        return self._replayed(("losses", at), pass_over, [*moving.values(), *inputs, target])[0]

    def write(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        losses, parts = self._losses_and_grads(point, rows, weight)
        for piece, part in parts:
            grad[:, piece.start : piece.stop].copy_(part)
        return losses

    def add(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        losses, parts = self._losses_and_grads(point, rows, weight)
        for piece, part in parts:
            grad[:, piece.start : piece.stop].add_(part)
        return losses

    def _losses_and_grads(
        self, point: Position, rows: Rows, weight: float
    ) -> tuple[Tensor, Iterator[tuple[Piece, Tensor]]]:
        """Losses [C, B], and for each piece its gradient [C, entries], which is let go of after its turn."""

        inputs, target, at = _for_vmap(rows)
        point_at = self.weights.at(point)

        def pass_over(given: Sequence[Tensor]) -> list[Tensor]:
            module = self.modules.mine()

            def total(moving: dict[str, Tensor], inputs: tuple[Tensor, ...], target: Tensor) -> tuple[Tensor, Tensor]:
                losses = self._loss(module, moving, inputs, target)
                return weight * losses.sum(), losses

            with self._plainly():
                slopes = vmap(torch.func.grad(total, has_aux=True), in_dims=(0, at, at))
                grads, losses = slopes(*_apart(given, point_at))
            return [losses, *(grads[name] for name in point_at)]

        losses, *slopes = self._replayed(("slopes", at, weight), pass_over, [*point_at.values(), *inputs, target])
        grads = dict(zip(point_at, slopes, strict=True))
        del slopes

        def parts() -> Iterator[tuple[Piece, Tensor]]:
            for piece in self.weights.pieces:
                part = grads.pop(piece.name).flatten(1)
                yield piece, part if piece.chosen is None else part[:, piece.chosen]

        return losses, parts()


def _apart(given: Sequence[Tensor], moving: dict[str, Tensor]) -> tuple[dict[str, Tensor], tuple[Tensor, ...], Tensor]:
    """The weights by their names, the inputs and the target again, which were put in a row."""
    count = len(moving)
    return dict(zip(moving, given[:count], strict=True)), tuple(given[count:-1]), given[-1]


Put = Callable[[Tensor, Tensor], Tensor]
"""Writes the second tensor to the first, or adds it there."""


class Looped:
    """Chain after chain, by ordinary autograd: for modules that vmap cannot do, and where memory counts."""

    def __init__(self, module: nn.Module, calling: Calling, weights: Weights):
        self.modules, self.calling, self.weights = ModulePerThread(module), calling, weights

    def losses(self, point: Position, rows: Rows) -> Tensor:
        return torch.stack([self._losses(self._chain(point, c), *rows.of(c)) for c in range(len(point))])

    def write(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        return self._each(point, rows, weight, grad, Tensor.copy_)

    def add(self, point: Position, rows: Rows, weight: float, grad: Tensor) -> Tensor:
        return self._each(point, rows, weight, grad, Tensor.add_)

    def _each(self, point: Position, rows: Rows, weight: float, grad: Tensor, put: Put) -> Tensor:
        chains = range(len(point))
        return torch.stack([self._of_chain(self._chain(point, c), *rows.of(c), weight, grad[c], put) for c in chains])

    def _chain(self, point: Position, chain: int) -> dict[str, Tensor]:
        return {name: value[0] for name, value in self.weights.at(point.of(chain)).items()}

    def _losses(self, moving: dict[str, Tensor], inputs: tuple[Tensor, ...], target: Tensor) -> Tensor:
        return self.calling.losses(self.modules.mine(), {**self.weights.still, **moving}, inputs, target)

    def _of_chain(
        self,
        moving: dict[str, Tensor],
        inputs: tuple[Tensor, ...],
        target: Tensor,
        weight: float,
        grad: Tensor,
        put: Put,
    ) -> Tensor:
        """Losses [B] of one chain. Each tensor's gradient is put where it belongs as soon as it is known, and let go of."""
        untouched = {piece.name: piece for piece in self.weights.pieces}

        def take(name: str, leaf: Tensor) -> None:
            piece, part = untouched.pop(name), leaf.grad
            assert part is not None
            part = part.to_dense() if part.is_sparse else part
            part = part.flatten() if piece.chosen is None else part.flatten()[piece.chosen]
            put(grad[piece.start : piece.stop], part)
            leaf.grad = None

        for piece in self.weights.pieces:
            moving[piece.name].requires_grad_().register_post_accumulate_grad_hook(partial(take, piece.name))

        def there_and_back() -> Tensor:
            losses = self._losses(moving, inputs, target)
            (weight * losses.sum()).backward()
            return losses

        with torch.enable_grad():
            losses = holding(self.modules.mine(), {**self.weights.still, **moving}, there_and_back)
        for piece in untouched.values():
            put(grad[piece.start : piece.stop], grad.new_zeros(()))
        return losses.detach()


def _for_vmap(rows: Rows) -> tuple[tuple[Tensor, ...], Tensor, int | None]:
    inputs, target = rows.stacked()
    if len(target) > 1:
        return inputs, target, 0
    return tuple(x[0] for x in inputs), target[0], None
