"""The rows a network is evaluated on: tensors in memory, one copy per device and precision, or rows that are taken when they are needed.
Long, since it holds both, which a network cannot tell apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.potentials.module.data.given import Given
from llc_core.potentials.module.data.kept import StoredRows


@dataclass
class Rows:
    """Some rows for each chain, or for all of them together (then each sequence has length 1).

    inputs: what the module is called with, each a list or a tensor over the chains of [B, …].  targets: likewise.
    """

    inputs: tuple[Sequence[Tensor] | Tensor, ...]
    targets: Sequence[Tensor] | Tensor

    @property
    def count(self) -> int:
        return len(self.targets[0])

    def of(self, chain: int) -> tuple[tuple[Tensor, ...], Tensor]:
        """Inputs and target of one chain, [B, …]."""
        at = chain if len(self.targets) > 1 else 0
        return tuple(x[at] for x in self.inputs), self.targets[at]

    def stacked(self) -> tuple[tuple[Tensor, ...], Tensor]:
        """Inputs and targets [C, B, …], or [1, B, …] without a copy where all chains share the rows."""
        return tuple(_stack(x) for x in self.inputs), _stack(self.targets)


def _stack(parts: Sequence[Tensor] | Tensor) -> Tensor:
    if isinstance(parts, Tensor):
        return parts
    return torch.stack(list(parts)) if len(parts) > 1 else parts[0].unsqueeze(0)


class Data(Protocol):
    """What a network asks of its rows.

    order: [n], which row of the data given stands at each place.  kinds: tensors [0, …] of the shape and type of each column.
    targets: the last column, in parts.
    """

    size: int
    order: Tensor

    @property
    def kinds(self) -> list[Tensor]: ...

    @property
    def targets(self) -> Iterable[Tensor]: ...

    @property
    def inputs(self) -> int:
        """How many tensors the module is called with."""
        ...

    def slice(self, start: int, stop: int, like: Tensor) -> Rows:
        """Rows start … stop for all chains."""
        ...

    def pick(self, places: Tensor, like: Tensor, base: Tensor) -> tuple[Rows, Tensor]:
        """Rows at `places` [C, B], consecutive ones in each chain, and what `base` [n] has for them, [C, B]."""
        ...

    def digest(self, digest: Any) -> None:
        """All numbers go into `digest`."""
        ...


def drawn_order(size: int, shuffle: bool) -> Tensor:
    """[size]; always the same shuffled order for the same size."""
    if not shuffle:
        return torch.arange(size, device="cpu")
    return torch.randperm(size, generator=torch_stream(0, "rows"), device="cpu")


class TensorData:
    """Inputs and targets, checked, and put into one fixed random order.

    A minibatch is a run of consecutive rows from a uniformly random place, the end joined to the beginning: every row
    is equally likely, and on a CPU no row is copied. Data sets are often sorted by class, and such a run would then hold one
    class only. The rows are therefore shuffled once, with a fixed seed (`shuffle=False` keeps the order given).

    order: [n], which row of the data given stands at each place.
    """

    def __init__(self, given: Sequence[Tensor], shuffle: bool = True, names: Sequence[str] = ()):
        """given: the inputs and, last, the targets, each [n, …].  names: what they are called in errors, if not data[0], …"""
        _check(given, names or [f"data[{index}]" for index in range(len(given))])
        self.size = len(given[0])
        self.order = drawn_order(self.size, shuffle)
        self.fields = [(x[self.order.to(x.device)] if shuffle else x.clone()).contiguous() for x in given]
        self._on: dict[tuple[str, torch.dtype], list[Tensor]] = {}

    @property
    def inputs(self) -> int:
        return len(self.fields) - 1

    @property
    def kinds(self) -> list[Tensor]:
        return [x[:0] for x in self.fields]

    @property
    def targets(self) -> list[Tensor]:
        return [self.fields[-1]]

    def digest(self, digest: Any) -> None:
        for x in self.fields:
            digest.update(f"{x.dtype}{tuple(x.shape)}".encode() + digested([x]))

    def on(self, device: torch.device, dtype: torch.dtype) -> list[Tensor]:
        """(*inputs, targets) on `device`; floating point numbers in `dtype`."""
        key = (str(device), dtype)
        if key not in self._on:
            self._on[key] = [x.to(device, dtype if x.is_floating_point() else x.dtype) for x in self.fields]
        return self._on[key]

    def slice(self, start: int, stop: int, like: Tensor) -> Rows:
        *inputs, targets = ([x[start:stop]] for x in self.on(like.device, like.dtype))
        return Rows(tuple(inputs), targets)

    def pick(self, places: Tensor, like: Tensor, base: Tensor) -> tuple[Rows, Tensor]:
        fields = self.on(like.device, like.dtype)
        if like.device.type != "cpu":
            *inputs, targets = (x[places] for x in fields)
            return Rows(tuple(inputs), targets), base[places]
        starts, count = places[:, 0].tolist(), places.shape[1]
        *parts, last, levels = ([_run(x, start, count) for start in starts] for x in (*fields, base))
        return Rows(tuple(parts), last), _stack(levels)


FEW_BYTES = 16
"""Of a row's target, which are then kept in memory: as many as the row's place and its loss at w0 take."""
SURVEYED_BYTES = 1 << 22
"""Of rows that are looked at together before a run."""


class TakenData:
    """The same rows in the same order, each taken when a pass needs it: of all rows only a few numbers each are in memory.

    kept: where they lie.  columns: of any of them, see `arranged.Arranged`.  weights: [n], the first column, or None.
    Every row is looked at once before the run, as `TensorData` does.
    """

    def __init__(
        self,
        kept: StoredRows,
        columns: Callable[[Given], list[Tensor]],
        shuffle: bool = True,
        names: Sequence[str] = (),
        weights: Tensor | None = None,
    ):
        self._kept, self._columns, self._weights, self.size = kept, columns, weights, kept.size
        self.order = drawn_order(self.size, shuffle)
        first = self._at(torch.arange(1))
        self.kinds = [x[:0] for x in first]
        self._together = max(1, SURVEYED_BYTES // max(1, sum(x.nbytes for x in first)))
        digests = [hashlib.blake2b(digest_size=16) for _ in first]
        labels = first[-1].new_empty(self.size, *first[-1].shape[1:]) if first[-1].nbytes <= FEW_BYTES else None
        at = 0
        for here in self._parts():
            _check(here, names or [f"data[{index}]" for index in range(len(here))], self._looked_at)
            for digest, x in zip(digests, here, strict=True):
                digest.update(as_bytes(x))
            if labels is not None:
                labels[at : at + len(here[-1])] = here[-1]
            at += len(here[-1])
        self._digests = [digest.digest() for digest in digests]
        self.targets: Iterable[Tensor] = _Targets(self) if labels is None else [labels]

    @property
    def inputs(self) -> int:
        return len(self.kinds) - 1

    def _parts(self) -> Iterator[list[Tensor]]:
        """All columns, a few rows at a time, in the drawn order."""
        for start, stop in chunks(self.size, self._together):
            self._looked_at = self.order[start:stop]
            yield self._at(self._looked_at)

    def _at(self, rows: Tensor) -> list[Tensor]:
        """Columns of the rows with these numbers [k] in the data given."""
        found = self._columns(self._kept.take(rows))
        return found if self._weights is None else [self._weights[rows], *found]

    def _on(self, rows: Tensor, like: Tensor) -> list[Tensor]:
        return [x.to(like.device, like.dtype if x.is_floating_point() else x.dtype) for x in self._at(rows)]

    def slice(self, start: int, stop: int, like: Tensor) -> Rows:
        *inputs, targets = ([x] for x in self._on(self.order[start:stop], like))
        return Rows(tuple(inputs), targets)

    def pick(self, places: Tensor, like: Tensor, base: Tensor) -> tuple[Rows, Tensor]:
        rows = self.order[places.cpu()].flatten()
        *inputs, targets = (x.view(*places.shape, *x.shape[1:]) for x in self._on(rows, like))
        return Rows(tuple(inputs), targets), base[places]

    def digest(self, digest: Any) -> None:
        for x, seen in zip(self.kinds, self._digests, strict=True):
            digest.update(f"{x.dtype}{(self.size, *x.shape[1:])}".encode() + seen)


@dataclass
class _Targets:
    """Part after part, and again from the first each time."""

    of: TakenData

    def __iter__(self) -> Iterator[Tensor]:
        return (columns[-1] for columns in self.of._parts())


def digested(parts: Iterable[Tensor]) -> bytes:
    """Of the numbers alone, however they are cut into parts."""
    digest = hashlib.blake2b(digest_size=16)
    for x in parts:
        digest.update(as_bytes(x))
    return digest.digest()


def as_bytes(x: Tensor) -> Any:
    return x.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data if x.numel() else b""


def _run(field: Tensor, start: int, count: int) -> Tensor:
    stop = start + count
    return field[start:stop] if stop <= len(field) else torch.cat([field[start:], field[: stop - len(field)]])


def chunks(total: int, size: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of pieces of at most `size` rows."""
    for start in range(0, total, size):
        yield start, min(total, start + size)


def _check(fields: Sequence[Tensor], names: Sequence[str], numbers: Tensor | None = None) -> None:
    """ValueError where rows cannot be used.  numbers: theirs, where they are not all rows of the data."""
    for name, x in zip(names, fields, strict=True):
        if x.dim() == 0 or len(x) == 0:
            raise ValueError(f"{name} has shape {tuple(x.shape)}; its first dimension must count the rows, at least 1.")
        if len(x) != len(fields[0]):
            raise ValueError(
                f"{name} has {len(x)} rows but {names[0]} has {len(fields[0])}; give one target per input."
            )
        if x.is_complex():
            raise ValueError(f"{name} is complex; give real or whole numbers.")
        if x.is_floating_point():
            bad = (~torch.isfinite(x)).flatten(1 if x.dim() > 1 else 0)
            rows = bad.any(1) if x.dim() > 1 else bad
            if bool(rows.any()):
                found = rows.nonzero().flatten().cpu()
                first, many = int(found[0] if numbers is None else numbers[found].min()), len(found)
                raise ValueError(
                    f"{name} holds nan or infinity in {'at least ' if numbers is not None else ''}{many} rows, the first of them row {first}; "
                    "remove these rows or give finite numbers."
                )
