"""Deep linear networks of one shape side by side: the chains of all are one batch, because those of one small network are too few
to fill a device."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from llc_core.compute.precision import lasting
from llc_core.potentials.base import Batch, Factors
from llc_core.potentials.deep_linear.data import fill_tables, tables
from llc_core.potentials.deep_linear.evaluation import LinearPotential
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.deep_linear.tensors import STACKED_BELOW, Tensors
from llc_core.potentials.deep_linear.virtual_data import VirtualData

KEPT = 4
"""Tensors are kept for this many runs with different numbers of chains. A recorded step (`llc_core.engine.stepping.recorded`)
needs its tensors as long as it lives, so that no more recorded runs than these may share a family."""


class DeepLinearFamily(LinearPotential):
    """Several `DeepLinearNetwork`s with the same widths, n, noise_std and kind of data: chain c of C is of network c // (C / problems).

    A run on it gives one estimate for each network and setting. Every network has its own data, its own automatic step
    sizes and its own adapted coordinates. What they share are the calls that start a step.

    Raises ValueError for networks that do not go together.
    """

    kind = "dln_family"

    def __init__(self, networks: Sequence[DeepLinearNetwork]):
        if isinstance(networks, str | DeepLinearNetwork) or not hasattr(networks, "__iter__"):
            raise ValueError(f"networks is a {type(networks).__name__}; give a list of DeepLinearNetwork objects.")
        self.networks = tuple(networks)
        if not self.networks:
            raise ValueError("networks is empty; give at least one DeepLinearNetwork.")
        first = self.networks[0]
        for index, network in enumerate(self.networks):
            if not isinstance(network, DeepLinearNetwork):
                raise ValueError(f"networks[{index}] is a {type(network).__name__}; give DeepLinearNetwork objects.")
            for name in ("widths", "n", "noise_std", "virtual"):
                mine, wanted = getattr(network, name), getattr(first, name)
                if mine != wanted:
                    raise ValueError(
                        f"networks[{index}].{name} is {mine} where that of the first is {wanted}; it must be the same."
                    )
        self.problems = len(self.networks)
        self.widths, self.dim, self.n, self.noise_std = first.widths, first.dim, first.n, first.noise_std
        self._on: dict[tuple[str, torch.dtype, int], Tensors] = {}
        self.virtual = first.virtual
        self._pools: dict[tuple[str, torch.dtype], Tensor] = {}
        self._kept: dict[tuple[str, torch.dtype, int], KeptOfFamily | None] = {}
        self._seeds: dict[str, tuple[Tensor, ...]] = {}

    @property
    def samples(self) -> int:  # type: ignore[override]
        return self.networks[0].samples

    def member(self, index: int) -> DeepLinearNetwork:
        return self.networks[index]

    def prepare(self, like: Tensor) -> None:
        for network in self.networks:
            network.prepare(like)
        self.spreads_chains = self.networks[0].spreads_chains

    def _tensors(self, like: Tensor) -> Tensors:
        key = (str(like.device), like.dtype, len(like))
        if key not in self._on:
            if len(self._on) >= KEPT:  # another number of chains is another run
                del self._on[next(iter(self._on))]
            with lasting():
                self._on[key] = Tensors(self.networks, like.device, like.dtype, len(like) // self.problems)
        return self._on[key]

    def _apart(self, like: Tensor) -> bool:
        """Whether each network is evaluated by itself: one chain of a wide network fills a core, and its own evaluation is faster."""
        return like.device.type == "cpu" and max(self.widths) >= STACKED_BELOW

    def _each(self, count: int, work: Callable[[DeepLinearNetwork, slice], Any]) -> list[Any]:
        """The result of `work` for every network and its rows of `count`."""
        size = count // self.problems
        return [work(network, slice(i * size, (i + 1) * size)) for i, network in enumerate(self.networks)]

    def draw(
        self, generator: torch.Generator, chains: int, batch_size: int, gradient: str, dtype: torch.dtype
    ) -> Batch:
        """chains: of all networks together. See `DeepLinearNetwork.draw`."""
        if generator.device.type != "cpu":
            kept = self._kept_on(generator.device, dtype, batch_size)
            if kept is None:
                return self._draw_together(self._gather(generator, chains, batch_size, dtype), gradient)
            sxx, snx, baseline = kept.draw(generator, chains)
            return Batch({"sxx": sxx} if gradient == "control_variate" else {"sxx": sxx, "snx": snx}, baseline)
        each = chains // self.problems
        parts = [network.draw(generator, each, batch_size, gradient, dtype) for network in self.networks]
        data = {name: torch.cat([part.data[name] for part in parts]) for name in parts[0].data}
        return Batch(data, torch.cat([part.baseline_loss for part in parts]))

    def _kept_on(self, device: torch.device, dtype: torch.dtype, size: int) -> KeptOfFamily | None:
        """The kept batches of all networks; None where they keep none."""
        key = (str(device), dtype, size)
        if key not in self._kept:
            count = self.networks[0].data.kept_count(size, device.type != "cpu")
            with lasting():
                self._kept[key] = KeptOfFamily(self.networks, count, size, device, dtype) if count else None
        return self._kept[key]

    def _gather(self, generator: torch.Generator, chains: int, size: int, dtype: torch.dtype) -> Tensor:
        """`LinearData.gather` for all networks at once."""
        device = generator.device
        rows, owner = self.networks[0].data.rows, _owner(chains, self.problems, device)
        starts = torch.randint(rows, (chains, 1), generator=generator, device=device)
        index = (starts + torch.arange(size, device=device)) % rows
        if self.virtual:
            return self._virtual_rows(index, owner, dtype)
        key = (str(device), dtype)
        if key not in self._pools:
            with lasting():
                self._pools[key] = torch.stack([network.data.pool(device, dtype) for network in self.networks])
            for network in self.networks:
                network.data.forget_rows(device, dtype)
        return self._pools[key][owner.unsqueeze(1), index]

    def _virtual_rows(self, index: Tensor, owner: Tensor, dtype: torch.dtype) -> Tensor:
        """Rows [C, …] of each chain's own network, made in one go."""
        data = [network.data for network in self.networks if isinstance(network.data, VirtualData)]
        key = str(index.device)
        if key not in self._seeds:
            each = zip(*(one.seeds_on(index.device) for one in data), strict=True)
            with lasting():
                self._seeds[key] = tuple(torch.cat(column) for column in each)
        return data[0].rows_at(index, dtype, in_step=True, seeds=tuple(seed[owner] for seed in self._seeds[key]))

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        if not self._apart(delta):
            return super().excess_loss_and_grad(delta, batch)

        def work(network: DeepLinearNetwork, rows: slice) -> tuple[Tensor, Tensor]:
            return network.excess_loss_and_grad(delta[rows], _part(batch, rows, len(delta)))

        losses, grads = zip(*self._each(len(delta), work), strict=True)
        return torch.cat(losses), torch.cat(grads)

    def hvp_on(self, delta: Tensor, batch: Batch | None, vector: Tensor) -> Tensor:
        if not self._apart(delta):
            return super().hvp_on(delta, batch, vector)

        def work(network: DeepLinearNetwork, rows: slice) -> Tensor:
            return network.hvp_on(delta[rows], _part(batch, rows, len(delta)), vector[rows])

        return torch.cat(self._each(len(delta), work))

    def kronecker_factors(self, delta: Tensor) -> list[Factors]:
        if not self._apart(delta):
            return super().kronecker_factors(delta)
        found = self._each(len(delta), lambda network, rows: network.kronecker_factors(delta[rows]))
        return [
            (torch.cat([b for b, _ in layer]), torch.cat([a for _, a in layer])) for layer in zip(*found, strict=True)
        ]

    def per_sample_loss(self, delta: Tensor, start: int, stop: int) -> Tensor:
        return torch.cat(
            self._each(len(delta), lambda network, rows: network.per_sample_loss(delta[rows], start, stop))
        )

    def typical_scale(self, like: Tensor) -> Tensor:
        return self.networks[0].typical_scale(like)

    def to_dict(self) -> dict[str, Any]:
        members = [network.to_dict() for network in self.networks]
        if all(member["kind"] == "dln" for member in members):
            return {"kind": self.kind, "networks": members}
        return {"kind": "object", "fingerprint": hashlib.sha256(repr(members).encode()).hexdigest()[:32]}

    def __repr__(self) -> str:
        return f"DeepLinearFamily({self.problems} networks, widths={self.widths}, dim={self.dim})"


