"""Recognise a fully connected stack: linear layers with elementwise activations between them, however it is written.

The forward method is traced symbolically and must be one chain of known steps; whatever is not recognised is evaluated
by vmap, which is slower and works for any module.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F

RELU, TANH, SIGMOID, SILU, GELU, GELU_TANH = "relu", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh"

FUNCTIONS: dict[Any, str] = {
    torch.relu: RELU,
    F.relu: RELU,
    torch.tanh: TANH,
    F.tanh: TANH,
    torch.sigmoid: SIGMOID,
    F.sigmoid: SIGMOID,
    F.silu: SILU,
    "relu": RELU,
    "tanh": TANH,
    "sigmoid": SIGMOID,
}
RESHAPES = (torch.reshape, "view", "reshape")
SHAPES = (getattr, operator.getitem, "size", "numel")
"""Operations that only read a shape; they may branch off the chain of layers."""


@dataclass(frozen=True)
class Dense:
    """One linear layer by the names of its tensors, and what follows it: activations in their order."""

    weight: str
    bias: str | None
    inputs: int
    outputs: int
    activation: str | None


class _Traced(fx.Tracer):
    """Records what a module's forward method does to one input.

    `fx.Tracer.trace` replaces `nn.Module.__call__` in the whole process: a run in another thread then fails, and two traces that
    overlap leave it replaced for good. This tracer instead passes in an object that records what is done to it. Every layer is
    called as it is, down to the functions of torch.nn.functional.
    """

    def __init__(self, module: nn.Module):
        super().__init__()
        self.root = nn.Sequential(module)  # a tensor that forward makes is kept on the root, and not on the module
        self.graph = fx.Graph()
        self.tensor_attrs = {}
        output = module(self.create_proxy("placeholder", "input", (), {}))
        self.create_node("output", "output", (self.create_arg(output),), {})


def dense_stack(module: nn.Module) -> list[Dense] | None:
    """The layers of a fully connected stack in their order, or None where the module is not recognisably one.

    module: in eval mode. Threads may ask at the same time.
    """
    if any(part._forward_hooks or part._forward_pre_hooks or hasattr(part, "_orig_mod") for part in module.modules()):
        return None  # what a hook or a compiled module does with an input that is no tensor is not known
    names = _canonical_names(module)
    try:
        traced = _Traced(module)
    except Exception:
        return None
    layers: list[Dense] = []
    last: fx.Node | None = None
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            last = node
            continue
        if node.op == "output":
            return layers if node.args[0] is last and layers else None
        if node.op == "get_attr" or (node.op in ("call_function", "call_method") and node.target in SHAPES):
            continue
        if last is None or not node.args or node.args[0] is not last:
            return None
        if node.target is F.linear:
            layer = _linear(node, traced.root, names)
            if layer is None:
                return None
            layers.append(layer)
        elif _is_flatten(node):
            if layers:
                return None
        elif not _does_nothing(node):
            activation = _activation(node)
            if activation is None or not layers or layers[-1].activation is not None:
                return None
            layers[-1] = replace(layers[-1], activation=activation)
        last = node
    return None


def _linear(node: fx.Node, root: nn.Module, names: dict[int, str]) -> Dense | None:
    """A layer whose weight, and bias if it has one, are parameters as they stand."""
    given = dict(zip(("input", "weight", "bias"), node.args, strict=False)) | node.kwargs
    found: list[str | None] = []
    shapes: list[tuple[int, ...]] = []
    for part in ("weight", "bias"):
        value = given.get(part)
        if part == "bias" and value is None:
            found.append(None)
            continue
        if not isinstance(value, fx.Node) or value.op != "get_attr":
            return None
        tensor = _attribute(root, str(value.target))
        name = names.get(id(tensor))
        if name is None:
            return None
        found.append(name)
        shapes.append(tuple(tensor.shape))
    if len(shapes[0]) != 2 or found[0] is None:
        return None
    outputs, inputs = shapes[0]
    return Dense(found[0], found[1], inputs, outputs, None)


def _attribute(root: nn.Module, path: str) -> Any:
    return reduce(getattr, path.split("."), root)


def _is_flatten(node: fx.Node) -> bool:
    if node.target in (torch.flatten, "flatten"):
        given = dict(zip(("start_dim", "end_dim"), node.args[1:], strict=False)) | node.kwargs
        return (given.get("start_dim", 0), given.get("end_dim", -1)) == (1, -1)
    return node.target in RESHAPES


def _does_nothing(node: fx.Node) -> bool:
    """Dropout in eval mode."""
    given = dict(zip(("p", "training"), node.args[1:], strict=False)) | node.kwargs
    return node.target is F.dropout and given.get("training") is False


def _activation(node: fx.Node) -> str | None:
    if node.target is F.gelu:
        return GELU if node.kwargs.get("approximate", "none") == "none" else GELU_TANH
    return FUNCTIONS.get(node.target)


def _canonical_names(module: nn.Module) -> dict[int, str]:
    return {id(tensor): name for name, tensor in module.named_parameters()}


def row_numbers(layers: list[Dense]) -> int:
    """Numbers that a forward and backward pass holds for one row of one chain."""
    return layers[0].inputs + sum(3 * layer.outputs for layer in layers)


def is_wide(layers: list[Dense], width: int) -> bool:
    return math.sqrt(max(layer.inputs * layer.outputs for layer in layers)) >= width


aten = torch.ops.aten
FROM_VALUE = (None, RELU, TANH, SIGMOID)
"""Activations whose slope follows from their value; the others need what they were given, and a second buffer."""


def activate(name: str | None, z: Tensor, other: Tensor | None) -> Tensor:
    """The activation of z: in z itself, or in `other` for those that are not FROM_VALUE."""
    if name is None:
        return z
    if name == RELU:
        return z.relu_()
    if name == TANH:
        return z.tanh_()
    if name == SIGMOID:
        return z.sigmoid_()
    assert other is not None
    result: Tensor
    if name == SILU:
        result = aten.silu.out(z, out=other)
    else:
        result = aten.gelu.out(z, approximate="none" if name == GELU else "tanh", out=other)
    return result


def slope_before(name: str | None, slope: Tensor, value: Tensor, z: Tensor) -> Tensor:
    """∂loss/∂z from ∂loss/∂(activation of z), in place. value: of the activation; z: read where it is not FROM_VALUE."""
    result: Tensor
    if name is None:
        return slope
    if name == RELU:
        result = aten.threshold_backward.grad_input(slope, value, 0, grad_input=slope)
    elif name == TANH:
        result = aten.tanh_backward.grad_input(slope, value, grad_input=slope)
    elif name == SIGMOID:
        result = aten.sigmoid_backward.grad_input(slope, value, grad_input=slope)
    elif name == SILU:
        result = aten.silu_backward.grad_input(slope, z, grad_input=slope)
    else:
        approximate = "tanh" if name == GELU_TANH else "none"
        result = aten.gelu_backward.grad_input(slope, z, approximate=approximate, grad_input=slope)
    return result
