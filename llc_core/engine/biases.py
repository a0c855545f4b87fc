"""What is expected to be in λ̂ beside the answer and chance: minibatch noise, the step's size, rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from llc_core.engine.stepping.base import Stepper
from llc_core.potentials.base import Batch
from llc_core.types import Hp, State


@dataclass(frozen=True)
class Biases:
    """Of every chain, [C]; 0 where it is not known.

    noise, step: what minibatch noise and the step's size are expected to add to λ̂, to first order in step_size.
    rounding: how far nβ·ΔL is off where the chain is now, by the precision it is evaluated in.
    """

    noise: np.ndarray
    step: np.ndarray
    rounding: np.ndarray

    @classmethod
    def nothing(cls, chains: int) -> Biases:
        return cls(*np.zeros((3, chains)))


def measure(stepper: Stepper, state: State, hp: Hp, draw: Callable[[], Batch] | None) -> Biases:
    """The biases where the chains are now. draw: makes a new batch; None: the chains see all data."""
    sampler, target = stepper.sampler, stepper.target
    noise = step = rounding = None
    factor = None if draw is None else sampler.noise_factor(hp)
    if draw is not None and factor is not None:
        noise = factor * stepper.gradient_variance(state, hp, draw)
    factor = sampler.step_bias_factor(hp)
    if factor is not None:
        step = factor * stepper.loss_times_force(state, hp)
    error = target.potential.rounding(target.delta(state["delta"]))
    if error is not None:
        rounding = target.n_beta.double() * error.unsqueeze(1)
    return Biases(*(_per_chain(part, len(state["delta"])) for part in (noise, step, rounding)))


def _per_chain(values: Tensor | None, chains: int) -> np.ndarray:
    return np.zeros(chains) if values is None else values.squeeze(1).double().cpu().numpy()
