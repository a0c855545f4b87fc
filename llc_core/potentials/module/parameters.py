"""Which parameters of a module move, and how they lie in one flat vector."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel)
SHOWN = 8
"""Names listed in an error message."""


@dataclass(frozen=True)
class Piece:
    """One tensor of the module of which all or some entries move: entries start … stop of the flat vector.

    chosen: [k] places of the moving entries in the flattened tensor; None: all of them.
    """

    name: str
    shape: tuple[int, ...]
    start: int
    stop: int
    chosen: Tensor | None

    @property
    def layer(self) -> tuple[int, ...]:
        return self.shape if self.chosen is None else (self.stop - self.start,)


def uncompiled(module: nn.Module) -> nn.Module:
    """The module that torch.compile or a wrapper for several devices was given; inside a module `frozen_copy` does the same."""
    while True:
        inner = module.module if isinstance(module, WRAPPERS) else getattr(module, "_orig_mod", None)
        if not isinstance(inner, nn.Module):
            return module
        module = inner


def plain_name(name: str) -> str:
    """A parameter's name without the marks of compiled parts."""
    return name.replace("_orig_mod.", "")


def choose(module: nn.Module, parameters: Any) -> list[Piece]:
    """The moving pieces in the module's own order; a tensor that the module uses twice counts once.

    parameters: None: all that are trained (requires_grad). A glob or a list of globs, or a mapping from names to masks:
    what they name moves, trained or not.  Raises ValueError where nothing is chosen.
    """
    first: dict[int, str] = {}
    aliases = {plain_name(name): tensor for name, tensor in module.named_parameters(remove_duplicate=False)}
    for name, tensor in aliases.items():
        first.setdefault(id(tensor), name)
    canonical = {name: first[id(tensor)] for name, tensor in aliases.items()}
    own = {name: aliases[name] for name in first.values()}
    for name, tensor in own.items():
        if isinstance(tensor, nn.parameter.UninitializedParameter):
            raise ValueError(f"{name} has no shape yet; run the module once on data before passing it.")
        if tensor.is_complex() or (tensor.requires_grad and not tensor.is_floating_point()):
            raise ValueError(f"{name} holds {tensor.dtype} numbers; only real floating point parameters can be used.")
    masks = _masks(own, canonical, parameters)
    for name in [name for name in masks if not own[name].is_floating_point()]:
        # The frozen numbers of a quantised base: a pattern that catches them means the others.
        if isinstance(parameters, Mapping) or len(masks) == 1:
            raise ValueError(f"{name} holds {own[name].dtype} numbers, which cannot move; leave it out of parameters.")
        del masks[name]
    pieces: list[Piece] = []
    at = 0
    for name, tensor in own.items():
        if name not in masks or tensor.numel() == 0:
            continue
        chosen = masks[name]
        size = tensor.numel() if chosen is None else len(chosen)
        if size:
            pieces.append(Piece(name, tuple(tensor.shape), at, at + size, chosen))
            at += size
    if not pieces:
        raise ValueError("parameters chooses no entry: every mask is False everywhere; set some entries to True.")
    return pieces


def _masks(own: dict[str, nn.Parameter], canonical: dict[str, str], parameters: Any) -> dict[str, Tensor | None]:
    if not own:
        raise ValueError("module has no parameters; pass a module with at least one.")
    if parameters is None:
        trained: dict[str, Tensor | None] = {name: None for name, tensor in own.items() if tensor.requires_grad}
        if not trained:
            raise ValueError(
                "Every parameter of the module is frozen (requires_grad is False); name those that shall move, "
                "for example parameters='*'."
            )
        return trained
    if isinstance(parameters, Mapping):
        result: dict[str, Tensor | None] = {}
        for key, mask in parameters.items():
            if key not in canonical:
                raise ValueError(f"parameters names {key!r}, which does not exist; there are {_list(own)}.")
            name = canonical[key]
            places = _places(str(key), own[name], mask)
            before = result.get(name, places)
            both = None if places is None or before is None else torch.cat([before, places]).unique()
            result[name] = both
        return result
    globs = [parameters] if isinstance(parameters, str) else parameters
    if not isinstance(globs, list | tuple | set) or not all(isinstance(g, str) for g in globs):
        raise ValueError(
            f"parameters is a {type(parameters).__name__}; pass a pattern such as 'blocks.0.*', a list of patterns, "
            "or a mapping from names to masks."
        )
    found: dict[str, Tensor | None] = {}
    for glob in globs:
        names = [name for name in canonical if fnmatchcase(name, glob)]
        if not names:
            raise ValueError(f"parameters={glob!r} matches nothing; there are {_list(own)}.")
        found |= {canonical[name]: None for name in names}
    if not found:
        raise ValueError(f"parameters is empty; name at least one of {_list(own)}.")
    return found


