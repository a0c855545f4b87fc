"""Draws of a network on disk: a table of rows that never grows past what it was made for, thinned where it is full."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.fields import whole

HEAD = "draws.json"
ROWS = "draws.npy"


class DrawFile:
    """State dicts of networks of one shape, as single-precision rows of a memory map in `folder`, with their log weights.

    most: rows at most. When they are full every second one is dropped, and from then on every second draw is kept: those on disk are
    evenly thinned over all. Memory holds none of them. `read_draws` reads them back; nothing is pickled.
    Raises ValueError with one sentence where the folder cannot be used.
    """

    def __init__(self, folder: str | Path, most: int = 64):
        self.folder, self.most = Path(folder), whole("most", most, 2, 1_000_000)
        if self.folder.exists() and any(self.folder.iterdir()):
            raise ValueError(f"folder is {str(self.folder)!r}, which is not empty; name a new one.")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"folder is {str(self.folder)!r}, which cannot be made ({error.strerror}).") from None
        self._rows: np.memmap | None = None
        self._shapes: list[tuple[str, list[int], str]] = []
        self._logs: list[float] = []
        self._seen, self._stride = 0, 1

    def __len__(self) -> int:
        return len(self._logs)

    def add(self, states: Sequence[Mapping[str, Tensor]], log_weights: Any) -> None:
        for state, log_weight in zip(states, torch.as_tensor(log_weights, device="cpu").tolist(), strict=True):
            if self._seen % self._stride == 0:
                self._put(state, log_weight)
            self._seen += 1
        self._head()

    def _put(self, state: Mapping[str, Tensor], log_weight: float) -> None:
        row = np.concatenate([value.detach().cpu().numpy().reshape(-1).astype(np.float32) for value in state.values()])
        if self._rows is None:
            self._shapes = [(name, list(value.shape), str(value.dtype)) for name, value in state.items()]
            made: Any = np.lib.format.open_memmap(
                self.folder / ROWS, mode="w+", dtype=np.float32, shape=(self.most, len(row))
            )
            self._rows = made
        assert self._rows is not None
        if len(row) != self._rows.shape[1]:
            raise ValueError(f"A draw has {len(row):,} numbers, those before {self._rows.shape[1]:,}; use one network.")
        self._rows[len(self._logs)] = row
        self._logs.append(log_weight)
        if len(self._logs) == self.most:
            for k in range(0, self.most, 2):
                self._rows[k // 2] = self._rows[k]
            self._logs = self._logs[::2]
            self._stride *= 2

    def _head(self) -> None:
        assert self._rows is not None
        self._rows.flush()
        head = {"draws": len(self._logs), "every": self._stride, "log_weights": self._logs, "shapes": self._shapes}
        (self.folder / HEAD).write_text(json.dumps(head))


def read_draws(folder: str | Path) -> tuple[list[dict[str, Tensor]], Tensor]:
    """State dicts that look at the file, and log weights [S]. ValueError with one sentence for what is no folder of draws."""
    place = Path(folder)
    try:
        head = json.loads((place / HEAD).read_text())
        rows = np.load(place / ROWS, mmap_mode="r", allow_pickle=False)
        count, shapes, logs = int(head["draws"]), head["shapes"], torch.tensor(head["log_weights"], **EXACT)
        sizes = [int(np.prod(shape)) for _, shape, _ in shapes]
        if rows.ndim != 2 or rows.shape[1] != sum(sizes) or not 0 < count <= len(rows) or len(logs) != count:
            raise ValueError("its parts do not fit together")
        kinds = [getattr(torch, kind.removeprefix("torch.")) for *_, kind in shapes]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        kind = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise ValueError(
            f"folder is {str(place)!r}, where no draws can be read ({kind}); make one with DrawFile."
        ) from None
    found = []
    for row in rows[:count]:
        parts = torch.from_numpy(np.array(row)).split(sizes)
        found.append(
            {
                name: part.view(tuple(shape)).to(kind)
                for (name, shape, _), part, kind in zip(shapes, parts, kinds, strict=True)
            }
        )
    return found, logs
