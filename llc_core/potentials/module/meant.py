"""Which mean of a loss is meant where a row has several labels, and which rows n counts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from llc_core.fields import short
from llc_core.potentials.module.losses import (
    OF_ANY_LAYOUT,
    CrossEntropy,
    Loss,
    NextToken,
    OfUser,
    cross_entropy,
    mse,
    squared_error,
)

ENDLESS = (cross_entropy, functional.cross_entropy, functional.binary_cross_entropy_with_logits)
ENDLESS_CLASSES = (CrossEntropy, NextToken, nn.CrossEntropyLoss, nn.BCEWithLogitsLoss)
RESTING = (
    squared_error,
    mse,
    functional.mse_loss,
    functional.l1_loss,
    functional.smooth_l1_loss,
    functional.huber_loss,
)
RESTING_CLASSES = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss)


def falls_for_ever(loss: Loss) -> bool | None:
    """`Potential.endless` of a loss of outputs: known of those here and of torch's, and not of a function that somebody wrote."""
    function = loss.function if isinstance(loss, OfUser) else loss
    if isinstance(function, ENDLESS_CLASSES) or function in ENDLESS:
        return True
    return False if isinstance(function, RESTING_CLASSES) or function in RESTING else None


def reduced(loss: Loss, reduction: str | None) -> Loss:
    """The loss with `CrossEntropy.reduction`; ValueError for one that has none."""
    if reduction is None:
        return loss
    if isinstance(loss, NextToken):
        return replace(loss, rule=replace(loss.rule, reduction=reduction))
    if loss is cross_entropy or isinstance(loss, CrossEntropy):
        return replace(loss if isinstance(loss, CrossEntropy) else OF_ANY_LAYOUT, reduction=reduction)
    raise ValueError(f"reduction is {short(reduction)}, which belongs to cross_entropy and next_token; leave it out.")


def reduction_name(loss: object) -> str:
    """What tells losses apart that have another mean or smooth their labels; empty for the usual one."""
    rule = _rule(loss)
    if rule is None:
        return ""
    smoothed = f"/label_smoothing={rule.label_smoothing!r}" if rule.label_smoothing else ""
    return smoothed if rule.reduction == "token" else f"/{rule.reduction}{smoothed}"


def rows_with_label(loss: Loss, targets: Iterable[Tensor], rows: int) -> int:
    """How many of all rows have a label that counts; a warning tells of others.  targets: in parts."""
    counts = _positions(loss, targets, rows)
    if counts is None or bool((counts > 0).all() or (counts == 0).all()):  # the trial refuses the last
        return rows
    found = int((counts > 0).sum())
    warnings.warn(
        f"{rows - found:,} of {rows:,} rows have no label that counts: they add nothing to the loss, and n counts the other {found:,}.",
        stacklevel=4,
    )
    return found


def which_mean(loss: Loss, targets: Iterable[Tensor], base: Tensor) -> str:
    """A sentence where the mean over tokens, which is taken, and that over rows differ; else nothing.  base: [rows], at w0."""
    rule = _rule(loss)
    if rule is None or rule.reduction != "token" or rule.weight is not None:
        return ""
    counts = _positions(loss, targets, len(base))
    if counts is None:
        return ""
    there = counts > 0
    if int(counts[there].min()) == int(counts.max()):
        return ""
    tokens, base = int(counts.sum()), base.double().cpu()
    own = base[there] * tokens / len(base) / counts[there]
    return (
        f"The loss at w0 is {float(base.mean()):.4f} as the mean over {tokens:,} tokens, and {float(own.mean()):.4f} as the mean over "
        "rows of each row's own; the first is taken. Say which you mean by reduction='token' or 'row'."
    )


def _rule(loss: object) -> CrossEntropy | None:
    rule = loss.rule if isinstance(loss, NextToken) else loss
    return rule if isinstance(rule, CrossEntropy) else None


def _positions(loss: Loss, targets: Iterable[Tensor], rows: int) -> Tensor | None:
    """How many positions of each row have a label that counts, [rows]; None for a loss without labels."""
    rule = OF_ANY_LAYOUT if loss is cross_entropy else _rule(loss)
    if rule is None:
        return None
    counts, at = torch.empty(rows, dtype=torch.long, device="cpu"), 0
    for part in targets:
        if part.is_floating_point() or part.dim() < 1:
            return None
        here = part[:, 1:] if isinstance(loss, NextToken) and part.dim() > 1 else part
        counts[at : at + len(here)] = rule.counted(here).reshape(len(here), -1).sum(1)
        at += len(here)
    return counts
