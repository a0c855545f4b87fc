"""Rows that are too many for the memory: they stay where they are, or lie in a temporary file. Long, since each way says what it
holds and when it is taken.

A data set that gives any row by its number is asked again for each minibatch. It must give the same row each time. What gives its rows
once, in an order of its own, or at random, is written to a file without a name while it is read, which the system deletes with the
process. `compute.memory.LARGEST_SHARE` says what fits.
"""

from __future__ import annotations

import errno
import math
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler

from llc_core.compute.memory import may_take
from llc_core.potentials.module.data.given import (
    Given,
    all_fitted,
    at_hand,
    by_place,
    check_alike,
    first_of,
    joined,
    lengths_in,
    of_batch,
    of_rows,
    parts,
    ragged,
    widest,
)

TRIED = 2
"""Rows that are asked for a second time, to see whether a data set gives the same."""


class StoredRows(Protocol):
    """Rows that are not all in memory.  size: how many."""

    size: int

    def take(self, places: Tensor) -> Given:
        """The rows at `places` [k], of one shape throughout the data: shorter ones are padded."""
        ...


def taken_in(data: Any, rows: int | None = None, memory: int | None = None) -> Given | StoredRows:
    """Any data: all its columns, or a way to its rows where they take more than `memory` bytes.

    rows: as for `given.read`.  memory: None: a share of what is free.
    Raises ValueError with one sentence for what cannot be read.
    """
    if isinstance(data, Held | Fetched | Spooled):
        return data
    most = may_take(memory)
    found = at_hand(data, rows)
    if found is not None:
        uneven = len({x.shape[:1] for x in found.columns}) > 1 or found.columns[0].dim() == 0
        return (
            found if found.bytes <= most or uneven else Held(found)
        )  # uneven ones are refused where columns are named
    coming, first = parts(data, rows), []
    size = 0
    for part in coming:
        first.append(part)
        size += part.bytes
        if size > most:
            break
    else:
        return joined(first)
    if (fetched := _fetched(data, rows, first[0])) is not None:
        return fetched
    return Spooled(chain(first, coming))


class Held:
    """Tensors that the user holds, as memory maps or in memory: they are not copied."""

    def __init__(self, given: Given):
        self.given, self.size = given, given.size

    def take(self, places: Tensor) -> Given:
        here = self.given
        lengths = None if here.lengths is None else here.lengths[places]
        return replace(here, columns=[x[places.to(x.device)] for x in here.columns], lengths=lengths)


class Fetched:
    """Rows that a data set gives by their number, one call at a time, since few data sets may be asked by several threads.

    loader: whose way of putting rows together is used; None: they are stacked.
    """

    def __init__(self, data: Any, size: int, loader: Any = None):
        self.data, self.size, self.loader = data, size, loader
        self._asked = threading.Lock()
        self._shapes: list[tuple[int, ...]] = []
        self._ragged: int | None = None

    def rows(self, places: Sequence[int]) -> Given:
        """As they come: padded to the longest of them."""
        with self._asked:
            many = getattr(self.data, "__getitems__", None)
            found = list(many(list(places)) if callable(many) else (self.data[i] for i in places))
            return of_rows(found) if self.loader is None else of_batch(self.loader.collate_fn(found))

    def look_through(self, first: Given, at_once: int) -> None:
        """Every row once where rows may be longer than the first ones: of those that may not, each is checked when it is taken."""
        some = range(0, self.size, at_once) if any(fill is not None for fill in first.fills) else ()
        shapes = [_shapes_of(first)]
        shapes += [_shapes_of(self.rows(range(a, min(a + at_once, self.size)))) for a in some]
        self._shapes, self._ragged = widest(shapes), ragged(shapes)

    def take(self, places: Tensor) -> Given:
        found = self.rows(places.tolist())
        columns = all_fitted(found.columns, self._shapes, found.fills)
        lengths = None if self._ragged is None else lengths_in(found, self._ragged)
        return replace(found, columns=columns, lengths=lengths, padded=self._ragged or 0)


def _shapes_of(part: Given) -> Given:
    """The same without its numbers."""
    return replace(part, columns=[_empty(x.shape, x.dtype) for x in part.columns])


@lru_cache(maxsize=1024)
def _empty(shape: torch.Size, dtype: torch.dtype) -> Tensor:
    """The same tensor for the same shape: thousands of small ones, made between large ones, would break up the free memory."""
    return torch.empty(shape, dtype=dtype, device="meta")


