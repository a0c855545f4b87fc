"""Activations of a fully connected stack and their slopes, in place where the slope can be had from the value."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.potentials.module.layers import GELU, GELU_TANH, RELU, SIGMOID, SILU, TANH

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
