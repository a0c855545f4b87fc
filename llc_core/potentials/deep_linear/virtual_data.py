"""Data of a deep linear network that are kept nowhere: row i is a function of (seed, i) and is made where it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from llc_core.compute.gpu import CompiledIfPossible, rows_are_compiled
from llc_core.compute.philox import MOST_PLACES, fill, fill_uniforms, normals_at, uniforms_at
from llc_core.compute.philox_layout import GROUP
from llc_core.compute.precision import SINGLE, lasting
from llc_core.compute.streams import stream_seed
from llc_core.fields import number, truth, whole
from llc_core.potentials.deep_linear.data import CHUNK, INPUT_RANGE, LEARNT_NUMBERS, LinearData

Seeds = tuple[Tensor, ...]


class VirtualData(LinearData):
    """`LinearData` with n distinct rows, whatever n and the widths, and no pool of them.

    x_ij is the uniform and noise_ij the normal number at place i·N + j and i·outputs + j of a stream of the seed
    (`llc_core.compute.philox`), in single precision: the same rows on every device, up to rounding. On a CPU a compiled loop
    makes them. On a GPU it takes some 400 small operations; where a run's steps are compiled (`llc_core.compute.gpu.way_of`), so
    are the rows that are made in each of them, into two or three kernels. The full-data moments take one pass over all n rows.

    Raises ValueError where n rows have more numbers than a stream.
    """

    def __init__(self, inputs: int, outputs: int, n: int, noise_std: float, seed: int):
        super().__init__(inputs, outputs, n, noise_std, seed)
        most = MOST_PLACES // max(inputs, outputs)
        if n > most:
            raise ValueError(
                f"n is {n}; virtual data of {inputs} inputs and {outputs} outputs have at most {most} rows: "
                "take fewer, or keep the rows (virtual=False)."
            )
        self.rows = n
        self.seeds = stream_seed(seed, "virtual inputs"), stream_seed(seed, "virtual noise")
        self._seeds: dict[str, Seeds] = {}

    def seeds_on(self, device: torch.device) -> Seeds:
        """Seeds of inputs and noise, [1] each. They are kept on the device, because a recorded step must take nothing from the host."""
        key = str(device)
        if key not in self._seeds:
            with lasting():
                self._seeds[key] = tuple(torch.tensor([seed], device=device) for seed in self.seeds)
        return self._seeds[key]

    def seen_from(self, difference: Tensor) -> LinearData:
        raise ValueError(
            "virtual is True, and rows that are made anew at every use know one w0 alone; use virtual=False."
        )

    def work_on(self, device: torch.device) -> None:
        wanted = device if device.type == "cuda" else torch.device("cpu")  # others have no double precision
        if wanted.type != self.device.type:
            self.__dict__.pop("_moments", None)
        self.device = wanted

    def _chunks(self) -> Iterator[tuple[slice, Tensor, Tensor]]:
        each = CHUNK if self.device.type == "cpu" else max(1, LEARNT_NUMBERS // (self.inputs + self.outputs))
        for start in range(0, self.rows, each):
            rows = min(each, self.rows - start)
            z = self._consecutive(start, rows, self.device)
            yield slice(start, start + rows), z[:, : self.inputs], z[:, self.inputs : -1]

    def rows_at(self, index: Tensor, dtype: torch.dtype, in_step: bool = False, seeds: Seeds | None = None) -> Tensor:
        """seeds: of other networks' data, [C] for C rows of indices."""
        x_seed, noise_seed = self.seeds_on(index.device) if seeds is None else seeds
        kind = self.inputs, self.outputs, self.noise_std
        compiled = in_step and rows_are_compiled()
        make = _fused(*kind, index.device, index.shape) if compiled else Maker(*kind).made_in_blocks
        return make(x_seed, noise_seed, index).to(dtype)

    def run(self, start: int, size: int, device: torch.device, dtype: torch.dtype) -> Tensor:
        first = min(size, self.rows - start)
        parts = [self._consecutive(start, first, device)]
        while first < size:
            parts.append(self._consecutive(0, min(size - first, self.rows), device))
            first += len(parts[-1])
        return (parts[0] if len(parts) == 1 else torch.cat(parts)).to(dtype)

    def _consecutive(self, start: int, count: int, device: torch.device) -> Tensor:
        if device.type != "cpu":
            return self.rows_at(torch.arange(start, start + count, device=device), torch.float32)
        z = torch.empty(count, self.inputs + self.outputs + 1, **SINGLE)
        to_x, to_noise = z[:, : self.inputs], z[:, self.inputs : -1]
        torch.add(_numbers(fill_uniforms, self.seeds[0], start, count, self.inputs), -0.5, out=to_x).mul_(
            2 * INPUT_RANGE
        )
        torch.mul(_numbers(_fill_normals, self.seeds[1], start, count, self.outputs), self.noise_std, out=to_noise)
        torch.linalg.vecdot(to_noise, to_noise, out=z[:, -1])
        return z


