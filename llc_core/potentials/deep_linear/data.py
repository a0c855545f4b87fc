"""The data of a deep linear network: y = P0·x + noise, with x uniform on [−10, 10]^N. Long, since data and the batches kept
of it need one another.

Losses of linear networks depend on the data only through Sxx = XᵀX/n and Snx = (noise)ᵀX/n, so exact full-data
gradients cost nothing in n. Minibatches are drawn from a pool of rows held in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT, SINGLE, full_precision, lasting
from llc_core.compute.streams import torch_stream

INPUT_RANGE = 10.0
POOL_NUMBERS = 64_000_000
"""Numbers in the pool (256 MB in float32): all rows where they fit, else as many as fit."""
ROUND_ROWS = 10_000
"""A pool that is smaller than the data has a multiple of this many rows, so that usual batch sizes divide it."""
KEPT_NUMBERS = 64_000_000
"""Largest size of the kept moments of all batches (256 MB in float32)."""
GPU_KEPT_NUMBERS = 250_000_000
"""The same on a GPU, 1 GB. There all are made at once, and the rows are then dropped."""
CHUNK = 16_384
GPU_PASSES = 50
"""Passes over all rows that the moments of all batches may take. More than one are needed if the batch size does not divide n."""
LEARNT_NUMBERS = 16_000_000
"""Numbers of the rows that a GPU works on at once."""


class LinearData:
    """n samples as a deterministic function of the seed.

    If n rows of (inputs + outputs) numbers exceed POOL_NUMBERS, only `rows` < n distinct rows are made, and each stands
    for n/rows samples. Their noise is then shifted by a linear function of x, so that the cross moment Snx has exactly its
    distribution at n samples (rows i.i.d. N(0, noise_std²·Sxx/n) given Sxx). Without the shift the estimate's finite-n bias would be
    that of `rows` samples. Full gradients and minibatches always describe the same data.
    """

    def __init__(self, inputs: int, outputs: int, n: int, noise_std: float, seed: int):
        self.inputs, self.outputs, self.n, self.noise_std, self.seed = inputs, outputs, n, noise_std, seed
        self.rows = max(min(n, POOL_NUMBERS // (inputs + outputs)), min(n, 4 * inputs))
        if n > self.rows > ROUND_ROWS:
            self.rows -= self.rows % ROUND_ROWS
        self.device = torch.device("cpu")
        self._pools: dict[tuple[str, torch.dtype], Tensor] = {}
        self._kept: dict[tuple[str, torch.dtype, int], KeptBatches | None] = {}

    def _chunks(self) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Which rows, their inputs and their noise, float32, piece by piece."""
        draw_x, draw_noise = torch_stream(self.seed, "inputs"), torch_stream(self.seed, "noise")
        for start in range(0, self.rows, CHUNK):
            rows = min(CHUNK, self.rows - start)
            x = torch.empty(rows, self.inputs, **SINGLE).uniform_(-INPUT_RANGE, INPUT_RANGE, generator=draw_x)
            noise = torch.empty(rows, self.outputs, **SINGLE).normal_(0.0, self.noise_std, generator=draw_noise)
            yield slice(start, start + rows), x, noise

    @cached_property
    @full_precision()
    def _moments(self) -> tuple[Tensor, Tensor, Tensor, float]:
        """Sxx [N, N], Snx [outputs, N], the noise shift [N, outputs] (float64) and the mean of |noise|²."""
        sxx = torch.zeros(self.inputs, self.inputs, dtype=torch.float64, device=self.device)
        snx = torch.zeros(self.outputs, self.inputs, dtype=torch.float64, device=self.device)
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for _, x, noise in self._chunks():
            x64, noise64 = x.double(), noise.double()
            sxx.addmm_(x64.T, x64)
            snx.addmm_(noise64.T, x64)
            total += noise64.square().sum()
        sxx, snx, square = sxx.cpu() / self.rows, snx.cpu() / self.rows, float(total) / self.rows
        shift = torch.zeros(self.inputs, self.outputs, **EXACT)
        if self.rows < self.n:
            pool_snx = snx
            normals = torch.randn(self.outputs, self.inputs, generator=torch_stream(self.seed, "moments"), **EXACT)
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
            with lasting():
                self._pools[key] = self._made_pool(dtype).to(device)
        return self._pools[key]

    @full_precision()
    def _made_pool(self, dtype: torch.dtype) -> Tensor:
        pool = torch.empty(self.rows, self.inputs + self.outputs + 1, dtype=dtype, device="cpu")
        shift = self._moments[2].to(torch.float32) if bool(self._moments[2].any()) else None
        for where, x, noise in self._chunks():
            pool[where, : self.inputs] = x
            noise = noise if shift is None else noise - x @ shift
            pool[where, self.inputs : -1] = noise
            pool[where, -1] = noise.square().sum(dim=1)
        return pool

    def seen_from(self, difference: Tensor) -> LinearData:
        """The same samples with what is left of them by another product, P0 + difference [outputs, N]: it stands for the noise."""
        sxx, snx, shift, square = self._moments
        difference = difference.to(**EXACT)
        along = difference @ sxx
        other = copy(self)
        other._pools, other._kept = {}, {}
        less = float((along * difference).sum() - 2 * (snx * difference).sum())
        other.__dict__["_moments"] = (sxx, snx - along, shift + difference.T, square + less)
        return other

    def work_on(self, device: torch.device) -> None:
        """Make the moments over all data on this device, if rows can be made there."""

    def has_rows(self, device: torch.device, dtype: torch.dtype) -> bool:
        return (str(device), dtype) in self._pools

    def forget_rows(self, device: torch.device, dtype: torch.dtype) -> None:
        """Drop the rows that `pool` keeps on a device."""
        self._pools.pop((str(device), dtype), None)

    def kept(self, device: torch.device, dtype: torch.dtype, size: int) -> KeptBatches | None:
        """Batches of `size` rows whose moments are kept; None if they would take too much memory."""
        key = (str(device), dtype, size)
        if key not in self._kept:
            count = self.kept_count(size, device.type != "cpu")
            with lasting():
                self._kept[key] = KeptBatches(self, count, size, device, dtype) if count else None
        return self._kept[key]

    def kept_count(self, size: int, on_gpu: bool = False) -> int:
        """How many batches of `size` rows are kept; 0 if their moments would take too much memory, or too long to make on a GPU."""
        count = self.rows // math.gcd(self.rows, size)
        if size < self.inputs or (on_gpu and count * size > GPU_PASSES * self.rows):
            return 0
        most = GPU_KEPT_NUMBERS if on_gpu else KEPT_NUMBERS
        return count if count * (self.inputs + self.outputs) * self.inputs <= most else 0

    def batches(self, generator: torch.Generator, count: int, size: int, dtype: torch.dtype) -> Iterator[Tensor]:
        """`count` independent batches of `size` rows (x, noise, |noise|²), each [size, N + outputs + 1], one after another.

        If batches are kept, it is one of these. Otherwise it is a run of consecutive rows from a uniformly random place, the
        end joined to the beginning. Every row is equally likely, so that gradients are unbiased; the rows are i.i.d., so that
        batch means vary as those of random subsets do. No row is copied: to pick single rows all over the memory took longer
        than to use them. This is for CPUs; other devices use `gather`.
        """
        kept = self.kept(generator.device, dtype, size)
        if kept is not None:
            starts = [k * size % self.rows for k in kept.places(generator, count).tolist()]
        else:
            starts = torch.randint(self.rows, (count,), generator=generator, device="cpu").tolist()
        return (self.run(start, size, generator.device, dtype) for start in starts)

    def gather(self, generator: torch.Generator, count: int, size: int, dtype: torch.dtype) -> Tensor:
        """Runs of consecutive rows as in `batches`, copied together on the generator's device, [count, size, …].

        No number returns from the device to the host, so that the step can be recorded.
        """
        starts = torch.randint(self.rows, (count, 1), generator=generator, device=generator.device)
        return self.rows_at((starts + torch.arange(size, device=generator.device)) % self.rows, dtype, in_step=True)

    def rows_at(self, index: Tensor, dtype: torch.dtype, in_step: bool = False) -> Tensor:
        """Rows (x, noise, |noise|²) by their numbers (any shape), [..., N + outputs + 1].

        in_step: whether it is called in every step with the same shape, so that compiling is worth its time.
        """
        return self.pool(index.device, dtype)[index]

    def run(self, start: int, size: int, device: torch.device, dtype: torch.dtype) -> Tensor:
        """Rows (x, noise, |noise|²) from number `start` on, the end joined to the beginning, [size, N + outputs + 1]."""
        pool, stop = self.pool(device, dtype), start + size
        return pool[start:stop] if stop <= self.rows else torch.cat([pool[start:], pool[: stop - self.rows]])


