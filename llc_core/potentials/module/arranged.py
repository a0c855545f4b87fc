"""Module, loss and data in one form: columns of which the last are targets, and how they become losses. Long, since losses of a
module's own, tokens that are their own targets, and names all meet here.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from llc_core.potentials.module.calling import Calling, OfBatch, OfOutput, first_line, logits_of, loss_of
from llc_core.potentials.module.data.given import TARGETS, Given, as_tensor
from llc_core.potentials.module.data.kept import StoredRows
from llc_core.potentials.module.data.rows import Data, TakenData, TensorData
from llc_core.potentials.module.losses import IGNORED, Loss, NextToken, as_loss, settled
from llc_core.potentials.module.meant import reduced

TOKENS, COUNTS = "input_ids", "attention_mask"
"""Keys of tokens, and of the mask that is 0 where they do not count, as tokenizers name them."""
OWN = ("next_token", "cross_entropy", "mse")
OWN_ERROR = 1e-4
"""A loss that is known here and a module's own may differ by this share, which half precision does not allow: then it is asked."""


@dataclass(frozen=True)
class Arranged:
    """columns: of any rows of the data, the targets last.  names: of the columns, in errors.  calling: what makes losses of them."""

    columns: Callable[[Given], list[Tensor]]
    names: list[str]
    calling: Calling


def arrange(
    module: nn.Module, given: Given, loss: Any, loss_fn: Any, weighted: bool, reduction: str | None = None
) -> Arranged:
    """Columns and calling; ValueError where module, loss and data do not go together.

    given: all rows, or the first few of them.  weighted: whether the losses of rows will be multiplied with weights.
    """
    if loss is not None and loss_fn is not None:
        raise ValueError(
            "Give either loss, of the module's output and a target, or loss_fn, of the module and a batch."
        )
    if loss is None and loss_fn is None:
        loss, loss_fn = own_loss(module, given)
    if loss_fn is not None:
        if not callable(loss_fn):
            raise ValueError(f"loss_fn is a {type(loss_fn).__name__}; pass a function of (model, batch).")
        if reduction is not None:
            raise ValueError(f"reduction is {reduction!r}, but what a loss_fn returns is taken as it is; leave it out.")
        return Arranged(_all, _labels(given), OfBatch(loss_fn, _Form(given.names, given.alone), weighted))
    return _by_output(module, given, reduced(as_loss(loss), reduction), weighted)


def _by_output(module: nn.Module, given: Given, loss: Loss, weighted: bool) -> Arranged:
    tokens = isinstance(loss, NextToken)
    if given.names is None:
        if not given.alone:
            return Arranged(_all, _labels(given), OfOutput(loss, weighted=weighted))
        if not tokens:
            raise ValueError(
                "data is one Tensor a row; pass a tuple (inputs, targets) of tensors, or loss='next_token' for tokens alone."
            )
        return Arranged(_twice, ["data", "data"], OfOutput(loss, weighted=weighted))
    if given.lengths is not None and COUNTS not in given.names and not tokens:
        raise ValueError(
            f"data's rows have {int(given.lengths.min())} to {int(given.lengths.max())} entries; add an {COUNTS} that is 1 where "
            "an entry counts, so that padding does not."
        )
    named = _accepted(module, dict(zip(given.names, given.columns, strict=True)))
    key = next((name for name in TARGETS if name in named), None)
    if key is None and tokens and TOKENS in named:
        target: Callable[[Given], Tensor] = partial(_next_targets, by_mask=COUNTS in named)
        at = TOKENS
    elif key is None:
        raise ValueError(
            f"data has the keys {', '.join(named)}; call its targets 'labels', or pass loss_fn=… for a function of the module "
            "and a batch."
        )
    else:
        target, at = partial(_column, name=key), key
        if not _needs(module, named, key):
            del named[key]
    if not named:
        raise ValueError(f"data has the key {key} alone; add the module's inputs by the names of its arguments.")
    labels = [f"data[{name!r}]" for name in (*named, at)]
    inputs = tuple(named)
    return Arranged(
        lambda rows: [*(_column(rows, name) for name in inputs), target(rows)],
        labels,
        OfOutput(loss, inputs, weighted),
    )


def rows_of(given: Given | StoredRows, arranged: Arranged, shuffle: bool, sample_weights: Any) -> Data:
    """The rows that a network is evaluated on.  sample_weights: [rows], the first column; None: there are none."""
    weights = None if sample_weights is None else weights_of(sample_weights, given.size)
    names = arranged.names if weights is None else ["sample_weights", *arranged.names]
    if not isinstance(given, Given):
        return TakenData(given, arranged.columns, shuffle, names, weights)
    columns = arranged.columns(given)
    return TensorData(columns if weights is None else [weights, *columns], shuffle, names)


def _all(given: Given) -> list[Tensor]:
    return given.columns


def _twice(given: Given) -> list[Tensor]:
    """Tokens alone, which are their own targets."""
    return [given.columns[0], _counted(given.columns[0], given.lengths)]


def _column(given: Given, name: str) -> Tensor:
    assert given.names is not None
    return given.columns[given.names.index(name)]


