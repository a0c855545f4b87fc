"""Chains that interact, and chains within walls: evaluate, exchange, heat, update."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.engine.stepping.base import Step, Stepper, Watch
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.noise import Noise
from llc_core.engine.target import Target
from llc_core.interactions import Interaction, Layout, Seen, Shared
from llc_core.samplers.base import Sampler
from llc_core.types import Energy, Hp, State


class Interacting(Stepper):
    """Steps of all chains at once, of which groups share, swap or push (`llc_core.interactions`).

    interaction: None where chains only have walls.  random: uniform numbers for swaps, as many at every step.
    A step that would leave the potential's walls is not taken, and its momentum turns round.
    """

    def __init__(
        self,
        target: Target,
        sampler: Sampler,
        batches: Batches,
        noise: Noise,
        interaction: Interaction | None,
        layout: Layout,
        random: torch.Generator,
    ):
        super().__init__(target, sampler, batches, noise)
        self.interaction, self.layout, self.random = interaction, layout, random
        self.largest_heat = 1.0 if interaction is None else interaction.largest_heat() or 1.0
        self.shared: Shared = {} if interaction is None else interaction.init(layout)

    def start(self, home: Tensor, hp: Hp) -> State:
        state = super().start(home, hp)
        spread = getattr(self.interaction, "spread", 0.0)
        if spread:
            own = torch.randn(home.shape, generator=self.random, dtype=home.dtype, device=home.device)
            state["delta"] = state["delta"] + spread * own
        return state

    def step(self, state: State, hp: Hp, step: int, watch: Watch | None) -> Step:
        batch = self.batches.draw()
        energy = self.evaluate(state["delta"].detach(), batch)
        weights = self.weights(state, hp)
        noise = self.noise.normals(self.sampler.noises, step)
        seen_by_sampler = energy
        if self.interaction is not None:
            order, weights = self._exchange(energy, step, weights)
            if order is not None:
                state = {**state, "delta": state["delta"][order]}
                energy = permuted(energy, order)
            seen_by_sampler = self._heated(energy)
            hp, noise = self._paced(hp, noise, step)
        if watch is not None:
            watch.places(energy.delta, weights)
            watch.energy(energy)
        moved = self.sampler.update(state, seen_by_sampler, noise, hp)
        baseline = None if batch is None else batch.baseline_loss
        return Step(self._within(state, moved), energy.excess_loss, baseline, weights)

    def report(self) -> Mapping[str, np.ndarray]:
        if self.interaction is None:
            return {}
        return {name: value.double().cpu().numpy() for name, value in self.interaction.report(self.shared).items()}

    def uniforms(self, loss: Tensor) -> Tensor:
        """In (0, 1], one number for every chain at every step, so that numbers do not depend on who swaps."""
        return 1 - torch.rand(len(loss), generator=self.random, dtype=torch.float64, device=loss.device)

    def _exchange(self, energy: Energy, step: int, own: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        """The new order of the rows, and the weights of the states after it."""
        assert self.interaction is not None
        layout, loss = self.layout, energy.excess_loss.double()
        alive = torch.isfinite(loss)
        loss = torch.where(alive, loss, torch.zeros_like(loss))
        uniform = self.uniforms(loss)
        grouped = layout.gather(loss)
        seen = Seen(step, grouped, layout.n_beta * grouped, layout.gather(alive), layout.gather(uniform))
        self.shared, moves = self.interaction.exchange(self.shared, seen, layout)
        log_weight = self.interaction.log_weight(step, self.shared, layout)
        if log_weight is not None:
            weight = layout.scatter(log_weight).exp()
            own = weight if own is None else own * weight
        order = None if moves is None else layout.scatter(layout.index.gather(1, moves))
        return order, own

    def _heated(self, energy: Energy) -> Energy:
        """What the sampler sees: nβ times the heat, or the force of all."""
        assert self.interaction is not None
        if self.interaction.reads == "states":
            force = self.interaction.force(self.layout.gather(energy.delta), self.layout.gather(energy.force))
            return energy if force is None else dataclasses.replace(energy, pulled_force=self.layout.scatter(force))
        heat = self.interaction.heat(self.shared, self.layout)
        if heat is None:
            return energy
        return dataclasses.replace(
            energy, n_beta=energy.n_beta * self.layout.scatter(heat).unsqueeze(1).to(energy.n_beta)
        )

    def _paced(self, hp: Hp, noise: Tensor, step: int) -> tuple[Hp, Tensor]:
        assert self.interaction is not None
        size, temperature = (self._column(each, noise) for each in self.interaction.pace(step, self.layout))
        if not isinstance(size, float) or size != 1:
            hp = Hp(**{**vars(hp), "step_size": hp.step_size * size})
        if not isinstance(temperature, float) or temperature != 1:
            noise = noise * temperature**0.5
        return hp, noise

    def _column(self, value: Tensor | float, like: Tensor) -> Tensor | float:
        return self.layout.scatter(value).unsqueeze(1).to(like) if isinstance(value, Tensor) else float(value)

    def _within(self, before: State, after: State) -> State:
        inside = self.target.potential.inside(after["delta"])
        if inside is None:
            return after
        # A place that is not a number is no place outside: such a chain is dead, and counted as that.
        stays = (~inside & torch.isfinite(after["delta"]).all(dim=1)).unsqueeze(1)
        kept = {**after, "delta": torch.where(stays, before["delta"], after["delta"])}
        if "momentum" in after:
            kept["momentum"] = torch.where(stays, -after["momentum"], after["momentum"])
        return kept


def permuted(energy: Energy, order: Tensor) -> Energy:
    """The energy of the same places in another order of the rows; nβ and γ belong to the rows and stay."""
    names = ("excess_loss", "loss_grad", "delta", "metric_grad", "hessian_diagonal", "prior_energy", "prior_grad")
    moved: dict[str, Any] = {name: value[order] for name in names if (value := getattr(energy, name)) is not None}
    if (hvp := energy.hvp) is not None:
        back = order.argsort()
        moved["hvp"] = lambda vector: hvp(vector[back])[order]
    return dataclasses.replace(energy, **moved)
