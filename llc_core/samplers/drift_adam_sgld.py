"""The AdamSGLD of Kim et al.: isotropic noise and an extra drift along Adam's direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import OverdampedSampler, step_size_field
from llc_core.samplers.forms import Law, Line
from llc_core.samplers.psgld import MAX_DECAY, alpha_field, stability_field
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class DriftAdamSGLD(OverdampedSampler):
    """m ← βm + (1 − β)g;  V ← αV + (1 − α)g²;  w ← w − (ε/2)(∇U + a·m/(s + √V)) + √ε·N(0, 1).

    g is the gradient of the mean loss alone; m and V start at 0. The noise is isotropic: Adam's direction is added to
    the drift and nothing balances it.

    Distribution: in one dimension with nβ = 1, as ε → 0, ∝ exp(−U − a∫g/(s + |g|)): too much mass at the mode; on the standard
    normal exp(−x²/2 − a|x|)·(|x| + s)^{as}. The extra drift stays of size a: it fades against ∇U where nβ is large.
    Source: Kim, Song & Liang 2022; Rensmeyer & Niggemann 2025. Not the AdamSGLD of Hitchcock & Hoogland, which
    preconditions drift, prior and noise.
    """

    step_size: float | None = step_size_field()
    alpha: float = alpha_field()
    stability: float = stability_field()
    beta: float = hyper(
        0.5,
        0.0,
        MAX_DECAY,
        symbol=r"\beta",
        help="Memory of the gradient: about 1/(1 − β) steps are averaged.",
    )
    a: float = hyper(
        1.0, 0.0, 1e3, symbol="a", help="Strength of the extra drift along Adam's direction; 0 gives SGLD."
    )

    label: ClassVar[str] = "Adam-SGLD (Kim et al.)"
    formula: ClassVar[str] = (
        r"m\leftarrow\beta m+(1-\beta)g,\quad V\leftarrow\alpha V+(1-\alpha)g^2,\quad "
        r"w\leftarrow w-\tfrac{\epsilon}{2}\Big(\nabla U+\frac{a\,m}{s+\sqrt V}\Big)+\sqrt{\epsilon}\,\xi"
    )
    about: ClassVar[str] = (
        "SGLD with Adam's normalised direction added to the drift and ordinary noise. Nothing balances the "
        "added drift, so it converges to a distribution that is too narrow. In one dimension that is nearly "
        "the target times exp(−a|x|)."
    )
    source: ClassVar[str] = "Kim, Song & Liang 2022; Rensmeyer & Niggemann 2025"
    safety: ClassVar[float] = 0.1

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "mean": torch.zeros_like(delta), "square": torch.zeros_like(delta)}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        mean = torch.lerp(state["mean"], energy.loss_grad, 1 - hp.beta)
        square = torch.lerp(state["square"], energy.statistics_grad.square(), 1 - hp.alpha)
        drift = energy.force + hp.a * mean / (hp.stability + square.sqrt())
        delta = state["delta"] - hp.step_size / 2 * drift + hp.step_size.sqrt() * noise[0]
        return {"delta": delta, "mean": mean, "square": square}

    # Stability and bias are those of SGLD: the extra drift counts as a/(s·nβ) against 1.

    def law(self) -> Law:
        return Law(extra_drift=lambda slope: -self.a * slope / (self.stability + np.abs(slope)))

    def line(self) -> Line:
        return Line(_remember, _move, (self.alpha, self.stability, self.beta, self.a), remembered=2)


def _remember(a: Any, b: Any, g: Any, p: Any) -> Any:
    return p[2] * a + (1 - p[2]) * g, p[0] * b + (1 - p[0]) * g * g


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    return -g - p[3] * a / (p[1] + np.sqrt(b)), 1.0