class KeptBatches:
    """Batches cut from the data once and for all, each with its moments.

    Batch k is the run of `size` rows from row k·size, the end joined to the beginning, k = 0 … count − 1; with
    count = rows / gcd(rows, size) every row is in the same number of batches, so that a batch drawn at random is an
    unbiased sample of the data. A linear network's loss needs no more of a batch than its moments: on a CPU they are
    computed when a batch is first drawn, on other devices all at once, so that no number comes back in a step.
    """

    def __init__(self, data: LinearData, count: int, size: int, device: torch.device, dtype: torch.dtype):
        self.data, self.count, self.size, self.dtype = data, count, size, dtype
        self.sxx, self.snx, self.baseline = tables(data, count, device, dtype)
        self.device = self.sxx.device
        self.known: list[bool] | None = [False] * count
        if self.device.type != "cpu":
            self.learn_all()

    def places(self, generator: torch.Generator, chains: int) -> Tensor:
        """The number of a random batch for each chain."""
        return torch.randint(self.count, (chains,), generator=generator, device=self.device)

    def rows(self, k: int) -> Tensor:
        """The rows (x, noise, |noise|²) of batch k, [size, N + outputs + 1]."""
        return self.data.run(k * self.size % self.data.rows, self.size, self.device, self.dtype)

    def draw(self, generator: torch.Generator, chains: int) -> tuple[Tensor, Tensor, Tensor]:
        """XᵀX/size [C, N, N], (noise)ᵀX/size [C, outputs, N] and mean |noise|² [C] of a random batch for each chain."""
        places = self.places(generator, chains)
        known = self.known
        if known is not None:
            new = [k for k in places.tolist() if not known[k]]
            if new:
                self._learn(new)
        sxx, snx, baseline = (table.index_select(0, places) for table in (self.sxx, self.snx, self.baseline))
        return sxx, snx, baseline

    @full_precision()
    def _learn(self, new: Sequence[int]) -> None:
        """Only final numbers are written, since one thread may read a batch while another computes it a second time."""
        for k in new:
            rows = self.rows(k)
            x, noise = rows[:, : self.data.inputs], rows[:, self.data.inputs : -1]
            torch.div(torch.mm(x.T, x), self.size, out=self.sxx[k])
            torch.div(torch.mm(noise.T, x), self.size, out=self.snx[k])
            self.baseline[k] = rows[:, -1].mean()
            if self.known is not None:
                self.known[k] = True

    def learn_all(self) -> None:
        fill_tables(self.data, self.size, self.sxx, self.snx, self.baseline)
        self.known = None


