"""Stochastic gradient lattice random walk: the gradient decides only how likely a step up is, never how long it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from llc_core.samplers.base import SMALL_BIAS, OverdampedSampler, step_size_field
from llc_core.samplers.forms import Line
from llc_core.samplers.registry import register
from llc_core.samplers.sgld import root_of_step
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class SGLRW(OverdampedSampler):
    """wᵢ ← wᵢ ± √ε, upwards with probability ½ − (√ε/4)·∂U/∂wᵢ, kept between 0 and 1.

    Here as wᵢ ← wᵢ + √ε·sign(erf(ξᵢ/√2) − (√ε/2)·∂U/∂wᵢ) with ξ ~ N(0, I): erf(ξ/√2) is uniform on (−1, 1), so that the
    probability is the one above, its limits included. Mean and variance of a step are those of SGLD to first order.

    Distribution: exp(−U) as ε → 0. At step ε, in one dimension, the chain lives on the lattice w + √ε·ℤ, where up and down balance:
    π(w + √ε)/π(w) = P(up at w)/P(down at w + √ε) (`llc_core.stationary.walk`). While |√ε·∂U/∂w| ≤ 2 the variance on a
    quadratic of curvature c is exactly 1/c, and for every U E[w·∇U] is exactly the dimension. The probability is linear in
    the gradient there, so errors of gradients with mean 0 change no coordinate's move, whatever their variance; they only
    make coordinates move together. Beyond it the pull is cut off: noise that reaches it weakens the pull by about the share
    of steps that do, and so widens the distribution. Every second state lies on the same half of the lattice.
    Source: Mensch et al. 2026, arXiv 2602.15925 (binary steps), after Duffield et al. 2025, arXiv 2508.20883. Their δt is
    ε/2, their δx √ε.
    """

    step_size: float | None = step_size_field()

    label: ClassVar[str] = "SGLRW"
    formula: ClassVar[str] = (
        r"w_i\leftarrow w_i+\sqrt{\epsilon}\;\operatorname{sign}\!\Big(u_i-\tfrac{\sqrt{\epsilon}}{2}\,"
        r"\tfrac{\partial U}{\partial w_i}\Big),\quad u_i\sim\mathcal U(-1,1)"
    )
    about: ClassVar[str] = (
        "Stochastic gradient lattice random walk. Every weight moves up or down by the same length. The gradient "
        "only makes one of the two likelier. So a freak minibatch cannot throw the chain far, where it would "
        "throw SGLD. It converges to the local posterior as the step size goes to 0. Large steps or strong noise "
        "push the likelihoods to 0 or 1. The pull is then too weak, and the estimate too large."
    )
    source: ClassVar[str] = "Mensch et al. 2026; Duffield et al. 2025"
    elementwise: ClassVar[bool] = True
    heats_by_noise: ClassVar[bool] = False
    safety: ClassVar[float] = SMALL_BIAS

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        root = hp.once(root_of_step)
        lean = torch.erf(noise[0] * math.sqrt(0.5)).addcmul_(root, energy.force, value=-0.5)
        return {"delta": torch.addcmul(state["delta"], root, lean.sign_())}

    def step_bias_factor(self, hp: Hp) -> Tensor | None:
        return None

    def noise_factor(self, hp: Hp) -> Tensor:
        return torch.zeros_like(hp.step_size)

    def largest_force(self, hp: Hp) -> Tensor:
        return 2 / hp.step_size.sqrt()

    def line(self) -> Line:
        return Line(_nothing, _move, signs=True)


def _nothing(a: Any, b: Any, g: Any, p: Any) -> Any:
    return a, b


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    return -g, 1.0
