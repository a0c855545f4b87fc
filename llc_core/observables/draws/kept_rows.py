"""Base of the observables that keep what they see: rows of all chains, evenly spaced, in memory or a file that does not grow."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.observables.base import Observable
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.base import Potential


class RowFile:
    """A memory map [most, C, …] of single precision in `folder`, in a file of its own. ValueError, one sentence, where it cannot be."""

    def __init__(self, folder: str, name: str, most: int, like: Tensor):
        try:
            place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder)) / "draws.npy"
            made: Any = np.lib.format.open_memmap(place, mode="w+", dtype=np.float32, shape=(most, *like.shape))
        except OSError as error:
            raise ValueError(f"LLC_LAB_DRAWS is {folder!r}, where no file can be made ({error.strerror}).") from None
        self.place, self._rows, self._count = place, made, 0

    def append(self, row: Tensor) -> None:
        self._rows[self._count] = row.detach().float().cpu().numpy()
        self._count += 1

    def thin(self) -> None:
        """Every second row stays, from the first on."""
        kept = (self._count + 1) // 2
        for k in range(1, kept):
            self._rows[k] = self._rows[2 * k]
        self._count = kept

    def draws(self, rows: slice) -> np.ndarray:
        """[T, C', …] of the chains `rows`: a view of the file, so that memory holds none of it; to write in it changes no file."""
        self._rows.flush()
        seen = np.load(self.place, mmap_mode="c", allow_pickle=False)[: self._count]
        view: np.ndarray = seen[:, rows]
        return view


MOST_DRAWS = 100_000
FOLDER = "LLC_LAB_DRAWS"
"""Of draws on disk. No configuration names a path, since configurations come from links too."""
COPIES = 4
"""Of the kept rows in memory, while they are read out: themselves, side by side, and in double precision."""


@dataclass
class KeptRows(Observable):
    """Draws of what `measure` returns. When `most` rows are kept, every second one is dropped and rows come twice as far apart.

    most: rows kept at once.  on_disk: they lie in a file of LLC_LAB_DRAWS, a folder that whoever runs the process names,
    and `read` gives a memory map of it in single precision.  Draws are as the chains visit them; where they do not weigh
    the same, their weights stand beside.
    """

    every: int = 1
    most: int = hyper(256, 16, MOST_DRAWS)
    on_disk: bool = hyper(False)

    def agree(self) -> None:
        if self.on_disk and not os.environ.get(FOLDER):
            raise ValueError(f"{self.name}.on_disk needs a folder; name one in the environment's {FOLDER}.")

    def measure(self, seen: Look) -> Tensor:
        """[C, …] a new tensor with one number or array for each chain."""
        raise NotImplementedError

    def numbers(self, problem: Potential) -> int:
        """How many numbers `measure` returns for a chain."""
        raise NotImplementedError

    def kept(self, chains: int, problem: Potential) -> int:
        return self.room(chains) * self.numbers(problem)

    def room(self, chains: int) -> int:
        """How many numbers are in memory for each that `measure` returns for a chain."""
        return (1 if self.on_disk else COPIES * self.most) * chains

    def begin(self, setup: RunShape) -> None:
        self._rows: list[Tensor] = []
        self._file: RowFile | None = None
        self._weights: list[Tensor] = []
        self._steps: list[int] = []
        self._stride = 1

    @property
    def period(self) -> int:
        return self.every * self._stride

    def look(self, seen: Look) -> None:
        if seen.step % self.period:
            return
        row = self.measure(seen)
        if self.on_disk:
            self._file = self._file or RowFile(os.environ[FOLDER], self.name, self.most, row)
            self._file.append(row)
        else:
            self._rows.append(row)
        self._weights.append(seen.weights)
        self._steps.append(seen.step)
        if len(self._steps) == self.most:
            self._rows, self._weights, self._steps = self._rows[::2], self._weights[::2], self._steps[::2]
            self._stride *= 2
            if self._file is not None:
                self._file.thin()

    def read(self, group: Group) -> dict[str, np.ndarray]:
        """draws [T, C', …], nan for diverged chains, and steps [T] since the end of burn-in; empty before the first look.

        weights [T, C'] of the draws in averages, where they are not all the same. Draws on disk are of all chains of the group, and
        those of diverged ones are what they were.
        """
        if not self._steps:
            return {}
        if self._file is not None:
            draws = self._file.draws(group.rows)
        else:
            draws = torch.stack([row[group.rows] for row in self._rows]).double().cpu().numpy()
            draws[:, ~group.living] = np.nan
        found = {"draws": draws, "steps": np.array(self._steps)}
        weights = torch.stack([each[group.rows] for each in self._weights]).double().cpu().numpy()
        alive = weights[:, group.living]
        return {**found, "weights": weights} if alive.size and np.ptp(alive) > 0 else found
