"""One step taken apart: what it would have been without noise, and what the noise added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.engine.stepping.all_chains import AllChains
from llc_core.engine.stepping.base import Stepper
from llc_core.engine.stepping.metropolis import Metropolis
from llc_core.types import Energy, Hp, State


@dataclass(frozen=True)
class StepParts:
    """One step of every chain. All in the coordinates of the parameters, [C, D].

    start: w − w0 before the step.  drift: where the step leads if no noise is drawn; it holds the gradient's pull, and the
    momentum of samplers that have one.  noise: what the noise adds.  The chain proposes start + drift + noise.
    accepted: [C], whether it went there; False only for samplers with a Metropolis test.
    """

    start: np.ndarray
    drift: np.ndarray
    noise: np.ndarray
    accepted: np.ndarray


class _Seen:
    """Stands for a sampler during one step, and keeps what it was called with, and the last place that it looked at."""

    def __init__(self, sampler: Any):
        self._sampler = sampler
        self.arguments: tuple[Any, ...] = ()
        self.proposal = torch.empty(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sampler, name)

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        self.arguments = _copied(state), energy, noise.clone(), hp
        after: State = self._sampler.update(state, energy, noise, hp)
        return after

    def step(
        self, state: State, energy: Energy, evaluate: Callable[[Tensor], Energy], noise: Tensor, *others: Any
    ) -> tuple[State, Energy]:
        self.arguments = _copied(state), energy, evaluate, noise.clone(), others

        def look(place: Tensor) -> Energy:
            self.proposal = place.clone()
            return evaluate(place)

        done: tuple[State, Energy] = self._sampler.step(state, energy, look, noise, *others)
        return done


def dissect(stepper: Stepper, step: Callable[[], Tensor]) -> StepParts | None:
    """Let `step` do one step of `stepper`, and say what it was made of.

    step: returns the chains' places after it, in the sampler's coordinates.  None for chains that are not moved by an update
    with noise (exact draws, chains that interact) and where update and noise are one compiled loop.
    """
    if isinstance(stepper, Metropolis):
        return _rejecting(stepper, step)
    if isinstance(stepper, AllChains) and stepper.compiled is None:
        return _plain(stepper, step)
    step()
    return None


def _plain(stepper: AllChains, step: Callable[[], Tensor]) -> StepParts:
    own, seen = stepper.sampler, _Seen(stepper.sampler)
    stepper.sampler = seen  # type: ignore[assignment]
    try:
        after = step()
    finally:
        stepper.sampler = own
    state, energy, noise, hp = seen.arguments
    still = own.update(state, energy, torch.zeros_like(noise), hp)["delta"]
    return _parts(stepper, state["delta"], still, after, torch.ones(len(after), dtype=torch.bool))


def _rejecting(stepper: Metropolis, step: Callable[[], Tensor]) -> StepParts:
    """A sampler with a test looks last at the place that it proposes."""
    own, seen = stepper.metropolis, _Seen(stepper.metropolis)
    stepper.metropolis = seen  # type: ignore[assignment]
    try:
        after = step()
    finally:
        stepper.metropolis = own
    state, energy, evaluate, noise, others = seen.arguments
    still = _Seen(own)
    still.step(state, energy, evaluate, torch.zeros_like(noise), *others)
    accepted = (after != state["delta"]).any(dim=1)
    return _parts(stepper, state["delta"], still.proposal, seen.proposal, accepted)


def _parts(stepper: Stepper, start: Tensor, still: Tensor, end: Tensor, accepted: Tensor) -> StepParts:
    def placed(z: Tensor) -> np.ndarray:
        return stepper.target.delta(z).double().cpu().numpy()

    a, b, c = placed(start), placed(still), placed(end)
    return StepParts(a.copy(), b - a, c - b, accepted.cpu().numpy())


def _copied(state: State) -> State:
    return {name: value.clone() for name, value in state.items()}