def _places(name: str, tensor: Tensor, mask: Any) -> Tensor | None:
    if mask is True:
        return None
    try:
        array = mask.detach().cpu() if isinstance(mask, Tensor) else torch.as_tensor(np.asarray(mask), device="cpu")
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"parameters[{name!r}] is not a mask; give True or a boolean tensor.") from None
    if array.dtype != torch.bool:
        raise ValueError(f"parameters[{name!r}] holds {array.dtype} values; give True or a boolean tensor.")
    if array.shape != tensor.shape:
        raise ValueError(
            f"parameters[{name!r}] has shape {tuple(array.shape)}; the mask must have the tensor's shape "
            f"{tuple(tensor.shape)}."
        )
    return None if bool(array.all()) else array.flatten().nonzero().squeeze(1)


def _list(names: Mapping[str, Any]) -> str:
    shown = list(names)[:SHOWN]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def frozen_copy(module: nn.Module) -> tuple[nn.Module, dict[str, Tensor]]:
    """The module in eval mode without its numbers, and the numbers: name → tensor, detached clones.

    Tensors that are used twice stay shared in the copy. It holds no memory: its parameters and buffers are on the meta device,
    and each call puts numbers in their place. Later training of the module therefore does not move w0.
    """
    import copy

    memo = left_by_passes(module)
    numbers: dict[str, Tensor] = {}
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        numbers[plain_name(name)] = tensor.detach().clone()
        empty = tensor.detach().to("meta")
        is_parameter = isinstance(tensor, nn.Parameter)
        memo[id(tensor)] = nn.Parameter(empty, requires_grad=False) if is_parameter else empty
    try:
        twin = _in_eval(copy.deepcopy(module, dict(memo)))
        if twin is None:
            twin = copy.deepcopy(module, memo)
            for part in twin.modules():
                part.training = False
    except Exception as error:
        raise ValueError(
            f"module cannot be copied ({type(error).__name__}); remove tensors with gradients, hooks or open files that "
            "are kept on it as attributes."
        ) from None
    for part in list(twin.modules()):
        for name, child in list(part.named_children()):
            if uncompiled(child) is not child:
                setattr(part, name, uncompiled(child))
    _plainly(twin)
    return twin, numbers


class _Calculates(TorchFunctionMode):
    """Inside it is noticed whether anything is done with tensors."""

    seen = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen = True
        return func(*args, **(kwargs or {}))


def _in_eval(twin: nn.Module) -> nn.Module | None:
    """The module in eval mode; None where its own eval() calculates, as loralib's, which adds adapters to weights.

    Such a calculation would be made of no numbers here, and the adapters would move nothing after it.
    """
    with _Calculates() as noticed, suppress(Exception):
        twin.eval()
    return None if noticed.seen or any(part.training for part in twin.modules()) else twin


def left_by_passes(module: nn.Module) -> dict[int, Any]:
    """For `copy.deepcopy`, which cannot copy them: tensors that passes have left on the module become None.

    A hook that comes along in a copy may write to the module that it was made for, as those of TransformerLens' bridges do. What it
    writes is of vmap, or a private attribute with a graph.
    """
    kept = ((name, x) for part in module.modules() for name, x in vars(part).items() if isinstance(x, Tensor))
    return {id(x): None for name, x in kept if not _has_storage(x) or (name[0] == "_" and not x.is_leaf)}


def _has_storage(x: Tensor) -> bool:
    """Those of vmap have none."""
    try:
        x.untyped_storage()
    except NotImplementedError:
        return False
    return True


def _plainly(module: nn.Module) -> None:
    """Attention and experts as matrix products, where a module of Hugging Face's transformers has switches for them.

    The masks of its other ways ask the numbers whether any is 0, which vmap over chains cannot answer, and its grouped products of
    experts take no double precision.
    """
    for part in module.modules():
        if isinstance(part, nn.TransformerEncoder):
            part.use_nested_tensor = False  # torch's own shortcut, which vmap has no rule for
        for name in ("set_attn_implementation", "set_experts_implementation"):
            switch = getattr(part, name, None)
            if callable(switch):
                with suppress(Exception):  # a model without that way keeps its own
                    switch("eager")
