"""Losses per sample, [B] from outputs and targets: those that are known by name, with derivatives written by hand. Long, since
labels come in many forms.

cross_entropy: −log softmax(output)[target], in nats, with more positions a row their mean: see `CrossEntropy` for its layouts.
squared_error: Σ over outputs of (output − target)², no ½: the convention of the deep linear networks here.
next_token: cross entropy of each position's output with the token that follows: see `NextToken`.
mse: the same divided by the number of outputs, the mean that torch's MSELoss takes.

`CrossEntropy` knows torch's layout and that of token models; ignored labels, label weights, soft labels.

torch puts the classes into dimension 1: output [B, K, …], target [B, …]. Token models put them last: output [B, T, K], target
[B, T]. Where the shapes allow one of the two alone, it is taken; where both fit, the reader is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from llc_core.fields import choice, number, short, whole
from llc_core.potentials.module.labels import (
    check_labels,
    check_pairs,
    check_probabilities,
    label_weights,
    sums_to_one,
    whole_labels,
)

IGNORED = -100
"""The label that torch and the common tokenizers leave out."""
REDUCTIONS = ("token", "row", "sum")


@dataclass(frozen=True, eq=False)
class CrossEntropy:
    """−w·log softmax(output)[target] in nats, [B], averaged over the positions of a row; a loss for NetworkPotential.

    class_dim: dimension of the K classes in the output: 1, or −1 for the last; None: from the shapes.
    ignore_index: positions with this label do not count.  weight: [K], one for each class; None: 1.
    target: whole numbers of the output's shape without the classes, or class probabilities of the output's whole shape.

    Over a data set L_n is what torch.nn.functional.cross_entropy(…, ignore_index=…, weight=…) gives for all rows at once:
    with labels Σ w·loss / Σ w over all positions that count, with probabilities Σ w·loss over the number of positions. A row's
    own loss has the same denominator, so its mean over rows is L_n and a minibatch's mean is unbiased.
    label_smoothing: ε in [0, 1] as torch has it: labels count 1 − ε, and all K classes ε/K each.
    reduction: "token" is this mean over positions; "row" the mean over rows of each row's own mean; "sum" that of each row's sum.
    Rows without a label that counts are left out of both.
    Raises ValueError with one sentence for shapes that do not fit or that fit both layouts.
    """

    class_dim: int | None = None
    ignore_index: int | None = IGNORED
    weight: Any = None
    reduction: str = field(default="token", repr=False)
    scale: float = field(default=1.0, repr=False)
    """What makes the mean over rows the loss over the data that it is for; 1 where it is for none yet."""
    label_smoothing: float = field(default=0.0, repr=False)
    _on: dict[tuple[torch.device, torch.dtype], Tensor] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.class_dim not in (None, 1, -1):
            raise ValueError(f"class_dim is {self.class_dim!r}; it must be 1, −1 for the last dimension, or None.")
        if self.ignore_index is not None:
            whole("ignore_index", self.ignore_index)
        choice("reduction", self.reduction, REDUCTIONS)
        if not 0 <= number("label_smoothing", self.label_smoothing) <= 1:
            raise ValueError(f"label_smoothing is {self.label_smoothing!r}; give a number from 0 to 1.")
        if self.weight is not None:
            object.__setattr__(self, "weight", label_weights(self.weight))

    def __call__(self, output: Tensor, target: Tensor) -> Tensor:
        """[B] from output [B, K, …] or [B, …, K] and target, of this row's positions."""
        output = _with_row(output, target, target.dim() + (not target.is_floating_point()))
        at = self.class_dim if self.class_dim is not None else class_dimension(output, target)
        logs = torch.log_softmax(output, at).movedim(at, -1)
        if target.is_floating_point():
            each = self._smoothed(target.to(logs.dtype).movedim(at, -1)) * logs
            each = (each if self.weight is None else each * self._weights(logs)).sum(-1)
        else:
            each = self._picked(logs, target.long())
        if each.dim() == 1:
            return -self.scale * each
        if self.reduction == "token" or target.is_floating_point() and self.reduction == "row":
            return -self.scale * each.flatten(1).mean(1)
        total = -self.scale * each.flatten(1).sum(1)
        return total if self.reduction == "sum" else total / self._weight_of(target).to(total.dtype)

    def _weight_of(self, target: Tensor) -> Tensor:
        """Σ w over each row's positions that count, [B]; 1 where there are none."""
        counts = self.counted(target)
        if self.weight is None:
            return counts.flatten(1).sum(1).clamp_min(1)
        label = torch.where(counts, target.long(), 0)
        weights = self._weights(torch.empty(0, device=target.device))[label] * counts
        return torch.where(weights.flatten(1).sum(1) > 0, weights.flatten(1).sum(1), 1.0)

    def counted(self, target: Tensor) -> Tensor:
        """Which labels count."""
        if self.ignore_index is None:
            return torch.ones_like(target, dtype=torch.bool)
        return whole_labels(target) != self.ignore_index

    def _picked(self, logs: Tensor, target: Tensor) -> Tensor:
        """w·log p of the labels, 0 where they are ignored; logs [B, …, K], target [B, …]."""
        counts = None if self.ignore_index is None else target != self.ignore_index
        label = target if counts is None else torch.where(counts, target, 0)
        each = logs.gather(-1, label.unsqueeze(-1)).squeeze(-1)
        if self.weight is not None:
            each = each * self._weights(logs)[label]
        if self.label_smoothing:
            weighted = logs if self.weight is None else logs * self._weights(logs)
            each = (1 - self.label_smoothing) * each + self.label_smoothing * weighted.mean(-1)
        return each if counts is None else torch.where(counts, each, 0)

    def _smoothed(self, probabilities: Tensor) -> Tensor:
        """[B, …, K]."""
        share = self.label_smoothing
        return (1 - share) * probabilities + share / probabilities.shape[-1] if share else probabilities

    def _weights(self, like: Tensor) -> Tensor:
        key = (like.device, like.dtype)
        if key not in self._on:
            self._on[key] = torch.tensor(self.weight, dtype=like.dtype, device=like.device)
        return self._on[key]

    def settled(self, output: Tensor, some: Tensor, targets: Iterable[Tensor]) -> CrossEntropy:
        """The same for one data set: layout and denominator fixed, and nothing left to do that the data do not need.

        output: of a few rows, whose targets are `some`.  targets: of all rows, in parts that can be gone through again.
        ValueError for labels that do not fit.
        """
        at = self.class_dim or class_dimension(output, some, targets)
        check_fit(output, some, at)
        classes = output.shape[at]
        if self.weight is not None and len(self.weight) != classes:
            raise ValueError(
                f"weight has {len(self.weight)} entries, but the module has {classes} classes; give one for each."
            )
        if some.is_floating_point():
            check_probabilities(targets, at)
            return replace(self, class_dim=at, ignore_index=None)
        positions, labelled, share, rows, rows_with = 0, 0, 0.0, 0, 0
        lows, highs = [], []
        for part in targets:
            counts = self.counted(part)
            labels = part.long()[counts]
            positions, labelled, rows = positions + part.numel(), labelled + len(labels), rows + len(part)
            rows_with += int(counts.flatten(1).any(1).sum()) if part.dim() > 1 else len(labels)
            if len(labels):
                lows.append(int(labels.min()))
                highs.append(int(labels.max()))
                known = labels if self.weight is None else labels.clamp(0, classes - 1)
                share += len(known) if self.weight is None else float(self._weights(known.double())[known].sum())
        check_labels(lows, highs, classes, self.ignore_index)
        if share <= 0:
            raise ValueError("weight is 0 for every label in data; give a positive weight to some that occur.")
        scale = rows / rows_with if self.reduction != "token" and some.dim() > 1 else positions / share
        return replace(
            self, class_dim=at, ignore_index=None if labelled == positions else self.ignore_index, scale=scale
        )

    @property
    def plain(self) -> bool:
        """Whether nothing is ignored, weighted, smoothed or rescaled."""
        return self.ignore_index is None and self.weight is None and self.scale == 1.0 and not self.label_smoothing


