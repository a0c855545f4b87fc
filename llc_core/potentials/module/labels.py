"""What targets, labels, class probabilities and label weights must be, so that a loss can be taken of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import mul
from typing import Any

from torch import Tensor

from llc_core.fields import number

SUM_ERROR = 1e-3
"""Probabilities may add up to 1 with this error: that of 1,000 classes in half precision, 2⁻¹¹ each relative to its own size."""


def whole_labels(labels: Tensor) -> Tensor:
    """As int64: unsigned ones know no −100, and a comparison would take their 156 for it."""
    return labels if labels.is_floating_point() else labels.long()


def check_labels(lows: list[int], highs: list[int], classes: int, ignored: int | None) -> None:
    """The smallest and largest labels that count, of each part. ValueError where there are none, or one is no class."""
    if not lows:
        raise ValueError(f"data's targets are all {ignored}, which is ignored; give labels, or another ignore_index.")
    low, high = min(lows), max(highs)
    if low < 0 or high >= classes:
        raise ValueError(
            f"data's targets run from {low} to {high}, but the module has {classes} outputs; classes must be 0 to {classes - 1}."
        )


def check_probabilities(targets: Iterable[Tensor], at: int) -> None:
    """ValueError where soft labels are negative or do not add up to 1 over the classes."""
    low = min(float(part.min()) for part in targets)
    if low < 0:
        raise ValueError(f"data's targets hold {low:.3g}; class probabilities must not be negative.")
    if not sums_to_one(targets, at):
        raise ValueError(
            "data's targets are class probabilities that do not add up to 1 over the classes; divide them by their sum."
        )


def sums_to_one(targets: Iterable[Tensor], at: int) -> bool:
    return all(bool(((part.double().sum(at) - 1).abs() <= SUM_ERROR).all()) for part in targets)


def label_weights(weight: Any) -> tuple[float, ...]:
    given = weight.detach().cpu().tolist() if isinstance(weight, Tensor) else weight
    try:
        values = tuple(number(f"weight[{i}]", value) for i, value in enumerate(given))
    except TypeError:
        raise ValueError(f"weight is {weight!r}; give one number for each class.") from None
    if not values or min(values) < 0 or max(values) == 0:
        raise ValueError("weight must hold numbers of at least 0, one for each class and not all of them 0.")
    return values


def check_pairs(output: Tensor, target: Tensor) -> None:
    """ValueError where it is not certain which number of a row's target belongs to which of its output."""
    if output.shape[:1] == target.shape[:1] and same_order(output.shape[1:], target.shape[1:]):
        return
    lost = output.shape[:1] != target.shape[:1]
    raise ValueError(
        f"loss cannot be taken of output {tuple(output.shape)} and target {tuple(target.shape)}; "
        + (
            "the first dimension of the output must count the rows, which a forward that ends in squeeze() may lose: use squeeze(-1)."
            if lost
            else "give targets of the output's shape, which may be flattened or have dimensions of size 1 more or less."
        )
    )


def same_order(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two shapes differ only by dimensions of size 1 and by flattening: then each block of one is made of whole blocks of the
    other."""
    ends, others = ({1, *accumulate(shape, mul)} for shape in (one, other))
    return max(ends) == max(others) and (ends <= others or others <= ends)
