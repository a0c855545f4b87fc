"""Data as people have them, read into columns: tensors, data sets, loaders, streams; of pairs, of dictionaries, of tokens alone,
padded each to its own longest. Long, since every form of data comes in here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from llc_core.fields import short, whole
from llc_core.potentials.module.data.forms import TARGETS, are_tokens, as_tensor, flat, is_array, is_row, say_batches
from llc_core.potentials.module.losses import IGNORED

How = Callable[[list[Tensor]], Tensor]
"""torch.stack for rows, torch.cat for batches."""
STREAM_ROWS = 10_000
"""Rows that are taken of data without a length where no number is asked for."""
OTHER_SHAPES = (
    "data has items of different shapes; give all of them the same shapes. Sequences may differ in length: as tokens alone, or as "
    "dictionaries with an attention_mask."
)
PART_ROWS = 64
"""Single rows that are put together before the next are asked for."""


@dataclass(frozen=True)
class Given:
    """columns: tensors whose first dimension counts the rows.  names: theirs, where the data are dictionaries; else None.

    alone: whether a row is one tensor and no pair.  lengths: entries of each row before it was padded; None where none was.
    padded: the column whose lengths they are.  left_out: names of what holds no tensors, and why.
    """

    columns: list[Tensor]
    names: tuple[str, ...] | None = None
    alone: bool = False
    lengths: Tensor | None = None
    padded: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.columns[0])

    @property
    def bytes(self) -> int:
        return sum(x.nbytes for x in self.columns)

    @property
    def fills(self) -> list[float | None]:
        """What each column is padded with; None for one whose rows must have one shape."""
        if self.names is None:
            return [None if not self.alone or x.is_floating_point() else 0 for x in self.columns]
        pairs = zip(self.names, self.columns, strict=True)
        return [(None if x.is_floating_point() else IGNORED) if name in TARGETS else 0 for name, x in pairs]


def read(data: Any, rows: int | None = None) -> Given:
    """The columns of any data. rows: of a loader or a stream at most so many are read; None: all, or STREAM_ROWS if it has no end.

    Raises ValueError with one sentence for what cannot be read.
    """
    found = at_hand(data, rows)
    return joined(list(parts(data, rows))) if found is None else found


def at_hand(data: Any, rows: int | None = None) -> Given | None:
    """The columns of data that are tensors already, which are not copied; None for data whose rows have to be asked for."""
    if rows is not None:
        whole("rows", rows, 1)
    if isinstance(data, Given):
        return data
    if isinstance(data, TensorDataset):
        data = data.tensors
    if isinstance(data, tuple):
        data = flat(data)
    if is_array(data):
        return Given([as_tensor(data).detach()], alone=True)
    if isinstance(data, Mapping):
        found = _of_mapping(data)
        _say_left_out(found)
        return found
    of_columns = isinstance(data, tuple) or (
        isinstance(data, list) and len(data) > 1
    )  # [tensor] is a data set of one row
    if of_columns and data and not are_tokens(data) and all(is_array(x) for x in data):
        return Given([as_tensor(x).detach() for x in data], alone=len(data) == 1)
    return None


def parts(data: Any, rows: int | None = None) -> Iterator[Given]:
    """The same for data that are not at hand, a few rows at a time: what was given out before is not kept."""
    said = False
    for part in _parts(data, rows):
        if not said:
            _say_left_out(part)
        said = True
        yield part
    if not said:
        raise ValueError("data is empty; give at least one row.")


def _parts(data: Any, rows: int | None) -> Iterator[Given]:
    if isinstance(data, DataLoader):
        if data.batch_size is None and data.batch_sampler is None:
            return _as_they_come(data, rows)
        return _batches(data, length_of(data), rows)
    if isinstance(data, IterableDataset):
        return _items(data, None, rows)
    if by_place(data):
        say_batches(data)
        return _items((data[i] for i in range(len(data))), len(data), rows)
    if hasattr(data, "__iter__") and not isinstance(data, str | bytes):
        return _batches(data, length_of(data), rows)
    raise ValueError(
        f"data is a {type(data).__name__}; pass a tuple (inputs, targets) of tensors, a Dataset or a DataLoader."
    )


def by_place(data: Any) -> bool:
    """Whether any row can be asked for by its number."""
    known = hasattr(data, "__getitem__") and length_of(data) is not None
    return known and not isinstance(data, str | bytes | IterableDataset)


def length_of(data: Any) -> int | None:
    try:
        return len(data)
    except TypeError:
        return None


def _of_mapping(data: Mapping[Any, Any]) -> Given:
    if not data:
        raise ValueError("data is an empty dictionary; give tensors by the names of the module's arguments.")
    columns = {
        str(name): [value] if is_array(value) else list(value) if isinstance(value, tuple | list) else None
        for name, value in data.items()
    }
    for name, value in data.items():
        if columns[str(name)] is None:
            raise ValueError(f"data[{short(name)}] is a {type(value).__name__}; give a tensor, or leave it out.")
    taken = {name: column for name, column in columns.items() if column is not None}
    hows = {str(name): torch.cat if is_array(value) else torch.stack for name, value in data.items()}
    return _named(taken, hows, "the dictionary's entries")


def _items(rows: Iterable[Any], length: int | None, most: int | None) -> Iterator[Given]:
    """Single rows, a few of them stacked."""
    bound = most if most is not None or length is not None else STREAM_ROWS
    found, count = iter(rows), 0
    while taken := list(islice(found, PART_ROWS if bound is None else min(PART_ROWS, bound - count))):
        count += len(taken)
        yield of_rows(taken)
    if most is None and length is None and any(True for _ in found):
        _say_taken(STREAM_ROWS)


def _as_they_come(loader: Any, most: int | None) -> Iterator[Given]:
    """Items of a loader that makes no batches: rows, or batches that the data set has made."""
    found = iter(loader)
    first = list(islice(found, 1))
    read = _items if first and is_row(first[0]) else _batches
    return read(chain(first, found), length_of(loader), most)


def _batches(loader: Iterable[Any], length: int | None, most: int | None) -> Iterator[Given]:
    """Batch after batch."""
    bound = most if most is not None or length is not None else STREAM_ROWS
    count = 0
    for batch in loader:
        if count == bound:
            count += 1
            break
        part = of_batch(batch)
        count += part.size
        yield part if bound is None or count <= bound else first_of(part, part.size - (count - bound))
        if bound is not None and count > bound:
            break
    if bound is not None and count > bound and most is None:
        _say_taken(STREAM_ROWS)


def of_rows(rows: list[Any]) -> Given:
    return _columns(rows, torch.stack, "the data set's items")


def of_batch(batch: Any) -> Given:
    return _columns([batch], torch.cat, "the loader's batches")


def first_of(given: Given, count: int) -> Given:
    lengths = None if given.lengths is None else given.lengths[:count]
    return replace(given, columns=[x[:count] for x in given.columns], lengths=lengths)


def joined(found: Sequence[Given]) -> Given:
    """All parts as one, each padded to the longest of all; ValueError where they do not go together."""
    first = found[0]
    for part in found[1:]:
        check_alike(first, part)
    shapes = widest(found)
    return replace(
        first,
        columns=[torch.cat([fitted(part.columns[k], shape, fill) for part in found])
                 for k, (shape, fill) in enumerate(zip(shapes, first.fills, strict=True))],
        lengths=None if (at := ragged(found)) is None else torch.cat([lengths_in(part, at) for part in found]),
        padded=at or 0,
    )  # fmt: skip


def check_alike(first: Given, part: Given) -> None:
    """ValueError where rows are not of one form."""
    if part.names != first.names:
        raise ValueError(f"data: rows have different keys; give all of them {', '.join(first.names or ())}.")
    if len(part.columns) != len(first.columns) or part.alone != first.alone:
        raise ValueError("data: rows are not all pairs of tensors or numbers; make them so.")


def widest(found: Iterable[Given]) -> list[tuple[int, ...]]:
    """The shape of each column's rows into which those of all parts fit; ValueError where there is none."""
    most: list[tuple[int, ...]] | None = None
    for part in found:
        here = [tuple(x.shape[1:]) for x in part.columns]
        if most is None or here == most:
            most = here
            continue
        for k, (shape, old, fill) in enumerate(zip(here, most, part.fills, strict=True)):
            if shape != old and (fill is None or len(shape) != len(old)):
                raise ValueError(OTHER_SHAPES)
            most[k] = tuple(map(max, shape, old))
    return most or []