def without_classes(output: Tensor) -> str:
    return (
        f"output is {tuple(output.shape)}; cross_entropy needs one dimension for the classes beside that of the rows: if the "
        "forward ends in squeeze(), which drops dimensions of size 1, leave that out."
    )


def _with_row(output: Tensor, target: Tensor, dims: int) -> Tensor:
    """Of one row the output as it was before a forward's squeeze(), which drops the dimension of the rows too."""
    return output.unsqueeze(0) if output.dim() == dims - 1 and len(target) == 1 else output


def class_dimension(output: Tensor, target: Tensor, targets: Iterable[Tensor] | None = None) -> int:
    """1 or −1: where the classes are, from the shapes; of soft labels from where they add up to 1, in `targets` if given."""
    if output.dim() < 2:
        raise ValueError(without_classes(output))
    if output.dim() == 2:
        return 1
    soft = target.is_floating_point()
    if soft:
        known = [target] if targets is None else targets
        same = target.shape == output.shape
        fits = [at for at in (1, -1) if same and sums_to_one(known, at)]
    else:
        shape = output.shape
        fits = [at for at, rest in ((1, shape[:1] + shape[2:]), (-1, shape[:-1])) if target.shape == rest]
    if len(fits) == 2:
        raise ValueError(
            f"output {tuple(output.shape)} and target {tuple(target.shape)} fit both layouts; pass "
            "loss=CrossEntropy(class_dim=1) if dimension 1 holds the classes, or CrossEntropy(class_dim=-1) if the last does."
        )
    return fits[0] if fits else 1


