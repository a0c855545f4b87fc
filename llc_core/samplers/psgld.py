"""Preconditioned SGLD (Li et al. 2016), with the correction term as published or without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import OverdampedSampler, step_size_field
from llc_core.samplers.correction import kept
from llc_core.samplers.forms import Law, Line
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State

MAX_DECAY = 0.999999
TINY = 1e-18
"""Added so that Γ is 0 and not 0/0 where gradient and V are both 0. It must not be smaller: in single precision the square of a
smaller gradient is 0, and g/√V would be wrong."""


def alpha_field() -> Any:
    return hyper(
        0.9,
        0.0,
        MAX_DECAY,
        symbol=r"\alpha",
        help="Memory of the squared gradients: about 1/(1 − α) steps are averaged; 0 remembers nothing.",
    )


def stability_field() -> Any:
    return hyper(
        0.1,
        1e-12,
        1e3,
        log=True,
        symbol=r"s",
        help="Stability constant: bounds the metric G by 1/s; gradients well below it do not change the metric.",
    )


@register
@dataclass(frozen=True)
class PSGLD(OverdampedSampler):
    """V ← αV + (1 − α)g²;  G = 1/(s + √V);  w ← w + (ε/2)(−G∇U + Γ) + √(εG)·N(0, 1).

    g is the gradient of the mean loss alone (no nβ, no prior). V starts at 0, as printed. In the "inside" form it starts at 1,
    as in TensorFlow Probability, where s is usually tiny: a first step of size 1/s would take a chain far away.
    Γ_i is the derivative of G_i by w_i with the old V held fixed, which brings a factor 1 − α:
    Γ_i = −(1 − α)·g_i·∂g_i/∂w_i / (√V_i (s + √V_i)²), with the diagonal of the loss's Hessian for ∂g_i/∂w_i.
    stability_form "inside": G = 1/√(s² + V), Γ_i = −(1 − α)·g_i·∂g_i/∂w_i·G³ (the form of TensorFlow Probability).
    gamma_term "dropped": Γ = 0.

    Distribution: in one dimension, as ε → 0, ∝ exp(−U)·G^{−α} as published and exp(−U)/G without Γ (G at V = U′²): a hole where
    the gradient is small. With ε fixed and α → 1 the metric freezes and the bias disappears again.
    Source: Li et al. 2016; Rensmeyer & Niggemann 2025, eqs. 9-11 and 27. The published code starts V at 1.
    """

    step_size: float | None = step_size_field()
    alpha: float = alpha_field()
    stability: float = stability_field()
    gamma_term: str = hyper(
        "published", choices=("published", "dropped"), help="Keep the correction Γ as published, or leave it out."
    )
    stability_form: str = hyper(
        "outside",
        choices=("outside", "inside"),
        help="Where s stands: outside the root, 1/(s + √V), or inside it, 1/√(s² + V).",
    )

    label: ClassVar[str] = "PSGLD"
    formula: ClassVar[str] = (
        r"V\leftarrow\alpha V+(1-\alpha)g^2,\quad G=\frac{1}{s+\sqrt V},\quad "
        r"w\leftarrow w+\tfrac{\epsilon}{2}\left(-G\,\nabla U+\Gamma\right)+\sqrt{\epsilon G}\,\xi"
    )
    about: ClassVar[str] = (
        "SGLD with its own step size for every parameter, from a running mean of squared gradients. A moving "
        "metric needs a correction Γ, but the published Γ is multiplied by 1 − α. So the chain avoids places "
        "with small gradients. In one dimension the density gets a hole at every peak."
    )
    source: ClassVar[str] = "Li et al. 2016; Rensmeyer & Niggemann 2025, eqs. 9-11"
    safety: ClassVar[float] = 0.1

    @property
    def needs_hessian_diagonal(self) -> bool:
        return self.gamma_term == "published"

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "square": torch.full_like(delta, self._first_square)}

    @property
    def _first_square(self) -> float:
        return 1.0 if self.stability_form == "inside" else 0.0

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        grad = energy.statistics_grad
        rate, half = hp.once(_constants)
        square = torch.lerp(state["square"], grad.square(), rate)
        metric = _metric(square, hp)
        drift = metric * energy.force
        if hp.gamma_term == "published":
            assert energy.hessian_diagonal is not None
            steepness = metric.square() * (
                metric if hp.stability_form == "inside" else 1 / square.sqrt().clamp_min(TINY)
            )
            drift = drift + rate * grad * energy.hessian_diagonal * steepness
        delta = state["delta"] - half * drift + (hp.step_size * metric).sqrt() * noise[0]
        return {"delta": delta, "square": square}

    def metric(self, state: State, hp: Hp) -> Tensor:
        return _metric(state["square"], hp)

    def law(self) -> Law:
        share = kept(self.gamma_term, self.alpha)
        if self.stability_form == "inside":
            return Law(lambda slope: 1 / np.sqrt(self.stability**2 + slope**2), share)
        return Law(lambda slope: 1 / (self.stability + np.abs(slope)), share)

    def line(self) -> Line:
        share = kept(self.gamma_term, self.alpha)
        move = _move_inside if self.stability_form == "inside" else _move_outside
        return Line(
            remember_square,
            move,
            (self.alpha, self.stability, share),
            start=(self._first_square, 0.0),
            remembered=1,
            uses_curvature=share > 0,
        )


def _constants(hp: Hp) -> tuple[Tensor, Tensor]:
    """1 − α and ε/2."""
    return 1 - hp.alpha, hp.step_size / 2


def _metric(square: Tensor, hp: Hp) -> Tensor:
    if hp.stability_form == "inside":
        return (hp.stability**2 + square).rsqrt()
    return 1 / (hp.stability + square.sqrt())


def remember_square(a: Any, b: Any, g: Any, p: Any) -> Any:
    """V ← αV + (1 − α)g², α = p[0]."""
    return p[0] * a + (1 - p[0]) * g * g, b


def _move_outside(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    root = np.sqrt(a)
    metric = 1 / (p[1] + root)
    return -metric * g - p[2] * g * h * metric * metric / (root + TINY), metric


def _move_inside(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / np.sqrt(p[1] * p[1] + a)
    return -metric * g - p[2] * g * h * metric**3, metric