def fitted(x: Tensor, shape: Sequence[int], fill: float | None) -> Tensor:
    """Rows x [b, …] padded with `fill` to [b, *shape]."""
    if tuple(x.shape[1:]) == tuple(shape):
        return x
    if fill is None or x.dim() != len(shape) + 1:
        raise ValueError(OTHER_SHAPES)
    if fill < 0 and not x.is_signed():
        x = x.long()  # unsigned numbers cannot hold IGNORED
    sizes = list(zip(x.shape[1:], shape, strict=True))
    return F.pad(x, [side for size, most in reversed(sizes) for side in (0, most - size)], value=fill)


def all_fitted(
    columns: Sequence[Tensor], shapes: Sequence[Sequence[int]], fills: Sequence[float | None]
) -> list[Tensor]:
    return [fitted(x, shape, fill) for x, shape, fill in zip(columns, shapes, fills, strict=True)]


def ragged(found: Iterable[Given]) -> int | None:
    """The first column that is padded in some part, or is longer in one than in another; None where rows have one shape."""
    at: list[int] = []
    before: list[int] | None = None
    for part in found:
        here = [x.shape[1] if x.dim() > 1 else 0 for x in part.columns]
        at += [part.padded] if part.lengths is not None else []
        at += [k for k, (a, b) in enumerate(zip(here, before or here, strict=True)) if a != b][:1]
        before = here
    return min(at, default=None)


