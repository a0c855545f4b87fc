"""The rows a network is evaluated on: tensors in memory, one copy per device and precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream


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
        self.order = torch.arange(self.size, device="cpu")
        if shuffle:
            self.order = torch.randperm(self.size, generator=torch_stream(0, "rows"), device="cpu")
        self.fields = [(x[self.order.to(x.device)] if shuffle else x.clone()).contiguous() for x in given]
        self._on: dict[tuple[str, torch.dtype], list[Tensor]] = {}

    @property
    def inputs(self) -> int:
        """How many tensors the module is called with."""
        return len(self.fields) - 1

    def on(self, device: torch.device, dtype: torch.dtype) -> list[Tensor]:
        """(*inputs, targets) on `device`; floating point numbers in `dtype`."""
        key = (str(device), dtype)
        if key not in self._on:
            self._on[key] = [x.to(device, dtype if x.is_floating_point() else x.dtype) for x in self.fields]
        return self._on[key]

    def slice(self, start: int, stop: int, like: Tensor) -> Rows:
        """Rows start … stop for all chains."""
        *inputs, targets = ([x[start:stop]] for x in self.on(like.device, like.dtype))
        return Rows(tuple(inputs), targets)

    def pick(self, places: Tensor, like: Tensor, base: Tensor) -> tuple[Rows, Tensor]:
        """Rows at `places` [C, B], consecutive ones in each chain, and what `base` [n] has for them, [C, B]."""
        fields = self.on(like.device, like.dtype)
        if like.device.type != "cpu":
            *inputs, targets = (x[places] for x in fields)
            return Rows(tuple(inputs), targets), base[places]
        starts, count = places[:, 0].tolist(), places.shape[1]
        *parts, last, levels = ([_run(x, start, count) for start in starts] for x in (*fields, base))
        return Rows(tuple(parts), last), _stack(levels)


def _run(field: Tensor, start: int, count: int) -> Tensor:
    stop = start + count
    return field[start:stop] if stop <= len(field) else torch.cat([field[start:], field[: stop - len(field)]])


def chunks(total: int, size: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of pieces of at most `size` rows."""
    for start in range(0, total, size):
        yield start, min(total, start + size)


def _check(fields: Sequence[Tensor], names: Sequence[str]) -> None:
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
                first, many = int(rows.nonzero()[0]), int(rows.sum())
                raise ValueError(
                    f"{name} holds nan or infinity in {many} rows, the first of them row {first}; "
                    "remove these rows or give finite numbers."
                )