def _accepted(module: nn.Module, named: dict[str, Tensor]) -> dict[str, Tensor]:
    """What the module takes by name, and the targets; a warning names the rest."""
    takes = inspect.signature(module.forward).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in takes.values()):
        return named
    rest = [name for name in named if name not in takes and name not in TARGETS]
    if rest and len(rest) < len([name for name in named if name not in TARGETS]):
        warnings.warn(f"The module takes no {', '.join(rest)}; left out of data.", stacklevel=5)
        return {name: x for name, x in named.items() if name not in rest}
    return named


def _needs(module: nn.Module, named: dict[str, Tensor], key: str) -> bool:
    """Whether the module can only be called with its targets, as one that makes a decoder's inputs of them."""
    if key not in inspect.signature(module.forward).parameters:
        return False
    some = {name: x[:2] for name, x in named.items()}
    try:
        called(module, {name: x for name, x in some.items() if name != key})
    except Exception:
        try:
            called(module, some)
        except Exception:
            return False  # the trial of the whole says what is wrong
        return True
    return False


def called(module: nn.Module, batch: Mapping[str, Tensor]) -> Any:
    """module(**batch) as it is evaluated later: in eval mode, without gradients, where its numbers are."""
    modes = {part: part.training for part in module.modules()}
    like = next(module.parameters(), None)
    device, dtype = (like.device, like.dtype) if like is not None else (None, None)
    here = {name: x.to(device, dtype if x.is_floating_point() else x.dtype) for name, x in batch.items()}
    try:
        for part in modes:  # and no eval(), which may do more: loralib's adds adapters to the weights
            part.training = False
        with torch.no_grad():
            return module(**here)
    finally:
        for part, mode in modes.items():
            part.training = mode


def own_loss(module: nn.Module, given: Given) -> tuple[Any, Any]:
    """The loss that the module returns for "labels", as (loss, loss_fn): by its name where it is one that is known here.

    A loss by name is taken of all rows at once, as the module's own is; one that is not known is asked row by row.
    ValueError where there are no labels, or the module returns no loss for them.
    """
    named = dict(zip(given.names or (), given.columns, strict=bool(given.names)))
    key = TARGETS[0]
    if key not in named:
        raise ValueError(
            "Give either loss, of the module's output and a target, or loss_fn, of the module and a batch; without both, data "
            "must be a dictionary with the key 'labels', and the module's own loss is taken."
        )
    named = _accepted(module, named)
    some = {name: x[_unlike(named[key])] for name, x in named.items()}
    try:
        output = called(module, some)
    except Exception as error:
        raise ValueError(f"module cannot be called with data: {first_line(error)}") from None
    own, logits = loss_of(output), logits_of(output)
    if not isinstance(own, Tensor) or own.dim() or own is output:
        raise ValueError("module returns no loss of its own for the key 'labels'; pass loss=… or loss_fn=….")
    for name in OWN if isinstance(logits, Tensor) else ():
        target = some[key].to(logits.device)
        try:
            value = settled(as_loss(name), logits, target, [target])(logits, target).mean()
        except (ValueError, RuntimeError, IndexError):
            continue
        if abs(float(value) - float(own)) <= OWN_ERROR * abs(float(own)):
            return name, None
    return None, lambda model, batch: loss_of(model(**batch))


def _unlike(labels: Tensor) -> Tensor:
    """Places of four rows: those with the fewest labels that count, and the most, for which ways to take a mean differ."""
    counts = (labels != IGNORED).flatten(1).sum(1) if labels.dim() > 1 else torch.zeros(len(labels))
    order = counts.argsort(stable=True)
    order = order[counts[order] > 0] if bool((counts > 0).any()) else order
    return torch.cat([order[:2], order[-2:]]).unique()


def _counted(tokens: Tensor, lengths: Tensor | None) -> Tensor:
    """The tokens, IGNORED behind the length that a row had."""
    if lengths is None:
        return tokens
    return torch.where(torch.arange(tokens.shape[1]) < lengths[:, None], tokens, IGNORED)


def _next_targets(given: Given, by_mask: bool) -> Tensor:
    """The tokens, IGNORED where the mask says that they do not count; without one, behind the length that a row had."""
    tokens, mask = _column(given, TOKENS), _column(given, COUNTS) if by_mask else None
    if mask is None or mask.shape != tokens.shape:
        return _counted(tokens, given.lengths)
    return torch.where(mask.bool(), tokens, IGNORED)


def _labels(given: Given) -> list[str]:
    if given.names is not None:
        return [f"data[{name!r}]" for name in given.names]
    return ["data"] if given.alone else [f"data[{index}]" for index in range(len(given.columns))]


@dataclass(frozen=True)
class _Form:
    """From columns to a batch as it was given: a dictionary, a tuple, or one tensor."""

    names: tuple[str, ...] | None
    alone: bool

    def __call__(self, columns: tuple[Tensor, ...]) -> Any:
        if self.names is not None:
            return dict(zip(self.names, columns, strict=True))
        return columns[0] if self.alone else columns


def weights_of(given: Any, rows: int) -> Tensor:
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
