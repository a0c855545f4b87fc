"""Where a long training stands, in a file of tensors, so that it goes on there when it was ended."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llc_core.fields import one_line
from llc_core.networks.files import check_size

SECONDS = 120.0
"""From one writing to the next: a file of a network with its moments and checkpoints may have hundreds of megabytes."""


class Bookmark:
    """A file in `folder`, made with it, that is named by a question: another training has another file.

    asked: what JSON can say of the training.  tensors: data and first weights, since neither is in words: the text that ships with
    Python is not the same in all versions.
    """

    def __init__(self, folder: Path, asked: Any, tensors: Iterable[Tensor]):
        sums = hashlib.sha256(json.dumps(asked, sort_keys=True).encode())
        for tensor in tensors:
            sums.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
            sums.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        self.path = folder / f"{sums.hexdigest()[:16]}.pt"
        self._written = time.monotonic()

    def read(self) -> dict[str, Any] | None:
        """What was written last, on the CPU; None at the beginning. ValueError for a file that is damaged."""
        if not self.path.exists():
            return None
        try:
            check_size(self.path)
            found: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception:
            raise ValueError(
                f"{one_line(str(self.path))} is no training that can go on; remove it, and the training begins anew."
            ) from None
        return found

    @property
    def due(self) -> bool:
        return time.monotonic() - self._written >= SECONDS

    def write(self, found: dict[str, Any]) -> None:
        """tensors, numbers and words, in lists and dictionaries. A program that is ended meanwhile leaves the last file as it was."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        with part.open("wb") as file:
            torch.save(found, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.path)
        self._written = time.monotonic()
