"""SGLD preconditioned by a running mean of squared gradients (RMSProp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import OverdampedSampler, step_size_field
from llc_core.samplers.forms import Cell, Law, Line
from llc_core.samplers.psgld import MAX_DECAY, remember_square
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class RMSPropSGLD(OverdampedSampler):
    """v ← βv + (1 − β)g²;  v̂ = v/(1 − β^{t+1});  G = 1/√(v̂ + a);  w ← w − (ε/2)G∇U + √(εG)·N(0, 1).

    g is the gradient of the mean loss alone (no nβ, no prior) and v starts at 1.

    Distribution: where G hardly changes along the chain (a above the squared gradients), exp(−U) as ε → 0, and on a quadratic
    of curvature c exactly normal with variance 1/(c(1 − εGc/4)). Where G follows the position the drift lacks the
    term ∇·G, and in one dimension the distribution tends to exp(−U)/G: too wide.
    Source: Hitchcock & Hoogland, Algorithm 3 with the bias-correction exponent t + 1 in place of t, which divides by
    zero at t = 0; Li et al. 2016 (pSGLD); the missing term: Rensmeyer & Niggemann 2025.
    """

    step_size: float | None = step_size_field()
    beta: float = hyper(
        0.99,
        0.0,
        MAX_DECAY,
        symbol=r"\beta",
        help="Memory of the squared gradients: about 1/(1 − β) steps are averaged.",
    )
    stability: float = hyper(
        0.1,
        1e-12,
        1e3,
        log=True,
        symbol="a",
        help="Added to the squared gradients inside the root; a small value follows them closely and biases the estimate.",
    )

    label: ClassVar[str] = "RMSProp-SGLD"
    formula: ClassVar[str] = (
        r"v\leftarrow\beta v+(1-\beta)g^2,\quad G=\Big(\tfrac{v}{1-\beta^{t+1}}+a\Big)^{-1/2},\quad "
        r"w\leftarrow w-\tfrac{\epsilon}{2}\,G\,\nabla U+\sqrt{\epsilon G}\,\xi"
    )
    about: ClassVar[str] = (
        "SGLD in which every parameter has its own step size, from a running mean of its squared gradients. "
        "Steep directions take short steps, flat ones long steps. It samples the local posterior only where "
        "these step sizes hardly change along the chain. Otherwise a correction term is missing and the "
        "estimate comes out too large. It is the larger the smaller the stability constant a."
    )
    source: ClassVar[str] = "Hitchcock & Hoogland, Algorithm 3; Li et al. 2016"
    elementwise: ClassVar[bool] = True
    safety: ClassVar[float] = 0.1

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "square": torch.ones_like(delta), "count": delta.new_zeros(len(delta), 1)}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        square = torch.lerp(state["square"], energy.statistics_grad.square(), hp.once(_rate))
        count = state["count"] + 1
        step = hp.step_size * inverse_root(square, count, hp.beta, hp.stability)
        delta = torch.addcmul(state["delta"], step, energy.force, value=-0.5).addcmul_(step.sqrt_(), noise[0])
        return {"delta": delta, "square": square, "count": count}

    def metric(self, state: State, hp: Hp) -> Tensor:
        return inverse_root(state["square"], state["count"], hp.beta, hp.stability)

    def law(self) -> Law:
        return Law(lambda slope: 1 / np.sqrt(slope**2 + self.stability), 0.0)

    def line(self) -> Line:
        """The sampler late in a run, when the bias correction 1 − β^{t+1} is 1."""
        return Line(remember_square, _move, (self.beta, self.stability), (1.0, 0.0), remembered=1)

    def cell(self) -> Cell:
        return Cell(_step, _numbers, memories=("square",), scalars=count_up)


def _rate(hp: Hp) -> Any:
    """1 − β."""
    return 1 - hp.beta


def count_up(state: State, hp: Hp) -> State:
    return {"count": state["count"] + 1}


def inverse_root(square: Tensor, count: Tensor, decay: Tensor, stability: Tensor) -> Tensor:
    """1/√(v̂ + a), [C, D], a new tensor. Before the first step v̂ counts as 0, so that no later metric is larger."""
    correction = torch.where(count > 0, 1 / (1 - decay**count), torch.zeros_like(count))
    return (square * correction).add_(stability).rsqrt_()


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / np.sqrt(a + p[1])
    return -metric * g, metric


def _numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    decay, step = hp.beta, hp.step_size
    correction = 1 / (1 - decay ** (state["count"].double() + 1))
    return 1 - decay, correction, hp.stability, -step / 2, n_beta, localization, step.sqrt()


def _step(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> Any:
    a = a + p[0] * (g * g - a)
    root = 1 / np.sqrt(np.sqrt(a * p[1] + p[2]))
    return d + p[3] * root * root * (p[4] * g + p[5] * d) + p[6] * root * z, a, b
