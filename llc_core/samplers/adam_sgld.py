"""SGLD with Adam's two running means: the gradient, and its square as preconditioner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper, hyper_of
from llc_core.samplers.base import Sampler, step_size_field
from llc_core.samplers.forms import Cell, Law, Line
from llc_core.samplers.psgld import MAX_DECAY
from llc_core.samplers.registry import register
from llc_core.samplers.rmsprop_sgld import RMSPropSGLD, count_up, inverse_root
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class AdamSGLD(Sampler):
    """m ← β₁m + (1 − β₁)g;  v ← β₂v + (1 − β₂)g²;  G = 1/√(v̂ + a);  w ← w − (ε/2)G(nβ·m̂ + γδ) + √(εG)·N(0, 1).

    m̂ = m/(1 − β₁^{t+1}), v̂ = v/(1 − β₂^{t+1}); g is the gradient of the mean loss alone; m starts at 0, v at 1.

    Distribution: as RMSPropSGLD in the limit ε → 0. The averaged gradient is 1/(1 − β₁) steps old, which widens the distribution long
    before the chain becomes unstable: at constant G, on a quadratic of curvature c (in the loss, so γ ≪ c) and with
    κ = εGc/2, the variance is exactly (1/c)(1 + 2β₁κ/(1 − β₁²))/(1 − κ(1 − β₁)/(2(1 + β₁))).
    Source: Hitchcock & Hoogland, Algorithm 2 with exponent t + 1 in place of t, which divides by zero at t = 0.
    Not the AdamSGLD of Kim et al. 2022, whose noise is isotropic.
    """

    step_size: float | None = step_size_field()
    beta1: float = hyper(
        0.9,
        0.0,
        MAX_DECAY,
        symbol=r"\beta_1",
        help="Memory of the gradient; the closer to 1, the smaller the steps that leave the distribution right.",
    )
    beta2: float = hyper(
        0.99,
        0.0,
        MAX_DECAY,
        symbol=r"\beta_2",
        help="Memory of the squared gradients: about 1/(1 − β₂) steps are averaged.",
    )
    stability: float = hyper_of(RMSPropSGLD, "stability", 0.1)

    label: ClassVar[str] = "Adam-SGLD"
    formula: ClassVar[str] = (
        r"m\leftarrow\beta_1m+(1-\beta_1)g,\quad v\leftarrow\beta_2v+(1-\beta_2)g^2,\quad "
        r"G=\Big(\tfrac{v}{1-\beta_2^{t+1}}+a\Big)^{-1/2},\quad "
        r"w\leftarrow w-\tfrac{\epsilon}{2}\,G\Big(\tfrac{n\beta\,m}{1-\beta_1^{t+1}}+\gamma(w-w_0)\Big)"
        r"+\sqrt{\epsilon G}\,\xi"
    )
    about: ClassVar[str] = (
        "RMSProp-SGLD with the gradient replaced by its running mean, as in the optimiser Adam. The mean "
        "arrives late, so the chain overshoots. The estimate is too large unless the step size is small "
        "against 1 − β₁. It shares the missing correction term of RMSProp-SGLD."
    )
    source: ClassVar[str] = "Hitchcock & Hoogland, Algorithm 2"
    elementwise: ClassVar[bool] = True

    def agree(self) -> None:
        # The delay widens the distribution (relative excess κ/(1 − β₁)) long before the chain is unstable. The default step is
        # therefore not a fixed fraction of the limit: it is (1 − β₁) times the default step of SGLD.
        safety = 0.1 * (1 - self.beta1) ** 2 / (1 + self.beta1)
        self._put("safety", safety)

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {
            "delta": delta,
            "mean": torch.zeros_like(delta),
            "square": torch.ones_like(delta),
            "count": delta.new_zeros(len(delta), 1),
        }

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        mean = torch.lerp(state["mean"], energy.loss_grad, 1 - hp.beta1)
        square = torch.lerp(state["square"], energy.statistics_grad.square(), 1 - hp.beta2)
        count = state["count"] + 1
        drift = (energy.n_beta / (1 - hp.beta1**count)) * mean + energy.prior_force
        step = hp.step_size * inverse_root(square, count, hp.beta2, hp.stability)
        delta = torch.addcmul(state["delta"], step, drift, value=-0.5).addcmul_(step.sqrt_(), noise[0])
        return {"delta": delta, "mean": mean, "square": square, "count": count}

    def cell(self) -> Cell:
        return Cell(_step, _numbers, memories=("mean", "square"), scalars=count_up)

    def metric(self, state: State, hp: Hp) -> Tensor:
        return inverse_root(state["square"], state["count"], hp.beta2, hp.stability)

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        """Exact for γ ≪ nβ∇²L: the prior's share of the curvature is not averaged and must stay below 4/ε by itself."""
        return 4 * (1 + hp.beta1) / ((1 - hp.beta1) * curvature)

    def noise_factor(self, hp: Hp) -> Tensor:
        return hp.step_size / 8

    def law(self) -> Law:
        return Law(lambda slope: 1 / np.sqrt(slope**2 + self.stability), 0.0)

    def line(self) -> Line:
        """The sampler late in a run, when the bias corrections are 1, on a target without prior (γ = 0)."""
        return Line(_remember, _move, (self.beta1, self.beta2, self.stability), (0.0, 1.0), remembered=2)


def _numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    count, step = state["count"].double() + 1, hp.step_size
    averaged, correction = n_beta / (1 - hp.beta1**count), 1 / (1 - hp.beta2**count)
    return 1 - hp.beta1, 1 - hp.beta2, correction, hp.stability, -step / 2, averaged, localization, step.sqrt()


def _step(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> Any:
    a = a + p[0] * (g - a)
    b = b + p[1] * (g * g - b)
    root = 1 / np.sqrt(np.sqrt(b * p[2] + p[3]))
    return d + p[4] * root * root * (p[5] * a + p[6] * d) + p[7] * root * z, a, b


def _remember(a: Any, b: Any, g: Any, p: Any) -> Any:
    return p[0] * a + (1 - p[0]) * g, p[1] * b + (1 - p[1]) * g * g


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / np.sqrt(b + p[2])
    return -metric * a, metric
