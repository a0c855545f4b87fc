"""SGHMC in the order in which stochastic gradient descent with momentum goes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from llc_core.samplers.sghmc import SGHMC
from llc_core.types import Energy, Hp, State


@dataclass(frozen=True)
class MomentumFirst(SGHMC):
    """p ← (1 − α)p − ε∇U(w) + √(2αε)·N(0, 1), then w ← w + p with the new p; the state keeps p itself.

    Without noise these are the steps of torch's SGD with momentum 1 − α, and as long ones are stable as there: `SGHMC`, whose w moves by
    the old p, stays stable below ε·curvature = α alone. Distribution: exp(−U) as ε → 0.
    Source: Deng, Liang, Hao, Lin & Liang 2022, released code.
    """

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "momentum": hp.step_size.sqrt() * noise}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        kept = (1 - hp.friction) * state["momentum"]
        kicked = (2 * hp.friction * hp.step_size).sqrt() * noise[0]
        momentum = torch.addcmul(kept + kicked, energy.force, -hp.step_size)
        return {"delta": state["delta"] + momentum, "momentum": momentum}
