"""What observables are given: the run they follow, the chains before a step, and the group of chains to read out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llc_core.potentials.base import Potential
from llc_core.samplers.base import Sampler
from llc_core.types import Energy

ROWS = 200_000
"""Chains × samples whose losses are evaluated at once."""


class Moment(NamedTuple):
    """A step of the run.

    step: counted from the end of burn-in, negative within it.
    share: size of the step in units of step_size, which is its weight in averages.
    weights: [C] weights of the chains in averages, beside the share; None: all 1.
    settled: whether a chain whose loss is not finite is dead from now on. While steps are adapted it is started again.
    """

    step: int
    share: float = 1.0
    weights: Tensor | None = None
    settled: bool = True


@dataclass(frozen=True)
class RunShape:
    """The run that an observable is to follow.

    problem: what is sampled.  second: the second potential of the run (`estimate(observable=…)`), if there is one.
    chains: C, those of all settings and problems together.  settings: S.
    dtype: of the states.  wide: of sums, float64 where the device has it.
    samplers: [S], that of each setting; empty where it is not known.
    """

    problem: Potential
    second: Potential | None
    chains: int
    settings: int
    dtype: torch.dtype
    device: torch.device
    samplers: tuple[Sampler, ...] = ()

    @property
    def wide(self) -> torch.dtype:
        return torch.float32 if self.device.type == "mps" else torch.float64

    def sampler_of(self, rows: slice) -> Sampler | None:
        """The sampler of a group's chains, as `Groups.rows` numbers them."""
        return self.samplers[(rows.start or 0) % self.settings] if self.samplers else None

    def zeros(self, *shape: int) -> Tensor:
        """Zeros [*shape] for sums, on the run's device."""
        return torch.zeros(*shape, dtype=self.wide, device=self.device)


@dataclass(frozen=True)
class Look:
    """What an observable is shown before a step. Nothing of it may be changed or kept: copy what is needed longer.

    step: counted from the end of burn-in.
    rows: which chains of the run these are; all of them, or one where chains are stepped one after the other.
    delta: [C', D] displacements w − w0.
    chain_weights: [C'] weights of the chains in averages, float64.  share: weight of this step, the same for all chains.
    """

    step: int
    share: float
    rows: slice
    delta: Tensor
    chain_weights: Tensor
    problem: Potential
    step_energy: Energy | None = None
    alive: Tensor | None = None

    @property
    def weights(self) -> Tensor:
        """[C'] what these states weigh in averages: chain_weights · share."""
        return self.chain_weights * self.share

    @property
    def energy(self) -> Energy:
        """Losses, gradients and nβ of this step. The observable's class must say `needs_energy = True`."""
        assert self.step_energy is not None, "set needs_energy = True in the class of the observable"
        return self.step_energy

    @property
    def losses(self) -> Tensor:
        """[C'] ΔL on the step's batch. The observable's class must say `needs_energy = True`."""
        return self.energy.excess_loss

    @property
    def living(self) -> Tensor:
        """[C'] whether a chain has not died so far. The observable's class must say `needs_living = True`."""
        assert self.alive is not None, "set needs_living = True in the class of the observable"
        return self.alive

    def sample_losses(self) -> Iterator[tuple[slice, Tensor]]:
        """Losses of all single samples (not less those at w0), in parts that bound the memory: (samples, [C', part]).

        The observable's class must say `needs_samples = True`, so that a problem without them is refused.
        """
        each = max(64, ROWS // len(self.delta))
        for start in range(0, self.problem.samples, each):
            stop = min(start + each, self.problem.samples)
            yield slice(start, stop), self.problem.per_sample_loss(self.delta, start, stop)


@dataclass(frozen=True)
class Group:
    """The chains of one problem and setting, for which results are read out.

    rows: their places among the run's chains.  living: [C'] bool; diverged chains are in no result.
    n_beta: nβ.  step_size: in use now; nan where it belongs to other coordinates than w.
    """

    rows: slice
    living: np.ndarray
    n_beta: float
    step_size: float = math.nan
