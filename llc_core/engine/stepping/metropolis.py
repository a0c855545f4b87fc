"""Samplers that evaluate the energy themselves and may reject."""

from __future__ import annotations

import torch

from llc_core.engine.stepping.base import Step, Stepper, Watch
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.noise import Noise
from llc_core.engine.target import Target
from llc_core.samplers.base import MetropolisSampler
from llc_core.types import Energy, Hp, State


class Metropolis(Stepper):
    """Steps of a `MetropolisSampler`, on all data. The energy after a step is kept for the next.

    random: uniform numbers for the tests.
    """

    def __init__(
        self, target: Target, sampler: MetropolisSampler, batches: Batches, noise: Noise, random: torch.Generator
    ):
        super().__init__(target, sampler, batches, noise)
        self.metropolis, self.random = sampler, random
        self._known: tuple[State, Energy] | None = None

    def step(self, state: State, hp: Hp, step: int, watch: Watch | None) -> Step:
        # Chains that were started again, and new coordinates, come as another state: its energy is not known.
        known = self._known is not None and self._known[0] is state
        energy = self._known[1] if self._known is not None and known else self.evaluate(state["delta"], None)
        delta, weights = state["delta"], self.weights(state, hp)
        uniform = torch.rand(len(delta), 1, generator=self.random, dtype=delta.dtype, device=delta.device)
        state, after = self.metropolis.step(
            state,
            energy,
            lambda delta: self.evaluate(delta, None),
            self.noise.normals(self.sampler.noises, step),
            1 - uniform,
            hp,
        )
        self._known = state, after
        if watch is not None:
            watch.places(energy.delta, weights)
            watch.energy(energy)
        return Step(state, energy.excess_loss, None, weights)
