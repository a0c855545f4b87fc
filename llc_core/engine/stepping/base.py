"""What moves the chains of a run: the contract, and what is the same wherever the states of all chains are held together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from llc_core.engine.curvature import Curvature
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.bursts import Bursts
from llc_core.engine.stepping.noise import START, Noise
from llc_core.engine.target import Target
from llc_core.potentials.base import Batch
from llc_core.samplers.base import Sampler
from llc_core.types import Energy, Hp, State


class Step(NamedTuple):
    """One step of all chains.

    state: after it.  loss: ΔL [C] before it.  baseline: L_m(w0) [b] of the batches it saw; None: it saw all data.
    weights: [C] what the states before it weigh in averages; None: all the same.
    """

    state: State
    loss: Tensor
    baseline: Tensor | None
    weights: Tensor | None = None


class Watch(Protocol):
    """Is shown what chains see before they move."""

    def places(self, delta: Tensor, weights: Tensor | None) -> None:
        """w − w0 of all chains, [C, D], and what they weigh in averages, [C]; None: all the same."""

    def energy(self, energy: Energy, rows: slice = slice(None)) -> None:
        """The energy of the chains `rows`; after `places`."""


class Stepper(ABC):
    """Moves the chains, and answers what depends on how their states are held.

    This class holds the states of all chains together, and every step makes new tensors; others say what they do instead.
    """

    in_place = False
    """Whether a step changes the tensors of the state, so that who keeps a state must copy it."""
    largest_heat = 1.0
    """By what the force of chains that interact is multiplied at most."""

    def __init__(self, target: Target, sampler: Sampler, batches: Batches, noise: Noise):
        self.target, self.sampler, self.batches, self.noise = target, sampler, batches, noise
        self._home: Tensor | None = None

    @abstractmethod
    def step(self, state: State, hp: Hp, step: int, watch: Watch | None) -> Step:
        """Step number `step`, counted from 0. watch: None where nobody looks at this step."""

    def start(self, home: Tensor, hp: Hp) -> State:
        """The sampler's state at the start δ [C, D], which the stepper may keep or change."""
        self._home = home
        state: State = self.sampler.init(
            self.target.position(home).clone(), self.noise.normals(1, START)[0].clone(), hp
        )
        return state

    def evaluate(self, z: Tensor, batch: Batch | None) -> Energy:
        return self.target.evaluate(z, batch, self.batches.for_metric(), self.batches.probe, self.batches.hvp)

    def weights(self, state: State, hp: Hp) -> Tensor | None:
        """What each chain's state weighs in averages, [C]; None: all the same."""
        weights = self.sampler.weights(state, hp)
        return None if weights is None else weights.clone()  # it may be a part of a state that is changed in place

    def report(self) -> Mapping[str, np.ndarray]:
        """What a snapshot shows of how the chains interact, by name."""
        return {}

    # -- states that are kept -----------------------------------------------------------------------------------------

    def copy(self, state: State) -> State:
        """A state that later steps leave alone."""
        return {name: value.clone() for name, value in state.items()} if self.in_place else dict(state)

    def save(self, state: State) -> State | None:
        """A state to start again from; None where there is no memory for one."""
        return {name: value.clone() for name, value in state.items()}

    def restart(self, state: State, again: Tensor, lost: Tensor, saved: State | None, first: State | None) -> State:
        """`state` with the chains `again` at `saved`, and those that are also `lost` at `first`, at rest; both [C, 1]."""
        assert saved is not None and first is not None
        result = {}
        for name, value in state.items():
            back, begin = saved[name], first[name]
            if name == "momentum":
                back = torch.zeros_like(back)
            if name == "delta" and self.target.coordinates is not None:
                assert self._home is not None
                begin = self.target.position(self._home)  # it may have been saved in other coordinates
            result[name] = torch.where(_like(again, value), torch.where(_like(lost, value), begin, back), value)
        return result

    def park_dead(self, state: State, loss: Tensor) -> State:
        """Put chains that are no longer finite back to the start. They are out of every result, and nan slows some devices.

        loss: ΔL [C] before the last step. Chains whose loss is still finite are left alone: otherwise a chain that dies in
        this step is reset before it is counted dead.
        """
        finite = torch.isfinite(state["delta"]).all(dim=1) | torch.isfinite(loss)
        if bool(finite.all()):
            return state
        assert self._home is not None
        parked = {name: torch.zeros_like(value) for name, value in state.items()}
        parked["delta"] = self.target.position(self._home)
        return {name: torch.where(_like(finite, value), value, parked[name]) for name, value in state.items()}

    # -- bursts -------------------------------------------------------------------------------------------------------

    guard: Bursts | None = None
    """Puts chains back that an automatic step threw out; None: nobody does."""

    @property
    def bursts(self) -> np.ndarray:
        """How often each chain was put back after a burst, [C]."""
        return np.zeros(len(self.target.n_beta), dtype=int) if self.guard is None else self.guard.count

    def count_bursts_from(self, step: int) -> None:
        """Count them anew from this step on."""
        if self.guard is not None:
            self.guard.count_from(step)

    # -- looks at the target ------------------------------------------------------------------------------------------

    def curvature(self, random: torch.Generator) -> Curvature:
        """What measures the curvature at the chains. random: for its directions."""
        return Curvature(self.target, self.sampler, random)

    def gradient_variance(self, state: State, hp: Hp, draw: Callable[[], Batch]) -> Tensor:
        """Σ over parameters of G·Var(nβ·gradient) between batches, [C, 1], from one pair of batches."""
        grads = [self.target.evaluate(state["delta"], draw()).force for _ in range(2)]
        square = (grads[0] - grads[1]).square_()
        metric = self.sampler.metric(state, hp)
        if metric is not None:
            square = square * metric
        return square.sum(dim=1, keepdim=True) / 2

    def beyond(self, state: State, draw: Callable[[], Batch], limit: Tensor) -> Tensor:
        """Share of the parameters whose |∂U/∂wᵢ| on a batch exceeds `limit`, [C, 1]."""
        force = self.target.evaluate(state["delta"], draw()).force
        return (force.abs() > limit).double().mean(dim=1, keepdim=True)

    def loss_times_force(self, state: State, hp: Hp) -> Tensor:
        """nβ∇Lᵀ G ∇U of every chain, [C, 1]."""
        energy = self.target.evaluate(state["delta"], None)
        assert energy.pulled_force is None, "samplers with such a bias move in the coordinates of w"
        square = energy.force * (energy.n_beta * energy.loss_grad)
        metric = self.sampler.metric(state, hp)
        return (square if metric is None else square * metric).sum(dim=1, keepdim=True)


def _like(rows: Tensor, value: Tensor) -> Tensor:
    """rows [C] or [C, 1] with as many dimensions as `value` [C, …]."""
    return rows.view(-1, *[1] * (value.dim() - 1))
