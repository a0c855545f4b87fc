"""Data as people have them, read into columns: tensors, data sets, loaders, streams; of pairs, of dictionaries, of tokens alone."""

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