def tables(data: LinearData, count: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Empty tables for XᵀX/size, (noise)ᵀX/size and mean |noise|² of `count` batches."""
    sxx = torch.empty(count, data.inputs, data.inputs, dtype=dtype, device=device)
    snx = torch.empty(count, data.outputs, data.inputs, dtype=dtype, device=device)
    return sxx, snx, torch.empty(count, dtype=dtype, device=device)


@full_precision()
def fill_tables(data: LinearData, size: int, sxx: Tensor, snx: Tensor, baseline: Tensor) -> None:
    """Write the moments of all batches of `size` rows, many in one product. A pool made for this is dropped afterwards."""
    device, dtype = sxx.device, sxx.dtype
    had_rows = data.has_rows(device, dtype)
    each = max(1, LEARNT_NUMBERS // (size * (data.inputs + data.outputs)))
    within = torch.arange(size, device=device)
    for first in range(0, len(sxx), each):
        k = torch.arange(first, min(first + each, len(sxx)), device=device)
        z = data.rows_at((k[:, None] * size + within) % data.rows, dtype)
        x, noise = z[:, :, : data.inputs], z[:, :, data.inputs : -1]
        sxx[k] = torch.bmm(x.transpose(1, 2), x) / size
        snx[k] = torch.bmm(noise.transpose(1, 2), x) / size
        baseline[k] = z[:, :, -1].mean(dim=1)
    if not had_rows:
        data.forget_rows(device, dtype)
