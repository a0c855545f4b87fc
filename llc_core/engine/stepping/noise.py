"""The standard normals that steps consume. Numbers depend on the shapes and the seed, never on how a run is cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from llc_core.compute.cores import over_chains
from llc_core.compute.philox import fill

NOISE_NUMBERS = 1 << 18
"""Normals drawn at once: few calls for small networks, bounded memory for large ones."""
VIEWS = 64
"""Steps whose normals are cut from a block at once, which takes less time than to cut them one by one."""
START = -1
"""The step number under which normals for the starting state are asked for."""


class Noise(ABC):
    """Normals for `chains` chains of `dim` parameters.  like: a tensor of their device and precision."""

    def __init__(self, chains: int, dim: int, like: Tensor):
        self.chains, self.dim, self.like = chains, dim, like
        self._numbers: Tensor | None = None

    @abstractmethod
    def normals(self, fields: int, step: int) -> Tensor:
        """[fields, C, D] for step number `step`, valid until the next call."""

    def release(self) -> None:
        """Give the memory back; normals may be asked for again."""
        self._numbers = None

    def _reserve(self, *leading: int) -> Tensor:
        self._numbers = self.like.new_empty(*leading, self.chains, self.dim)
        return self._numbers


class NoiseInBlocks(Noise):
    """Cut from blocks of the stream `random`, whose size the shapes alone decide."""

    def __init__(self, chains: int, dim: int, like: Tensor, random: torch.Generator):
        super().__init__(chains, dim, like)
        self.random = random
        self._used = 0
        self._views: Sequence[Tensor] = ()

    def normals(self, fields: int, step: int) -> Tensor:
        numbers = self._numbers
        if numbers is None or numbers.shape[1] != fields:
            steps = max(1, NOISE_NUMBERS // (fields * self.chains * self.dim))
            numbers = self._reserve(steps, fields)
            self._used = steps
        if self._used >= numbers.shape[0]:
            numbers.normal_(generator=self.random)  # in place: fresh memory would cost more than it
            self._used = 0
        place = self._used % VIEWS
        if place == 0:
            self._views = numbers[self._used : self._used + VIEWS].unbind()
        self._used += 1
        return self._views[place]

    def release(self) -> None:
        super().release()
        self._views = ()


class NoiseByPlace(Noise):
    """Those of `llc_core.compute.philox`, which belong to a seed, step, chain and parameter and need no order."""

    def __init__(self, chains: int, dim: int, like: Tensor, seed: int):
        super().__init__(chains, dim, like)
        self.seed = seed

    def normals(self, fields: int, step: int) -> Tensor:
        numbers = self._numbers
        if numbers is None or len(numbers) != fields:
            numbers = self._reserve(fields)
        number = noise_number(step)

        def work(chains: Sequence[int]) -> None:
            for field, rows in enumerate(numbers):
                for chain in chains:
                    fill(rows[chain], self.seed, number, chain, field)

        over_chains(self.chains, work)
        return numbers


def noise_number(step: int) -> int:
    """The number of a step in `llc_core.compute.philox`: 0 belongs to the start, so step 0 has number 1."""
    return step - START