def check_fit(output: Tensor, target: Tensor, at: int) -> None:
    """ValueError where the target has not the shape that goes with classes in dimension `at`."""
    if output.dim() < 2:
        raise ValueError(without_classes(output))
    shape = list(output.shape)
    if target.is_floating_point() and target.shape == output.shape:
        return
    if target.is_floating_point() or target.dtype == torch.bool:
        raise ValueError(
            f"data's targets are {target.dtype}; cross_entropy needs whole numbers, the classes: targets.long(), or "
            f"class probabilities of the output's shape {tuple(shape[1:])}."
        )
    del shape[at]
    if tuple(shape) != tuple(target.shape):
        raise ValueError(
            f"loss cannot be taken of output {tuple(output.shape)} and target {tuple(target.shape)}; the target must have "
            f"the output's shape without its {output.shape[at]} classes, {tuple(shape[1:])} a row."
        )


@dataclass(frozen=True, eq=False)
class NextToken:
    """−log softmax(output[t])[target[t + 1]] in nats, [B], averaged over the T − 1 positions of a row that have a next token.

    output [B, T, K], target [B, T]: the tokens themselves, with −100 where a token does not count, as padding does not.
    rule: the cross entropy of single positions. L_n is its mean over all positions that count in the data set, see
    `CrossEntropy.reduction`.
    """

    rule: CrossEntropy = CrossEntropy(class_dim=-1)

    def __call__(self, output: Tensor, target: Tensor) -> Tensor:
        return self.rule(_with_row(output, target, 3)[:, :-1], target[:, 1:])

    def settled(self, output: Tensor, some: Tensor, targets: Iterable[Tensor]) -> NextToken:
        """See `CrossEntropy.settled`; ValueError where a row has no next token, or the outputs are not those of tokens."""
        if some.dim() != 2 or some.shape[1] < 2 or some.is_floating_point():
            shape = sum(map(len, targets)), *some.shape[1:]
            raise ValueError(
                f"data's tokens are {shape} of {some.dtype}; next_token needs whole numbers [rows, T] with T ≥ 2."
            )
        if output.dim() != 3 or output.shape[1] != some.shape[1]:
            raise ValueError(
                f"module gives {tuple(output.shape)} for tokens {tuple(some.shape)}; next_token needs an output [B, T, K]."
            )
        following = Followers(targets)
        return replace(self, rule=self.rule.settled(output[:, :-1], some[:, 1:], following))


