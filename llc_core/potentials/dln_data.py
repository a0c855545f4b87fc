"""The data of a deep linear network: y = P0·x + noise, with x uniform on [−10, 10]^N.

Losses of linear networks depend on the data only through Sxx = XᵀX/n and Snx = (noise)ᵀX/n, so exact full-data
gradients cost nothing in n. Minibatches are drawn from a pool of rows held in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from llc_core.streams import torch_stream

INPUT_RANGE = 10.0
POOL_NUMBERS = 64_000_000
"""Numbers in the pool (256 MB in float32): all rows where they fit, else as many as fit."""
ROUND_ROWS = 10_000
"""A pool that is smaller than the data has a multiple of this many rows, so that usual batch sizes divide it."""
KEPT_NUMBERS = 64_000_000
"""Largest size of the kept moments of all batches (256 MB in float32)."""
CHUNK = 16_384


class LinearData:
    """n samples as a deterministic function of the seed.

    Where n rows of (inputs + outputs) numbers exceed POOL_NUMBERS, only `rows` < n distinct rows are made, each
    standing for n/rows samples; their noise is then shifted by a linear function of x so that the cross moment Snx has
    exactly its law at n samples (rows i.i.d. N(0, noise_std²·Sxx/n) given Sxx). Without that shift the estimate's
    finite-n bias would be that of `rows` samples. Full gradients and minibatches always describe the same data.
    """

    def __init__(self, inputs: int, outputs: int, n: int, noise_std: float, seed: int):
        self.inputs, self.outputs, self.n, self.noise_std, self.seed = inputs, outputs, n, noise_std, seed
        self.rows = max(min(n, POOL_NUMBERS // (inputs + outputs)), min(n, 4 * inputs))
        if n > self.rows > ROUND_ROWS:
            self.rows -= self.rows % ROUND_ROWS
        self._pools: dict[tuple[str, torch.dtype], Tensor] = {}
        self._kept: dict[tuple[str, torch.dtype, int], KeptBatches | None] = {}

    def _chunks(self):  # type: ignore[no-untyped-def]
        draw_x, draw_noise = torch_stream(self.seed, "inputs"), torch_stream(self.seed, "noise")
        for start in range(0, self.rows, CHUNK):
            rows = min(CHUNK, self.rows - start)
            x = torch.empty(rows, self.inputs).uniform_(-INPUT_RANGE, INPUT_RANGE, generator=draw_x)
            noise = torch.empty(rows, self.outputs).normal_(0.0, self.noise_std, generator=draw_noise)
            yield slice(start, start + rows), x, noise

    @cached_property
    def _moments(self) -> tuple[Tensor, Tensor, Tensor, float]:
        """Sxx [N, N], Snx [outputs, N], the noise shift [N, outputs] (float64) and the mean of |noise|²."""
        sxx = torch.zeros(self.inputs, self.inputs, dtype=torch.float64)
        snx = torch.zeros(self.outputs, self.inputs, dtype=torch.float64)
        square = 0.0
        for _, x, noise in self._chunks():
            x64, noise64 = x.double(), noise.double()
            sxx.addmm_(x64.T, x64)
            snx.addmm_(noise64.T, x64)
            square += float(noise64.square().sum())
        sxx, snx, square = sxx / self.rows, snx / self.rows, square / self.rows
        shift = torch.zeros(self.inputs, self.outputs, dtype=torch.float64)
        if self.rows < self.n:
            pool_snx = snx
            normals = torch.randn(
                self.outputs, self.inputs, dtype=torch.float64, generator=torch_stream(self.seed, "moments")
            )
            root = torch.linalg.cholesky(sxx)
            snx = normals @ root.T * (self.noise_std / math.sqrt(self.n))
            shift = torch.cholesky_solve((pool_snx - snx).T, root)
            square += float((shift * (sxx @ shift)).sum() - 2 * (shift.T * pool_snx).sum())
        return sxx, snx, shift, square

    @property
    def sxx(self) -> Tensor:
        """XᵀX/n, [N, N], float64."""
        return self._moments[0]

    @property
    def snx(self) -> Tensor:
        """(noise)ᵀX/n, [outputs, N], float64."""
        return self._moments[1]

    @property
    def noise_square(self) -> float:
        """Mean over samples of |noise|²: the loss L_n(w0)."""
        return self._moments[3]

    def pool(self, device: torch.device, dtype: torch.dtype) -> Tensor:
        """Rows (x, noise, |noise|²) in memory on `device`, [rows, N + outputs + 1]."""
        key = (str(device), dtype)
        if key not in self._pools:
            pool = torch.empty(self.rows, self.inputs + self.outputs + 1, dtype=dtype)
            shift = self._moments[2].to(torch.float32) if self.rows < self.n else None
            for where, x, noise in self._chunks():
                pool[where, : self.inputs] = x
                noise = noise if shift is None else noise - x @ shift
                pool[where, self.inputs : -1] = noise
                pool[where, -1] = noise.square().sum(dim=1)
            self._pools[key] = pool.to(device)
        return self._pools[key]

    def forget(self, device: torch.device, dtype: torch.dtype) -> None:
        """Let go of the rows that `pool` keeps on a device."""
        self._pools.pop((str(device), dtype), None)

    def kept(self, device: torch.device, dtype: torch.dtype, size: int) -> KeptBatches | None:
        """Batches of `size` rows whose moments are kept; None where that would take more than KEPT_NUMBERS, or on a GPU."""
        key = (str(device), dtype, size)
        if key not in self._kept:
            count = self.kept_count(size)
            self._kept[key] = KeptBatches(self, count, size, dtype) if count and device.type == "cpu" else None
        return self._kept[key]

    def kept_count(self, size: int) -> int:
        """How many batches of `size` rows a CPU keeps; 0 where their moments would take too much."""
        count = self.rows // math.gcd(self.rows, size)
        fits = count * (self.inputs + self.outputs) * self.inputs <= KEPT_NUMBERS and size >= self.inputs
        return count if fits else 0

    def batches(self, generator: torch.Generator, count: int, size: int, dtype: torch.dtype) -> Sequence[Tensor]:
        """`count` independent batches of `size` rows (x, noise, |noise|²), each [size, N + outputs + 1].

        A batch is one of the kept ones where there are such. Else it is a run of consecutive rows from a uniformly random
        place, the end joined to the beginning: every row is equally likely, so gradients are unbiased, and as the rows
        are i.i.d. the batch means vary as those of random subsets do. No row is copied; picking single rows all over
        memory took longer than using them. This is the CPU's way, `gather` that of other devices.
        """
        pool = self.pool(generator.device, dtype)
        kept = self.kept(generator.device, dtype, size)
        if kept is not None:
            return [kept.rows(k) for k in kept.places(generator, count).tolist()]
        starts = torch.randint(self.rows, (count,), generator=generator)
        return [self._run(pool, start, size) for start in starts.tolist()]

    def gather(self, generator: torch.Generator, count: int, size: int, dtype: torch.dtype) -> Tensor:
        """Runs of consecutive rows as in `batches`, copied together on the generator's device, [count, size, …]: no number
        comes back from the device, so that the step can be recorded."""
        pool = self.pool(generator.device, dtype)
        starts = torch.randint(self.rows, (count, 1), generator=generator, device=generator.device)
        return pool[(starts + torch.arange(size, device=pool.device)) % self.rows]

    def _run(self, pool: Tensor, start: int, size: int) -> Tensor:
        stop = start + size
        return pool[start:stop] if stop <= self.rows else torch.cat([pool[start:], pool[: stop - self.rows]])


class KeptBatches:
    """Batches cut from the pool once and for all, each with its moments, which are computed when it is first drawn.

    Batch k is the run of `size` rows from row k·size, the end of the pool joined to its beginning, k = 0 … count − 1; with
    count = rows / gcd(rows, size) every row is in the same number of batches, so that a batch drawn at random is an
    unbiased sample of the pool. A linear network's loss needs no more of a batch than its moments.
    """

    def __init__(self, data: LinearData, count: int, size: int, dtype: torch.dtype):
        self.data, self.count, self.size = data, count, size
        self.sxx = torch.empty(count, data.inputs, data.inputs, dtype=dtype)
        self.snx = torch.empty(count, data.outputs, data.inputs, dtype=dtype)
        self.baseline = torch.empty(count, dtype=dtype)
        self.known = [False] * count

    def places(self, generator: torch.Generator, chains: int) -> Tensor:
        """The number of a random batch for each chain."""
        return torch.randint(self.count, (chains,), generator=generator)

    def rows(self, k: int) -> Tensor:
        """The rows (x, noise, |noise|²) of batch k, [size, N + outputs + 1]."""
        data = self.data
        pool = data.pool(torch.device("cpu"), self.sxx.dtype)
        return data._run(pool, k * self.size % data.rows, self.size)

    def draw(self, generator: torch.Generator, chains: int) -> tuple[Tensor, Tensor, Tensor]:
        """XᵀX/size [C, N, N], (noise)ᵀX/size [C, outputs, N] and mean |noise|² [C] of a random batch for each chain."""
        places = self.places(generator, chains)
        for k in places.tolist():
            if not self.known[k]:
                self._learn(k)
        return self.sxx[places], self.snx[places], self.baseline[places]

    def _learn(self, k: int) -> None:
        rows = self.rows(k)
        x, noise = rows[:, : self.data.inputs], rows[:, self.data.inputs : -1]
        torch.mm(x.T, x, out=self.sxx[k]).div_(self.size)
        torch.mm(noise.T, x, out=self.snx[k]).div_(self.size)
        self.baseline[k] = rows[:, -1].mean()
        self.known[k] = True
