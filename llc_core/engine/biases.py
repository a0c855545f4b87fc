"""What is expected to be in λ̂ beside the answer and chance: minibatch noise, the step's size, rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from llc_core.engine.stepping.chain_by_chain import ByChain
from llc_core.engine.target import Target
from llc_core.potentials.base import Batch
from llc_core.samplers import Sampler
from llc_core.types import Hp, State


@dataclass(frozen=True)
class Added:
    """Of every chain, [C]; 0 where it is not known.

    noise, step: what minibatch noise and the step's size are expected to add to λ̂, to first order in step_size.
    rounding: how far nβ·ΔL is off where the chain is now, by the precision it is evaluated in.
    """

    noise: np.ndarray
    step: np.ndarray
    rounding: np.ndarray

    @classmethod
    def nothing(cls, count: int) -> Added:
        return cls(*np.zeros((3, count)))


def measure(
    target: Target,
    sampler: Sampler,
    state: State,
    hp: Hp,
    draw: Callable[[], Batch] | None,
    by_chain: ByChain | None,
) -> Added:
    """draw: makes a new batch; None: the chains see all data."""
    noise = None if draw is None else _noise(target, sampler, state, hp, draw, by_chain)
    parts = noise, _step(target, sampler, state, hp, by_chain), _rounding(target, state)
    count = len(state["delta"])
    return Added(*(np.zeros(count) if part is None else part.squeeze(1).double().cpu().numpy() for part in parts))


def _noise(
    target: Target, sampler: Sampler, state: State, hp: Hp, draw: Callable[[], Batch], by_chain: ByChain | None
) -> Tensor | None:
    factor = sampler.noise_factor(hp)
    if factor is None:
        return None
    if by_chain is not None:
        return factor * by_chain.noise_square(state, hp, draw)
    grads = [target.evaluate(state["delta"], draw()).force for _ in range(2)]
    square = (grads[0] - grads[1]).square_()
    metric = sampler.metric(state, hp)
    if metric is not None:
        square = square * metric
    return factor * (square.sum(dim=1, keepdim=True) / 2)


def _step(target: Target, sampler: Sampler, state: State, hp: Hp, by_chain: ByChain | None) -> Tensor | None:
    factor = sampler.step_bias_factor(hp)
    if factor is None:
        return None
    if by_chain is not None:
        return factor * by_chain.loss_force(state, hp)
    energy = target.evaluate(state["delta"], None)
    assert energy.pulled_force is None, "samplers with such a bias move in the coordinates of w"
    square = energy.force * (energy.n_beta * energy.loss_grad)
    metric = sampler.metric(state, hp)
    return factor * (square if metric is None else square * metric).sum(dim=1, keepdim=True)


def _rounding(target: Target, state: State) -> Tensor | None:
    error = target.potential.rounding(target.delta(state["delta"]))
    return None if error is None else target.n_beta.double() * error.unsqueeze(1)
