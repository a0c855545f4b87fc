"""Losses per sample, [B] from outputs and targets: those that are known by name, with derivatives written by hand.

cross_entropy: −log softmax(output)[target], in nats, with more positions a row their mean: see `CrossEntropy` for its layouts.
squared_error: Σ over outputs of (output − target)², no ½: the convention of the deep linear networks here.
next_token: cross entropy of each position's output with the token that follows: see `NextToken`.
mse: the same divided by the number of outputs, the mean that torch's MSELoss takes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from llc_core.fields import short
from llc_core.potentials.module.cross_entropy import CrossEntropy, class_dimension
from llc_core.potentials.module.next_token import NextToken

Loss = Callable[[Tensor, Tensor], Tensor]
Slope = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]
"""(output [B, K], target, weight) ↦ losses [B] and weight·∂loss/∂output [B, K]; `output` may be overwritten."""


_OF_ANY_LAYOUT = CrossEntropy()


def cross_entropy(output: Tensor, target: Tensor) -> Tensor:
    """−log softmax(output)[target], [B]; output [B, K], [B, K, …] as torch has it, or [B, T, K]; labels −100 are left out."""
    return _OF_ANY_LAYOUT(output, target)


def squared_error(output: Tensor, target: Tensor) -> Tensor:
    """Σ (output − target)², [B]."""
    return (output - target.view_as(output)).square().flatten(1).sum(1)


def mse(output: Tensor, target: Tensor) -> Tensor:
    """Mean over the outputs of (output − target)², [B]."""
    return (output - target.view_as(output)).square().flatten(1).mean(1)


def _cross_entropy_slope(output: Tensor, target: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    logs = torch.log_softmax(output, 1)
    index = target.long().unsqueeze(1)
    losses = -logs.gather(1, index).squeeze(1)
    slope = logs.exp_().mul_(weight)
    return losses, slope.scatter_add_(1, index, torch.full_like(losses, -weight).unsqueeze(1))


def _squared_error_slope(output: Tensor, target: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    residual = output.sub_(target.view_as(output))
    return residual.square().sum(1), residual.mul_(2 * weight)


def _mse_slope(output: Tensor, target: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    losses, slope = _squared_error_slope(output, target, weight / output.shape[1])
    return losses / output.shape[1], slope


LOSSES: dict[str, Loss] = {
    "cross_entropy": cross_entropy,
    "squared_error": squared_error,
    "mse": mse,
    "next_token": NextToken(),
}
SLOPES: dict[Loss, Slope] = {
    cross_entropy: _cross_entropy_slope,
    squared_error: _squared_error_slope,
    mse: _mse_slope,
}


def by_autograd(loss: Loss) -> Slope:
    """The slope of any loss; only the loss itself is differentiated by autograd."""

    def slope(output: Tensor, target: Tensor, weight: float) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            leaf = output.detach().requires_grad_()
            losses = loss(leaf, target)
            (grad,) = torch.autograd.grad(losses.sum() * weight, leaf)
        return losses.detach(), grad

    return slope


def slope_of(loss: Loss) -> Slope:
    """By hand where the loss is one of LOSSES, by autograd otherwise."""
    return SLOPES.get(loss) or by_autograd(loss)


def as_loss(loss: object) -> Loss:
    """The function that `loss` names or is; ValueError otherwise."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"loss is {short(loss)}; choose one of {', '.join(LOSSES)}, or pass a function.")
        return LOSSES[loss]
    if not callable(loss):
        raise ValueError(
            f"loss is a {type(loss).__name__}; pass a function of (output, target), or one of {', '.join(LOSSES)}."
        )
    return loss


def settled(loss: Loss, output: Tensor, some: Tensor, targets: Tensor) -> Loss:
    """The loss for one data set: a cross entropy knows its layout and its denominator from then on.

    output: of a few rows, whose targets are `some`.  targets: of all rows.
    """
    if isinstance(loss, NextToken):
        return loss.settled(output, some, targets)
    if loss is not cross_entropy and not isinstance(loss, CrossEntropy):
        return loss
    fixed = (loss if isinstance(loss, CrossEntropy) else _OF_ANY_LAYOUT).settled(output, some, targets)
    return cross_entropy if fixed.plain and output.dim() == 2 and not targets.is_floating_point() else fixed


def hits(loss: Loss, output: Tensor, target: Tensor) -> tuple[int, int]:
    """How many positions have the largest output at their label, and how many have a label that counts."""
    if loss is not cross_entropy and not isinstance(loss, CrossEntropy):
        hit = output.argmax(-1) == target
        return int(hit.sum()), hit.numel()
    rule = loss if isinstance(loss, CrossEntropy) else _OF_ANY_LAYOUT
    counts = torch.ones_like(target, dtype=torch.bool) if rule.ignore_index is None else target != rule.ignore_index
    hit = output.argmax(rule.class_dim or class_dimension(output, target)) == target
    return int((hit & counts).sum()), int(counts.sum())
