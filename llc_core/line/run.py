"""Many chains on the line, as fast as the machine can: a compiled kernel for every sampler that has a `line()`.

The engine (`llc_core.engine.run`) runs every sampler on every potential. This runs samplers that can be written as scalar
arithmetic, on landscapes only. It is about a hundred times faster, and keeps histograms and moments instead of traces.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from llc_core.bins import Bins
from llc_core.compute.cores import available_cores
from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.config import RunConfig
from llc_core.fields import choice, number, whole
from llc_core.line.blocks import Block, block_count
from llc_core.line.kernel import kernel
from llc_core.line.snapshot import LineSnapshot
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers import Sampler, build, samplers
from llc_core.samplers.forms import Line

FIRST_STEPS = 32
BLOCK_SECONDS = 0.04
"""Between two snapshots of an iteration, which begins with FIRST_STEPS."""
RECORD_EVERY = 8
"""Steps between two counts. Neighbouring states are nearly the same: counting all would cost time and add little."""
MAX_CHAINS = 2_000_000
MAX_STEPS = 1_000_000_000


class LineRun:
    """A run in progress: iterate for snapshots of about 40 ms, or `advance` by hand.

    sampler: one with a `line()` and a number for step_size.  target: what `landscape` takes.
    burn_in: an int counts steps, a float is a fraction of the steps.  bins: see `Bins.of`.
    step_decay: step t has size ε·(t + 1)^(−step_decay), and averages are weighted by the step sizes.
    start: "target" draws the starting points from the target's distribution, "mode" puts all chains at the mode.
    threads: None: one per core.  record_every: steps between two counts.

    The numbers depend neither on `threads` nor on how many steps are done at a time. Raises ValueError for arguments that cannot be.
    """

    def __init__(
        self,
        sampler: Sampler | Mapping[str, Any] | str,
        target: Landscape | Mapping[str, Any] | str,
        *,
        chains: int = 20_000,
        steps: int,
        burn_in: int | float = 0.3,
        bins: Bins | Mapping[str, Any] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        step_decay: float = 0.0,
        start: str = "target",
        threads: int | None = None,
        record_every: int = RECORD_EVERY,
    ):
        self.sampler, self.target, self.bins = build(sampler), landscape(target), Bins.of(bins)
        line = self.sampler.line()
        if line is None:
            able = ", ".join(name for name, cls in samplers().items() if cls().line() is not None)
            raise ValueError(f"{self.sampler.name} has no form on the line; choose one of {able}.")
        self.step_size = _step_size(self.sampler)
        self.line: Line = line
        self.chains = whole("chains", chains, 1, MAX_CHAINS)
        self.total_steps = whole("steps", steps, 1, MAX_STEPS)
        self.burn_in = RunConfig(steps=steps, burn_in=burn_in).burn_in_steps(self.total_steps)
        self.seed = whole("seed", seed)
        self.dtype = choice("dtype", dtype, ("float32", "float64"))
        self.step_decay = number("step_decay", step_decay, 0, below=1)
        self.start = choice("start", start, ("target", "mode"))
        self.threads = available_cores() if threads is None else whole("threads", threads, 1, 1024)
        self.record_every = whole("record_every", record_every, 1, MAX_STEPS)
        self.steps_done = 0
        self.seconds = 0.0
        self.kernel = kernel(line, self.target, self.dtype)
        self._next_steps = FIRST_STEPS
        first = self._first()
        count = block_count(self.chains)
        edges = [self.chains * k // count for k in range(count + 1)]
        self._blocks = [Block(self, k, first[edges[k] : edges[k + 1]]) for k in range(count)]

    @property
    def finished(self) -> bool:
        return self.steps_done >= self.total_steps or self.diverged == self.chains

    @property
    def diverged(self) -> int:
        return sum(block.diverged for block in self._blocks)

    @property
    def counts(self) -> np.ndarray:
        """[bins + 2], a copy."""
        return np.sum([block.counts for block in self._blocks], axis=0)

    @property
    def positions(self) -> np.ndarray:
        """Where the chains are now, [chains], a copy."""
        return np.concatenate([block.x for block in self._blocks])

    def masses(self) -> np.ndarray:
        return self.snapshot().masses()

    def density(self) -> np.ndarray:
        return self.bins.density(self.counts)

    def __iter__(self) -> Iterator[LineSnapshot]:
        while not self.finished:
            before = time.perf_counter()
            snapshot = self.advance(self._next_steps)
            spent = time.perf_counter() - before
            self._next_steps = max(1, int(self._next_steps * min(2.0, max(0.5, BLOCK_SECONDS / max(spent, 1e-6)))))
            yield snapshot

    def advance(self, steps: int) -> LineSnapshot:
        """Do up to `steps` more steps of every chain and report them."""
        started = time.perf_counter()
        steps = max(0, min(whole("steps", steps), self.total_steps - self.steps_done))
        workers = min(self.threads, len(self._blocks))
        if steps and workers > 1:
            list(_pool(workers).map(lambda block: block.advance(self.steps_done, steps), self._blocks))
        elif steps:
            for block in self._blocks:
                block.advance(self.steps_done, steps)
        self.steps_done += steps
        self.seconds += time.perf_counter() - started
        return self.snapshot()

    def snapshot(self) -> LineSnapshot:
        counts = self.counts
        sums = np.sum([block.sums for block in self._blocks], axis=0)
        total = counts.sum()
        return LineSnapshot(
            steps=self.steps_done,
            total_steps=self.total_steps,
            burn_in=self.burn_in,
            counts=counts,
            moments=sums / total if total > 0 else np.full(4, np.nan),
            chains=self.chains,
            diverged=self.diverged,
            seconds=self.seconds,
            element_steps_per_second=self.chains * self.steps_done / max(self.seconds, 1e-9),
            bins=self.bins,
        )

    def _first(self) -> np.ndarray:
        """Starting points [chains]."""
        if self.start == "mode":
            return np.full(self.chains, self.target.mode, dtype=self.dtype)
        stream = torch_stream(self.seed, "line/start")
        uniform = torch.rand(self.chains, generator=stream, **EXACT).numpy()
        return self.target.quantile(uniform).astype(self.dtype)


def simulate(
    sampler: Sampler | Mapping[str, Any] | str, target: Landscape | Mapping[str, Any] | str, **options: Any
) -> LineSnapshot:
    """A `LineRun` with these options, run to its end."""
    current = LineRun(sampler, target, **options)
    return current.advance(current.total_steps)


def warm_up(
    sampler: Sampler | Mapping[str, Any] | str, target: Landscape | Mapping[str, Any] | str, dtype: str = "float32"
) -> None:
    """Compile what a run of this sampler on this target needs, so that the run itself starts at once."""
    simulate(build(sampler).replace(step_size=1e-6), target, chains=16, steps=2, burn_in=0, dtype=dtype, threads=1)


def _step_size(sampler: Sampler) -> float:
    step_size = getattr(sampler, "step_size", None)
    if step_size is None:
        raise ValueError(f"{sampler.name}.step_size is automatic; a run on the line needs a number, for example 1e-3.")
    return float(step_size)


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="line")
