"""Data as people have them, read into columns: tensors, data sets, loaders, streams; of pairs, of dictionaries, of tokens alone,
padded each to its own longest. Long, since every form of data comes in here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from llc_core.fields import short, whole
from llc_core.potentials.module.losses import IGNORED

TARGETS = ("labels", "label", "targets", "target", "y")
"""Keys of a dictionary that name the targets; the first of them that is there does."""
How = Callable[[list[Tensor]], Tensor]
"""torch.stack for rows, torch.cat for batches."""
STREAM_ROWS = 10_000
"""Rows that are taken of data without a length where no number is asked for."""


@dataclass(frozen=True)
class Given:
    """columns: tensors whose first dimension counts the rows.  names: theirs, where the data are dictionaries; else None.

    alone: whether a row is one tensor and no pair.  lengths: entries of each row before it was padded; None where none was.
    """

    columns: list[Tensor]
    names: tuple[str, ...] | None = None
    alone: bool = False
    lengths: Tensor | None = None

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
    if isinstance(data, tuple):
        data = _flat(data)
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


def _flat(row: Any) -> Any:
    """A row without nesting: ((a, b), y) is (a, b, y), and ({…}, y) a dictionary with "labels"."""
    if not isinstance(row, tuple | list) or len(row) != 2:
        return row
    inputs, target = row
    if isinstance(inputs, Mapping) and not isinstance(target, Mapping) and TARGETS[0] not in inputs:
        return {**inputs, TARGETS[0]: target}
    if isinstance(inputs, tuple | list) and inputs and all(_is_array(x) for x in inputs):
        return (*inputs, target)
    return row


def _of_mapping(data: Mapping[Any, Any]) -> Given:
    if not data:
        raise ValueError("data is an empty dictionary; give tensors by the names of the module's arguments.")
    columns = {
        str(name): [value] if _is_array(value) else list(value) if isinstance(value, tuple | list) else None
        for name, value in data.items()
    }
    for name, value in data.items():
        if columns[str(name)] is None:
            raise ValueError(f"data[{short(name)}] is a {type(value).__name__}; give a tensor, or leave it out.")
    taken = {name: column for name, column in columns.items() if column is not None}
    hows = {str(name): torch.cat if _is_array(value) else torch.stack for name, value in data.items()}
    return _named(taken, hows, "the dictionary's entries")


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
    lengths = None if given.lengths is None else given.lengths[:bound]
    return Given([x[:bound] for x in given.columns], given.names, given.alone, lengths)


def _rows(batch: Any) -> int:
    """Rows of a batch; 1 where it does not say, which `_columns` then refuses."""
    batch = _flat(batch)
    first: Any = next(filter(_is_array, batch.values()), None) if isinstance(batch, Mapping) else batch
    if isinstance(first, tuple | list) and first:
        first = first[0]
    return len(first) if _is_array(first) and first.ndim else 1


def _say_taken(count: int) -> None:
    warnings.warn(
        f"data has no length, so its first {count:,} rows are taken and n is {count:,}; pass rows=… for another number.",
        stacklevel=6,
    )


def _columns(rows: list[Any], how: How, what: str) -> Given:
    if not rows:
        raise ValueError("data is empty; give at least one row.")
    rows = [_flat(row) for row in rows]
    first = rows[0]
    if isinstance(first, Mapping):
        names = tuple(map(str, first))
        if not all(isinstance(row, Mapping) and tuple(map(str, row)) == names for row in rows):
            raise ValueError(f"data: {what} have different keys; give all of them {', '.join(names)}.")
        columns = {str(name): [row[name] for row in rows] for name in first}
        return _named(columns, dict.fromkeys(columns, how), what)
    if isinstance(first, tuple | list):
        if not all(isinstance(row, tuple | list) and len(row) == len(first) for row in rows) or not first:
            raise ValueError(f"data: {what} are not all pairs of tensors or numbers; make them so.")
        columns_of = [_tensors(list(column), what) for column in zip(*rows, strict=True)]
        if len(first) == 1:
            return _of_tokens(columns_of[0], how)
        return Given([_joined(column, how)[0] for column in columns_of])
    if _is_array(first):
        return _of_tokens(_tensors(rows, what), how)
    raise ValueError(
        f"data: {what} are of type {type(first).__name__}; each must be a pair (input, target), a dictionary or a tensor."
    )


def _of_tokens(parts: list[Tensor], how: How) -> Given:
    """Rows of one tensor each; whole numbers may be sequences of any length, as tokens are."""
    column, lengths = _joined(parts, how, None if parts[0].is_floating_point() else 0)
    return Given([column], alone=True, lengths=lengths)


def _named(columns: Mapping[str, list[Any]], hows: Mapping[str, How], what: str) -> Given:
    """Columns by their names, padded where rows differ in length; what holds no numbers is left out."""
    found: dict[str, Tensor] = {}
    lengths, left_out = None, []
    for name, column in columns.items():
        try:
            parts = _tensors(column, what)
        except ValueError:
            if name in TARGETS:
                raise
            left_out.append(name)
            continue
        fill = IGNORED if name in TARGETS else 0
        found[name], each = _joined(
            parts, hows[name], None if name in TARGETS and parts[0].is_floating_point() else fill
        )
        lengths = each if lengths is None else lengths
    if not found:
        raise ValueError(f"data: {what} are not all made of tensors or numbers; make them so.")
    if left_out:
        warnings.warn(f"data's {', '.join(left_out)} hold no numbers, and are left out.", stacklevel=6)
    return Given(list(found.values()), tuple(found), lengths=lengths)


def _tensors(column: list[Any], what: str) -> list[Tensor]:
    try:
        return [as_tensor(value).detach() for value in column]
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"data: {what} are not all made of tensors or numbers; make them so.") from None


def _joined(parts: list[Tensor], how: How, fill: float | None = None) -> tuple[Tensor, Tensor | None]:
    """One tensor of all rows, shorter ones padded with `fill`, and the lengths that rows had; None where they are the same.

    ValueError for rows of different shapes, where there is no `fill`, or where some have more dimensions.
    """
    rows = how is torch.cat
    shapes = {tuple(x.shape[rows:]) for x in parts}
    if len(shapes) == 1:
        return how(parts), None
    longest = [max(sizes) for sizes in zip(*shapes, strict=False)]
    if fill is None or {len(shape) for shape in shapes} != {len(longest)}:
        raise ValueError(
            "data has items of different shapes; give all of them the same shapes. Sequences may differ in length: as tokens "
            "alone, or as dictionaries with an attention_mask."
        )
    padded = [
        F.pad(x, [side for size, most in reversed(list(zip(x.shape[rows:], longest, strict=True))) for side in (0, most - size)],
              value=fill)
        for x in parts
    ]  # fmt: skip
    lengths = [torch.full((len(x) if rows else 1,), x.shape[rows:][0]) for x in parts]
    return how(padded), torch.cat(lengths)


def as_tensor(value: Any) -> Tensor:
    """Tensors and arrays keep their precision; plain numbers get single precision, whatever torch's default is."""
    if isinstance(value, Tensor):
        return value.clone() if value.is_inference() else value  # a loop by autograd could keep nothing of it
    array = np.asarray(value)
    if array.dtype == np.float64 and not isinstance(value, np.ndarray | np.generic):
        array = array.astype(np.float32)
    return torch.as_tensor(array, device="cpu")
