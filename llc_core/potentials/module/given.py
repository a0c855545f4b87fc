"""Data as people have them, read into columns: tensors, data sets, loaders, streams; of pairs, of dictionaries, of tokens alone. Long,
since module, loss and data are then put into one form: columns of which the last are targets, and how they are called.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from llc_core.fields import short, whole
from llc_core.potentials.module.calling import Calling, OfBatch, OfOutput
from llc_core.potentials.module.losses import Loss, NextToken, as_loss

STREAM_ROWS = 10_000
"""Rows that are taken of data without a length where no number is asked for."""


@dataclass(frozen=True)
class Given:
    """columns: tensors whose first dimension counts the rows.  names: theirs, where the data are dictionaries; else None.

    alone: whether a row is one tensor and no pair.
    """

    columns: list[Tensor]
    names: tuple[str, ...] | None = None
    alone: bool = False

    @property
    def as_data(self) -> Any:
        """The same as data that `read` takes."""
        if self.names is not None:
            return dict(zip(self.names, self.columns, strict=True))
        return self.columns[0] if self.alone else tuple(self.columns)


def read(data: Any, rows: int | None = None) -> Given:
    """The columns of any data. rows: of a loader or a stream at most so many are read; None: all, or STREAM_ROWS if it has no end.

    Raises ValueError with one sentence for what cannot be read.
    """
    if rows is not None:
        whole("rows", rows, 1)
    if isinstance(data, Given):
        return data
    if isinstance(data, TensorDataset):
        data = data.tensors
    if _is_array(data):
        return Given([as_tensor(data).detach()], alone=True)
    if isinstance(data, Mapping):
        return _of_mapping(data)
    of_columns = isinstance(data, tuple) or (
        isinstance(data, list) and len(data) > 1
    )  # [tensor] is a data set of one row
    if of_columns and data and all(_is_array(x) for x in data):
        return Given([as_tensor(x).detach() for x in data], alone=len(data) == 1)
    if isinstance(data, DataLoader):
        return _batches(data, _length(data), rows)
    if isinstance(data, IterableDataset):
        return _items(data, None, rows, "the stream's items")
    if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not isinstance(data, str | bytes):
        return _items((data[i] for i in range(len(data))), len(data), rows, "the data set's items")
    if hasattr(data, "__iter__") and not isinstance(data, str | bytes):
        return _batches(data, _length(data), rows)
    raise ValueError(
        f"data is a {type(data).__name__}; pass a tuple (inputs, targets) of tensors, a Dataset or a DataLoader."
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray)


def _length(data: Any) -> int | None:
    try:
        return len(data)
    except TypeError:
        return None


def _of_mapping(data: Mapping[Any, Any]) -> Given:
    if not data:
        raise ValueError("data is an empty dictionary; give tensors by the names of the module's arguments.")
    for name, value in data.items():
        if not _is_array(value):
            raise ValueError(f"data[{short(name)}] is a {type(value).__name__}; give a tensor, or leave it out.")
    return Given([as_tensor(x).detach() for x in data.values()], tuple(map(str, data)))


def _items(rows: Iterable[Any], length: int | None, most: int | None, what: str) -> Given:
    """Single rows, stacked."""
    bound = most if most is not None or length is not None else STREAM_ROWS
    taken = list(islice(rows, None if bound is None else bound + 1))
    given = _columns(taken[:bound], torch.stack, what)
    if most is None and length is None and len(taken) > STREAM_ROWS:
        _say_taken(STREAM_ROWS)
    return given


def _batches(loader: Iterable[Any], length: int | None, most: int | None) -> Given:
    """Batches, joined."""
    bound = most if most is not None or length is not None else STREAM_ROWS
    taken: list[Any] = []
    count = 0
    for batch in loader:
        taken.append(batch)
        count += _rows(batch)
        if bound is not None and count > bound:
            break
    given = _columns(taken, torch.cat, "the loader's batches")
    if bound is None or count <= bound:
        return given
    if most is None:
        _say_taken(STREAM_ROWS)
    return Given([x[:bound] for x in given.columns], given.names, given.alone)


def _rows(batch: Any) -> int:
    """Rows of a batch; 1 where it does not say, which `_columns` then refuses."""
    first: Any = next(iter(batch.values()), None) if isinstance(batch, Mapping) else batch
    if isinstance(first, tuple | list) and first:
        first = first[0]
    return len(first) if _is_array(first) and first.ndim else 1


def _say_taken(count: int) -> None:
    warnings.warn(
        f"data has no length, so its first {count:,} rows are taken and n is {count:,}; pass rows=… for another number.",
        stacklevel=6,
    )


def _columns(rows: list[Any], how: Callable[[list[Tensor]], Tensor], what: str) -> Given:
    if not rows:
        raise ValueError("data is empty; give at least one row.")
    first = rows[0]
    if isinstance(first, Mapping):
        names = tuple(map(str, first))
        if not all(isinstance(row, Mapping) and tuple(map(str, row)) == names for row in rows):
            raise ValueError(f"data: {what} have different keys; give all of them {', '.join(names)}.")
        return Given(_joined(([row[name] for row in rows] for name in first), how, what), names)
    if isinstance(first, tuple | list):
        if not all(isinstance(row, tuple | list) and len(row) == len(first) for row in rows) or not first:
            raise ValueError(f"data: {what} are not all pairs of tensors or numbers; make them so.")
        return Given(_joined(map(list, zip(*rows, strict=True)), how, what), alone=len(first) == 1)
    if _is_array(first):
        return Given(_joined([rows], how, what), alone=True)
    raise ValueError(
        f"data: {what} are of type {type(first).__name__}; each must be a pair (input, target), a dictionary or a tensor."
    )


def _joined(columns: Iterable[list[Any]], how: Callable[[list[Tensor]], Tensor], what: str) -> list[Tensor]:
    def whole_columns() -> Iterator[Tensor]:
        for column in columns:
            try:
                parts = [as_tensor(value) for value in column]
            except (TypeError, ValueError, RuntimeError):
                raise ValueError(f"data: {what} are not all made of tensors or numbers; make them so.") from None
            try:
                yield how(parts)
            except RuntimeError:
                raise ValueError("data has items of different shapes; give all of them the same shapes.") from None

    return list(whole_columns())


def as_tensor(value: Any) -> Tensor:
    """Tensors and arrays keep their precision; plain numbers get single precision, whatever torch's default is."""
    if isinstance(value, Tensor):
        return value.clone() if value.is_inference() else value  # a loop by autograd could keep nothing of it
    array = np.asarray(value)
    if array.dtype == np.float64 and not isinstance(value, np.ndarray | np.generic):
        array = array.astype(np.float32)
    return torch.as_tensor(array, device="cpu")


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