def data_of(inputs: int, outputs: int, n: Any, noise_std: Any, seed: Any, virtual: Any) -> LinearData:
    """The data of a network, checked, of which nothing is made yet; ValueError for what cannot be."""
    samples = whole("n", n, 3, 10**15)
    noise = number("noise_std", noise_std)
    if noise < 0:
        raise ValueError(f"noise_std is {noise:g}; it is a standard deviation and must be at least 0.")
    kind = VirtualData if truth("virtual", virtual) else LinearData
    return kind(inputs, outputs, samples, noise, whole("seed", seed, 0, 2**63 - 1))


@dataclass(frozen=True)
class Maker:
    """Rows of data of one kind, written in torch."""

    inputs: int
    outputs: int
    noise_std: float

    def made(self, x_seed: Tensor, noise_seed: Tensor, row: Tensor) -> Tensor:
        """Rows (x, noise, |noise|²) number `row` [C, …] of the streams of C seeds, or of one."""
        seed = [one.view(-1, *[1] * row.dim()) for one in (x_seed, noise_seed)]
        columns = torch.arange(max(self.inputs, self.outputs), device=row.device)
        place = row.unsqueeze(-1)
        unit = uniforms_at(seed[0], place * self.inputs + columns[: self.inputs], torch.float32)
        noise = normals_at(seed[1], place * self.outputs + columns[: self.outputs], torch.float32) * self.noise_std
        return torch.cat([(unit - 0.5) * (2 * INPUT_RANGE), noise, noise.square().sum(dim=-1, keepdim=True)], dim=-1)

    def made_in_blocks(self, x_seed: Tensor, noise_seed: Tensor, row: Tensor) -> Tensor:
        """The same. Intermediate results take a dozen times the memory of the result."""
        each = max(1, LEARNT_NUMBERS * len(row) // max(1, row.numel() * (self.inputs + self.outputs)))
        if len(x_seed) == 1:
            x_seed, noise_seed = x_seed.expand(len(row)), noise_seed.expand(len(row))
        parts = zip(x_seed.split(each), noise_seed.split(each), row.split(each), strict=True)
        made = [self.made(*part) for part in parts]
        return made[0] if len(made) == 1 else torch.cat(made)


@lru_cache(maxsize=64)
def _fused(
    inputs: int, outputs: int, noise_std: float, device: torch.device, shape: torch.Size
) -> Callable[..., Tensor]:
    """`Maker.made` compiled for one shape: networks of one kind share it."""
    maker = Maker(inputs, outputs, noise_std)
    return CompiledIfPossible("What makes rows", maker.made, maker.made_in_blocks)


def _fill_normals(out: Tensor, seed: int, start: int) -> Tensor:
    return fill(out, seed, 0, 0, start=start)


def _numbers(filling: Callable[[Tensor, int, int], Tensor], seed: int, start: int, count: int, width: int) -> Tensor:
    """The numbers of rows start … start + count − 1, [count, width]; the loops begin at a multiple of GROUP."""
    begin, end = start * width // GROUP * GROUP, (start + count) * width
    return filling(torch.empty(end - begin, **SINGLE), seed, begin)[start * width - begin :].view(count, width)
