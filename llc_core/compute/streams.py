"""Named random streams: each part of a run has its own, so that none depends on how much the others draw."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def stream_seed(seed: int, name: str) -> int:
    """A 63-bit seed from (seed, name)."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def torch_stream(seed: int, name: str, device: torch.device | str = "cpu") -> torch.Generator:
    return torch.Generator(device=device).manual_seed(stream_seed(seed, name))


def numpy_stream(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng(stream_seed(seed, name))


_TURN = threading.RLock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, torch's global random state begins at `seed`; afterwards it is what it was before.

    This is for code that takes no generator, such as the first weights of torch.nn's layers. All threads share that state, so
    they take turns here. Otherwise one thread would draw another's numbers, and neither could be repeated.
    """
    with _TURN, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
