"""Rows of all chains in a file that never grows past what it was made for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor


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
