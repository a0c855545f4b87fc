"""What was given as module, loss and data, put into one form: columns of which the last are targets, and how they are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llc_core.potentials.module.calling import Calling, OfBatch, OfOutput
from llc_core.potentials.module.given import Given, as_tensor
from llc_core.potentials.module.losses import Loss, as_loss
from llc_core.potentials.module.next_token import NextToken

TARGETS = ("labels", "label", "targets", "target", "y")
"""Keys of a dictionary that name the targets; the first of them that is there does."""
TOKENS, COUNTS = "input_ids", "attention_mask"
"""Keys of tokens, and of the mask that is 0 where they do not count, as tokenizers name them."""
IGNORED = -100


@dataclass(frozen=True)
class Arranged:
    """columns: of the rows, the targets last.  names: of the columns, in errors.  calling: what makes losses of them."""

    columns: list[Tensor]
    names: list[str]
    calling: Calling

    @property
    def inputs(self) -> int:
        """How many columns are not the last."""
        return len(self.columns) - 1


def arrange(given: Given, loss: Any, loss_fn: Any, sample_weights: Any) -> Arranged:
    """Columns and calling; ValueError where loss and data do not go together."""
    if (loss is None) == (loss_fn is None):
        raise ValueError(
            "Give either loss, of the module's output and a target, or loss_fn, of the module and a batch."
        )
    if loss_fn is not None:
        if not callable(loss_fn):
            raise ValueError(f"loss_fn is a {type(loss_fn).__name__}; pass a function of (model, batch).")
        columns, labels = given.columns, _labels(given)
        calling: Any = OfBatch(loss_fn, _Form(given), sample_weights is not None)
    else:
        columns, labels, calling = _by_output(given, as_loss(loss), sample_weights is not None)
    if sample_weights is not None:
        columns = [_weights(sample_weights, len(columns[0])), *columns]
        labels = ["sample_weights", *labels]
    return Arranged(list(columns), labels, calling)


def _by_output(given: Given, loss: Loss, weighted: bool) -> tuple[list[Tensor], list[str], Calling]:
    tokens = isinstance(loss, NextToken)
    if given.names is None:
        if not given.alone:
            return given.columns, _labels(given), OfOutput(loss, weighted=weighted)
        if not tokens:
            raise ValueError(
                "data is one Tensor a row; pass a tuple (inputs, targets) of tensors, or loss='next_token' for tokens alone."
            )
        only = given.columns[0]
        return [only, only], ["data", "data"], OfOutput(loss, weighted=weighted)
    named = dict(zip(given.names, given.columns, strict=True))
    key = next((name for name in TARGETS if name in named), None)
    if key is None and tokens and TOKENS in named:
        target, at = _next_targets(named), TOKENS
    elif key is None:
        raise ValueError(
            f"data has the keys {', '.join(named)}; call its targets 'labels', or pass loss_fn=… for a function of the module "
            "and a batch."
        )
    else:
        target, at = named.pop(key), key
    if not named:
        raise ValueError(f"data has the key {key} alone; add the module's inputs by the names of its arguments.")
    labels = [f"data[{name!r}]" for name in (*named, at)]
    return [*named.values(), target], labels, OfOutput(loss, tuple(named), weighted)


def _next_targets(named: dict[str, Tensor]) -> Tensor:
    """The tokens, IGNORED where the mask says that they do not count."""
    tokens, mask = named[TOKENS], named.get(COUNTS)
    if mask is None or mask.shape != tokens.shape:
        return tokens
    return torch.where(mask.bool(), tokens, IGNORED)


def _labels(given: Given) -> list[str]:
    if given.names is not None:
        return [f"data[{name!r}]" for name in given.names]
    return ["data"] if given.alone else [f"data[{index}]" for index in range(len(given.columns))]


@dataclass(frozen=True)
class _Form:
    """From columns to a batch as it was given: a dictionary, a tuple, or one tensor."""

    given: Given

    def __call__(self, columns: tuple[Tensor, ...]) -> Any:
        if self.given.names is not None:
            return dict(zip(self.given.names, columns, strict=True))
        return columns[0] if self.given.alone else columns


def _weights(given: Any, rows: int) -> Tensor:
    """[rows] with mean 1, so that L_n = Σ w·loss / Σ w."""
    try:
        weights = as_tensor(given).detach().double().cpu()
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"sample_weights is a {type(given).__name__}; give one number for each row.") from None
    if weights.shape != (rows,):
        raise ValueError(
            f"sample_weights has shape {tuple(weights.shape)}, but data has {rows} rows; give one number each."
        )
    if not bool((weights >= 0).all()) or not bool(torch.isfinite(weights).all()) or not bool(weights.any()):
        raise ValueError("sample_weights must be finite numbers of at least 0, and not all of them 0.")
    return (weights / weights.mean()).float()