def _fetched(data: Any, rows: int | None, first: Given) -> Fetched | None:
    """None where rows cannot be asked for by number, or are other ones the second time."""
    loader = data if isinstance(data, DataLoader) else None
    source: Any = data if loader is None else loader.dataset
    if not by_place(source) or (loader is not None and not _plain(loader)):
        return None
    found = Fetched(source, len(source) if rows is None else min(rows, len(source)), loader)
    tried = range(min(TRIED, found.size))
    one, other = found.rows(tried), found.rows(tried)
    if not all(map(torch.equal, one.columns, other.columns)):
        return None
    found.look_through(first, first.size)
    return found


def _plain(loader: DataLoader[Any]) -> bool:
    """Whether a loader gives each row once, whatever the order."""
    sampler = loader.sampler
    once = type(sampler) is SequentialSampler
    if type(sampler) is RandomSampler:
        once = not sampler.replacement and sampler.num_samples == len(sampler.data_source)
    return once and type(loader.batch_sampler) is BatchSampler and not loader.drop_last


class Spooled:
    """Rows in a file, in the order in which they came: of each row its columns, one after another.

    Rows are read and not mapped: of a map whole pieces of the file count as this process's memory.
    ValueError where they do not go together, or where the folder for temporary files has no room.
    """

    def __init__(self, coming: Iterator[Given]):
        self._file = _temporary()
        seen: list[Given] = []
        for part in coming:
            if not seen:
                self._first = first_of(part, 0)
            check_alike(self._first, part)
            for x, first in zip(part.columns, self._first.columns, strict=True):
                if x.dtype != first.dtype:
                    raise ValueError(
                        f"data has rows of {first.dtype} and of {x.dtype}; give all of them the same precision."
                    )
            _write(self._file, part.columns)
            seen.append(_shapes_of(part))
        self.size = sum(part.size for part in seen)
        self._shapes, at = widest(seen), ragged(seen)
        self._lengths = None if at is None else torch.cat([lengths_in(part, at) for part in seen])
        self._first = replace(self._first, padded=at or 0)
        if at is not None:
            self._pad(seen)
        self._sizes = _sizes(self._first.columns, self._shapes)
        self._reading = threading.Lock()

    def _pad(self, seen: list[Given]) -> None:
        """Rows of other shapes are made as long as the longest, part by part, in a second file."""
        longer = _temporary()
        self._file.seek(0)
        for part in seen:
            shapes = [tuple(x.shape[1:]) for x in part.columns]
            found = bytearray(part.size * sum(_sizes(part.columns, shapes)))
            self._read(found)
            columns = _columns_in(found, part.columns, shapes)
            _write(longer, all_fitted(columns, self._shapes, part.fills))
        self._file.close()
        self._file = longer

    def _read(self, into: Any) -> None:
        """As many bytes from here on as there is room for."""
        done = 0
        while done < len(into):
            done += self._file.readinto(memoryview(into)[done:])

    def take(self, places: Tensor) -> Given:
        row = sum(self._sizes)
        found = bytearray(len(places) * row)
        view = memoryview(found)
        with self._reading:
            for k, place in enumerate(places.tolist()):
                self._file.seek(place * row)
                self._read(view[k * row : (k + 1) * row])
        columns = _columns_in(found, self._first.columns, self._shapes)
        return replace(self._first, columns=columns, lengths=None if self._lengths is None else self._lengths[places])


def _sizes(columns: Sequence[Tensor], shapes: Sequence[tuple[int, ...]]) -> list[int]:
    """Bytes of each column of a row."""
    return [math.prod(shape) * x.dtype.itemsize for x, shape in zip(columns, shapes, strict=True)]


def _columns_in(found: bytearray, columns: Sequence[Tensor], shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """The columns of rows that lie one after another."""
    sizes = _sizes(columns, shapes)
    rows = torch.frombuffer(found, dtype=torch.uint8).view(-1, sum(sizes))
    parts = zip(rows.split(sizes, 1), columns, shapes, strict=True)
    return [part.contiguous().view(x.dtype).view(len(rows), *shape) for part, x, shape in parts]


def _temporary() -> Any:
    """A file without a name and without a buffer."""
    try:
        return tempfile.TemporaryFile(prefix="llc-lab-rows-", buffering=0)
    except OSError as error:
        raise ValueError(
            f"TMPDIR is a folder where no file can be made ({error.strerror}); name another one."
        ) from None


def _write(file: Any, columns: Sequence[Tensor]) -> None:
    """Rows behind those that are there."""
    each = [x.detach().cpu().reshape(len(x), -1).contiguous().view(torch.uint8) for x in columns]
    bare: Any = torch.cat(each, dim=1).numpy()
    rows = memoryview(bare).cast("B")
    done = 0
    try:
        while done < len(rows):
            done += file.write(rows[done:])
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ValueError(
            f"data has more rows than {tempfile.gettempdir()} has room for; name a larger folder in TMPDIR, or read fewer rows "
            "by rows=…."
        ) from None
