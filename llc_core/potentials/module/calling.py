"""How rows become losses: the module is called and its output compared with targets, or a user's function does both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.overrides import TorchFunctionMode

from llc_core.compute.precision import Uncast
from llc_core.potentials.module.losses import Loss

Numbers = Mapping[str, Tensor]


class Calling(Protocol):
    """What gives the losses [B] of some rows, whose columns are `inputs` and `target`, of the module with these numbers."""

    def losses(self, module: nn.Module, numbers: Numbers, inputs: tuple[Tensor, ...], target: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class OfOutput:
    """loss(module(*inputs), target). names: of the inputs, where the module takes them by name.

    weighted: whether the first of the inputs is no input, but what each row's loss is multiplied with.
    casts: whether the module or the loss goes into an autocast, which is then left out.
    attends: whether the module has torch's attention layers, whose shortcut is then left out.
    """

    loss: Loss
    names: tuple[str, ...] | None = None
    weighted: bool = False
    casts: bool = False
    attends: bool = False

    def output(self, module: nn.Module, numbers: Numbers, inputs: tuple[Tensor, ...]) -> Any:
        inputs = inputs[1:] if self.weighted else inputs
        named = {} if self.names is None else dict(zip(self.names, inputs, strict=True))
        with _uncast(self.casts), _by_ordinary(self.attends):
            return logits_of(functional_call(module, dict(numbers), () if named else inputs, named))

    def losses(self, module: nn.Module, numbers: Numbers, inputs: tuple[Tensor, ...], target: Tensor) -> Tensor:
        output = self.output(module, numbers, inputs)
        with _uncast(self.casts):
            each = self.loss(output, target)
        return each * inputs[0] if self.weighted else each


@dataclass(frozen=True)
class OfBatch:
    """function(module, batch), batch being rows in the form in which the data were given.

    form: from columns to a batch.  by_row: whether it gives one value for a batch, so that each row is a batch of its own.
    vmapped: whether vmap can take the rows side by side.  weighted, casts, attends: as in `OfOutput`.
    """

    function: Callable[[Any, Any], Any]
    form: Callable[[tuple[Tensor, ...]], Any]
    weighted: bool = False
    by_row: bool = False
    vmapped: bool = True
    casts: bool = False
    attends: bool = False

    def value(self, module: nn.Module, numbers: Numbers, columns: tuple[Tensor, ...]) -> Tensor:
        """What the function gives for these rows together."""
        held = _Held(module, self.function)
        with _uncast(self.casts), _by_ordinary(self.attends):
            return loss_of(functional_call(held, {f"of.{k}": v for k, v in numbers.items()}, (self.form(columns),)))

    def losses(self, module: nn.Module, numbers: Numbers, inputs: tuple[Tensor, ...], target: Tensor) -> Tensor:
        columns = (*inputs[1:], target) if self.weighted else (*inputs, target)
        each = self._each(module, numbers, columns)
        return each * inputs[0] if self.weighted else each

    def _each(self, module: nn.Module, numbers: Numbers, columns: tuple[Tensor, ...]) -> Tensor:
        if not self.by_row:
            return self.value(module, numbers, columns)

        def one(*row: Tensor) -> Tensor:
            return self.value(module, numbers, tuple(x.unsqueeze(0) for x in row))

        if self.vmapped:
            return vmap(one)(*columns)
        return torch.stack([one(*(x[i] for x in columns)) for i in range(len(columns[0]))])


def _uncast(casts: bool) -> AbstractContextManager[Any]:
    return Uncast() if casts else nullcontext()


class _Ordinary(TorchFunctionMode):
    """Inside, in this thread, torch's attention layers use their ordinary operations, as they do where gradients are taken.

    The shortcut that they have without gradients gives nan where a position may look at none, as in a causal model of rows that are
    padded on the left. Any mode turns it off; torch's own switch does so for the whole process.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _by_ordinary(attends: bool) -> AbstractContextManager[Any]:
    return _Ordinary() if attends and not torch.is_grad_enabled() else nullcontext()


def holding(module: nn.Module, numbers: Numbers, function: Callable[[], Tensor]) -> Tensor:
    """What the function returns, run with the numbers in the module: for a backward pass that calls parts of it again, as
    torch.utils.checkpoint does."""
    held = _Held(module, lambda _, run: run())
    found: Tensor = functional_call(held, {f"of.{name}": x for name, x in numbers.items()}, (function,))
    return found


class _Held(nn.Module):
    """A module as an argument of a function, so that torch.func can put numbers into it while the function runs."""

    def __init__(self, module: nn.Module, function: Callable[[Any, Any], Any]):
        super().__init__()
        self.of, self.function = module, function

    def forward(self, batch: Any) -> Any:
        return self.function(self.of, batch)


def logits_of(output: Any) -> Any:
    """The logits of a module that returns them among other things, by name; the first of a tuple; else what it returns."""
    if isinstance(output, Tensor):
        return output
    if isinstance(output, Mapping) and "logits" in output:
        return output["logits"]
    if isinstance(output, tuple) and output and not hasattr(output, "logits"):
        return output[0]
    return getattr(output, "logits", output)


def loss_of(value: Any) -> Any:
    """The loss of a function that returns it among other things: by the name "loss", or first."""
    if isinstance(value, Mapping) and "loss" in value:
        return value["loss"]
    if isinstance(value, tuple | list) and value:
        return value[0]
    return getattr(value, "loss", value)


def first_line(error: Exception) -> str:
    text = str(error).strip().split("\n")[0].strip() or type(error).__name__
    text = text if len(text) <= 160 else text[:157] + "…"
    return text if text.endswith((".", "…")) else text + "."
