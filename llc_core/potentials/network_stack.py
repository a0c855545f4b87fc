"""Recognise a fully connected stack: linear layers with elementwise activations between them, however it is written.

The forward method is traced symbolically and must be one chain of known steps; whatever is not recognised is evaluated
by vmap, which is slower and needs to know nothing.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

RELU, TANH, SIGMOID, SILU, GELU, GELU_TANH = "relu", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh"

MODULES: dict[type, str] = {nn.ReLU: RELU, nn.Tanh: TANH, nn.Sigmoid: SIGMOID, nn.SiLU: SILU}
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
FLATTENS = (torch.flatten, torch.reshape, "flatten", "view", "reshape")
SHAPES = (getattr, operator.getitem, "size", "numel")
"""Steps that only read a shape: they may hang off the chain."""


@dataclass(frozen=True)
class Dense:
    """One linear layer by the names of its tensors, and what follows it: activations in their order."""

    weight: str
    bias: str | None
    inputs: int
    outputs: int
    activation: str | None


def dense_stack(module: nn.Module) -> list[Dense] | None:
    """The layers of a fully connected stack in their order, or None where the module is not recognisably one."""
    names = _canonical_names(module)
    module = nn.Sequential(module)  # so that a single linear layer is a step of something, too
    try:
        graph = fx.Tracer().trace(module)
    except Exception:
        return None
    layers: list[Dense] = []
    parts = dict(module.named_modules())
    last: fx.Node | None = None
    for node in graph.nodes:
        if node.op == "placeholder":
            if last is not None:
                return None
            last = node
            continue
        if node.op == "output":
            return layers if node.args[0] is last and layers else None
        if node.op in ("call_function", "call_method") and node.target in SHAPES:
            continue
        if last is None or not node.args or node.args[0] is not last:
            return None
        step = _step(node, parts)
        if isinstance(step, nn.Linear):
            weight, bias = names[id(step.weight)], None if step.bias is None else names[id(step.bias)]
            layers.append(Dense(weight, bias, step.in_features, step.out_features, None))
        elif step == "flatten":
            if layers:
                return None
        elif step is None:
            return None
        elif step:
            if not layers or layers[-1].activation is not None:
                return None
            before = layers[-1]
            layers[-1] = Dense(before.weight, before.bias, before.inputs, before.outputs, step)
        last = node
    return None


def _step(node: fx.Node, parts: dict[str, nn.Module]) -> nn.Linear | str | None:
    """A linear layer, the name of an activation, "flatten", "" for nothing at all, or None for what is not known."""
    if node.op == "call_module":
        part = parts[str(node.target)]
        if type(part) is nn.Linear and not part._forward_hooks and not part._forward_pre_hooks:
            return part
        if isinstance(part, nn.Identity | nn.Dropout):
            return ""
        if isinstance(part, nn.Flatten):
            return "flatten" if (part.start_dim, part.end_dim) == (1, -1) else None
        if isinstance(part, nn.GELU):
            return GELU if part.approximate == "none" else GELU_TANH
        return MODULES.get(type(part))
    if node.target in FLATTENS:
        return "flatten"
    if node.target is F.gelu:
        return GELU if node.kwargs.get("approximate", "none") == "none" else GELU_TANH
    if node.target is F.dropout:
        return "" if node.kwargs.get("training") is False else None
    return FUNCTIONS.get(node.target)


def _canonical_names(module: nn.Module) -> dict[int, str]:
    return {id(tensor): name for name, tensor in module.named_parameters()}


def row_numbers(layers: list[Dense]) -> int:
    """Numbers that a forward and backward pass holds for one row of one chain."""
    return layers[0].inputs + sum(3 * layer.outputs for layer in layers)


def is_wide(layers: list[Dense], width: int) -> bool:
    return math.sqrt(max(layer.inputs * layer.outputs for layer in layers)) >= width
