"""Blocks of chains on the line: what one thread works on."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch

from llc_core.bins import Bins
from llc_core.compute.streams import torch_stream
from llc_core.samplers.forms import Line

CHUNK = 32
"""Steps whose normals are drawn at once; so few that they stay in the cache until they are used."""


class Chains(Protocol):
    """What a block asks of its run, a `LineRun`."""

    line: Line
    bins: Bins
    kernel: Any
    seed: int
    dtype: str
    step_size: float
    step_decay: float
    burn_in: int
    record_every: int


class Block:
    """Some of the chains, with their own random stream and their own counts: what one thread works on."""

    def __init__(self, run: Chains, index: int, first: np.ndarray):
        self.run = run
        self.x = np.ascontiguousarray(first)
        self.a, self.b = (np.full_like(self.x, value) for value in run.line.start)
        self.counts = np.zeros(run.bins.count + 2)
        self.sums = np.zeros(4)
        self.diverged = 0
        self.stream = torch_stream(run.seed, f"line/{index}")
        self.noise = torch.empty(CHUNK, len(first), dtype=getattr(torch, run.dtype), device="cpu")
        self.used = CHUNK

    def advance(self, done: int, steps: int) -> None:
        run = self.run
        while steps > 0:
            if self.used == CHUNK:
                self.noise.normal_(generator=self.stream)
                self.used = 0
            now = min(steps, CHUNK - self.used)
            sizes = run.step_size * (np.arange(done, done + now) + 1.0) ** -run.step_decay
            run.kernel(
                self.x,
                self.a,
                self.b,
                self.noise.numpy()[self.used : self.used + now],
                sizes,
                done,
                run.burn_in,
                run.record_every,
                run.step_decay > 0,
                run.bins.low,
                run.bins.width,
                self.counts,
                self.sums,
            )
            self.used += now
            done += now
            steps -= now
        self.diverged = int(len(self.x) - np.isfinite(self.x).sum())


def block_count(chains: int) -> int:
    """How many blocks there are. It depends on the chains alone, so that the numbers do not depend on the machine."""
    return -(-chains // 1024) if chains < 8192 else 8 * -(-chains // 32_768)