@dataclass(frozen=True)
class Followers:
    """Of each part of the tokens [b, T] those that follow another, [b, T − 1]."""

    parts: Iterable[Tensor]

    def __iter__(self) -> Iterator[Tensor]:
        return (part[:, 1:] for part in self.parts)


Loss = Callable[[Tensor, Tensor], Tensor]
Slope = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]
"""(output [B, K], target, weight) ↦ losses [B] and weight·∂loss/∂output [B, K]; `output` may be overwritten."""


OF_ANY_LAYOUT = CrossEntropy()


def cross_entropy(output: Tensor, target: Tensor) -> Tensor:
    """−log softmax(output)[target], [B]; output [B, K], [B, K, …] as torch has it, or [B, T, K]; labels −100 are left out."""
    return OF_ANY_LAYOUT(output, target)


def squared_error(output: Tensor, target: Tensor) -> Tensor:
    """Σ (output − target)², [B]."""
    return _residual(output, target).square().sum(1)


def mse(output: Tensor, target: Tensor) -> Tensor:
    """Mean over the outputs of (output − target)², [B]."""
    return _residual(output, target).square().mean(1)


def _residual(output: Tensor, target: Tensor) -> Tensor:
    """output − target of each row, [B, k]; one output a row may come as [B]."""
    if output.shape != target.shape:
        if target.dim() and len(target) == 1 and output.shape[:1] != (1,):
            output = output.unsqueeze(0)  # of one row, by a forward that ends in squeeze()
        check_pairs(output, target)
        target = target.reshape(output.shape)
    return (output - target).reshape(len(output), -1)


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


@dataclass(frozen=True, eq=False)
class OfUser:
    """A function that somebody wrote. It gets a copy of the targets, which are views of the data and may be changed in place."""

    function: Loss

    def __post_init__(self) -> None:
        name = getattr(self.function, "__qualname__", "") or type(self.function).__name__
        object.__setattr__(self, "__qualname__", name)  # by which results know the loss

    def __call__(self, output: Tensor, target: Tensor) -> Tensor:
        return self.function(output, target.clone())


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
    known = isinstance(loss, OfUser | CrossEntropy | NextToken) or loss in (cross_entropy, squared_error, mse)
    return loss if known else OfUser(loss)


def settled(loss: Loss, output: Tensor, some: Tensor, targets: Iterable[Tensor]) -> Loss:
    """The loss for one data set: a cross entropy knows its layout and its denominator from then on.

    output: of a few rows, whose targets are `some`.  targets: of all rows, in parts that can be gone through again.
    """
    if isinstance(loss, NextToken):
        return loss.settled(output, some, targets)
    if loss in (squared_error, mse):
        check_pairs(output, some)
    if loss is not cross_entropy and not isinstance(loss, CrossEntropy):
        return loss
    fixed = (loss if isinstance(loss, CrossEntropy) else OF_ANY_LAYOUT).settled(output, some, targets)
    return cross_entropy if fixed.plain and output.dim() == 2 and not some.is_floating_point() else fixed


def hits(loss: Loss, output: Tensor, target: Tensor) -> tuple[int, int]:
    """How many positions have the largest output at their label, and how many have a label that counts."""
    if loss is not cross_entropy and not isinstance(loss, CrossEntropy):
        hit = output.argmax(-1) == target
        return int(hit.sum()), hit.numel()
    rule = loss if isinstance(loss, CrossEntropy) else OF_ANY_LAYOUT
    counts = rule.counted(target)
    hit = output.argmax(rule.class_dim or class_dimension(output, target)) == target
    return int((hit & counts).sum()), int(counts.sum())