def lengths_in(part: Given, at: int) -> Tensor:
    """How many entries each row has, [b], in a column that is padded in this part or in another."""
    if part.lengths is not None and part.padded == at:
        return part.lengths
    return torch.full((part.size,), part.columns[at].shape[1])


def _say_taken(count: int) -> None:
    warnings.warn(
        f"data has no length, so its first {count:,} rows are taken and n is {count:,}; pass rows=… for another number.",
        stacklevel=6,
    )


def _say_left_out(part: Given) -> None:
    if part.left_out:
        warnings.warn(f"data's {', '.join(part.left_out)} are left out.", stacklevel=6)


def _columns(rows: list[Any], how: How, what: str) -> Given:
    rows = [flat(row) for row in rows]
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
    if is_array(first):
        return _of_tokens(_tensors(rows, what), how)
    raise ValueError(
        f"data: {what} are of type {type(first).__name__}; each must be a pair (input, target), a dictionary or a tensor."
    )


def _of_tokens(parts: list[Tensor], how: How) -> Given:
    """Rows of one tensor each; whole numbers may be sequences of any length, as tokens are."""
    tokens = [
        x if x.is_signed() or x.dim() != (2 if how is torch.cat else 1) else x.long() for x in parts
    ]  # these can hold IGNORED
    column, lengths = _joined(tokens, how, None if parts[0].is_floating_point() else 0)
    return Given([column], alone=True, lengths=lengths)


def _named(columns: Mapping[str, list[Any]], hows: Mapping[str, How], what: str) -> Given:
    """Columns by their names, padded where rows differ in length; what holds no numbers is left out."""
    found: dict[str, Tensor] = {}
    lengths, padded, left_out = None, 0, []
    for name, column in columns.items():
        try:
            parts = _tensors(column, what)
        except ValueError:
            if name in TARGETS:
                raise
            within = isinstance(column[0], Mapping)
            left_out.append(
                f"{name} (dictionaries, whose entries must stand beside the others)"
                if within
                else f"{name} (no tensors or numbers)"
            )
            continue
        fill = IGNORED if name in TARGETS else 0
        found[name], each = _joined(
            parts, hows[name], None if name in TARGETS and parts[0].is_floating_point() else fill
        )
        if lengths is None and each is not None:
            lengths, padded = each, len(found) - 1
    if not found:
        raise ValueError(f"data: {what} are not all made of tensors or numbers; make them so.")
    return Given(list(found.values()), tuple(found), lengths=lengths, padded=padded, left_out=tuple(left_out))


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
    each = [fitted(x if rows else x[None], longest, fill) for x in parts]
    lengths = [torch.full((len(x) if rows else 1,), x.shape[rows:][0]) for x in parts]
    return torch.cat(each), torch.cat(lengths)