def _part(batch: Batch | None, rows: slice, count: int) -> Batch | None:
    """The batches of some chains of `count`."""
    if batch is None:
        return None
    size = count // len(batch.baseline_loss)
    mine = slice(rows.start // size, rows.stop // size)
    return Batch({name: data[mine] for name, data in batch.data.items()}, batch.baseline_loss[mine])


def _owner(chains: int, problems: int, device: torch.device) -> Tensor:
    """The number of each chain's network."""
    return torch.arange(chains, device=device).div_(chains // problems, rounding_mode="floor")


class KeptOfFamily:
    """`KeptBatches` of several networks, on a GPU: a draw is one look-up in each table.

    It holds no reference to the family, so that its memory is freed together with the family.
    """

    def __init__(
        self, networks: Sequence[DeepLinearNetwork], count: int, size: int, device: torch.device, dtype: torch.dtype
    ):
        self.problems, self.count = len(networks), count
        self.sxx, self.snx, self.baseline = tables(networks[0].data, count * len(networks), device, dtype)
        for index, network in enumerate(networks):
            mine = slice(index * count, (index + 1) * count)
            fill_tables(network.data, size, self.sxx[mine], self.snx[mine], self.baseline[mine])

    def draw(self, generator: torch.Generator, chains: int) -> tuple[Tensor, Tensor, Tensor]:
        """As `KeptBatches.draw`, each chain from its own network's batches."""
        places = torch.randint(self.count, (chains,), generator=generator, device=generator.device)
        places = places + self.count * _owner(chains, self.problems, generator.device)
        return self.sxx[places], self.snx[places], self.baseline[places]
