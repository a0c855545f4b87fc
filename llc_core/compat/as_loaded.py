"""A network whose batches come as a DataLoader gives them, with the weight decay of an optimizer."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

from llc_core.potentials.base import Batch
from llc_core.potentials.module.network import NetworkPotential


def in_epochs(loader: Any) -> bool:
    """Whether every row is given once before any comes again."""
    return isinstance(loader, DataLoader) and not (
        isinstance(loader.sampler, RandomSampler) and loader.sampler.replacement
    )


def in_order(loader: Any) -> Any:
    """The same rows, those of the last, smaller batch too, in the order of the data: the seed of the run alone then decides."""
    if not isinstance(loader, DataLoader) or type(loader.sampler) not in (RandomSampler, SequentialSampler):
        return loader
    return DataLoader(loader.dataset, loader.batch_size, collate_fn=loader.collate_fn, num_workers=loader.num_workers)


class AsLoaded(NetworkPotential):
    """decay: precision of a Gaussian prior around 0.  epochs: whether batches are drawn without replacement, epoch by epoch.

    Within an epoch a chain meets rows that it has not yet fitted, so that the mean loss of its batches is a little higher than with
    batches that are drawn anew each time (by 2 to 3% of λ̂ on the classifier of `lab.benchmarks.peers.drop_in`). What is to be comparable
    must do the same. The rows, shuffled once, are cut from a place that is random in each epoch; each chain goes through the cuts in
    a random order of its own. Rows that are left over where the size of a batch does not divide n wait for the next epoch.
    """

    def __init__(self, *given: Any, decay: float, epochs: bool, **more: Any):
        super().__init__(*given, **more)
        self.decay, self.epochs = decay, epochs
        self._starts, self._next = torch.empty(0, 0), 0

    def draw(
        self, generator: torch.Generator, chains: int, batch_size: int, gradient: str, dtype: torch.dtype
    ) -> Batch:
        """As `NetworkPotential.draw`, in the order in which it is called: it takes the next cut of each chain's epoch."""
        if not self.epochs:
            return super().draw(generator, chains, batch_size, gradient, dtype)
        device, cuts = generator.device, self.samples // batch_size
        if self._starts.shape != (chains, cuts) or self._next == cuts:
            order = torch.rand(chains, cuts, generator=generator, device=device).argsort(1)
            offsets = torch.randint(self.samples, (chains, 1), generator=generator, device=device)
            self._starts, self._next = order * batch_size + offsets, 0
        starts = self._starts[:, self._next]
        self._next += 1
        places = (starts[:, None] + torch.arange(batch_size, device=device)) % self.samples
        base = self._place(torch.empty(0, dtype=dtype, device=device)).base
        return Batch({"places": places}, base[places].mean(1))

    def prior_energy_and_grad(self, delta: Tensor) -> tuple[Tensor, Tensor] | None:
        if self.decay == 0:
            return None
        place = delta + self.origin(delta)
        return self.decay / 2 * place.square().sum(1), self.decay * place

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "weight_decay": self.decay, "epochs": self.epochs}
