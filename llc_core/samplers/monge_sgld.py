"""SGLD in the Monge metric of a running mean of gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import OverdampedSampler, step_size_field
from llc_core.samplers.forms import Law, Line
from llc_core.samplers.psgld import alpha_field
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class MongeSGLD(OverdampedSampler):
    """v ← αv + (1 − α)g;  G = I − β²vvᵀ/(1 + β²‖v‖²);  w ← w − (ε/2)G∇U + √ε·G^½·N(0, I), without the term ∇·G.

    G^½ = I + ((1 + β²‖v‖²)^{−½} − 1)·vvᵀ/‖v‖², and I at v = 0. g is the gradient of the mean loss alone; v starts at 0.
    The metric is the inverse of I + β²vvᵀ: steps along the gradient are short where it is long.

    Distribution: in one dimension, as ε → 0, ∝ exp(−U)·(1 + β²U′²): too much mass where the gradient is long. The tails relax
    slowly, since G → 0 there.
    Source: Yu et al. 2023; Rensmeyer & Niggemann 2025, whose code counts in the step η = ε/2 and calls β² α₂. That code
    replaces steps with ‖G∇U‖ > 10³ by shorter ones; this file does not.
    """

    step_size: float | None = step_size_field()
    alpha: float = alpha_field()
    beta: float = hyper(
        1.0,
        0.0,
        1e3,
        symbol=r"\beta",
        help="How strongly the gradient bends the metric; it enters squared, and 0 gives SGLD.",
    )

    label: ClassVar[str] = "Monge SGLD"
    formula: ClassVar[str] = (
        r"v\leftarrow\alpha v+(1-\alpha)g,\quad G=I-\frac{\beta^2vv^\top}{1+\beta^2\|v\|^2},\quad "
        r"w\leftarrow w-\tfrac{\epsilon}{2}\,G\,\nabla U+\sqrt{\epsilon}\,G^{1/2}\xi"
    )
    about: ClassVar[str] = (
        "SGLD that shortens its steps along the running mean of the gradient, by the metric of the loss's "
        "graph. The correction term for the moving metric is left out. So it converges to a distribution with "
        "too much mass where the gradient is long. In one dimension that is the target times 1 + β² times the "
        "squared slope."
    )
    source: ClassVar[str] = "Yu et al. 2023; Rensmeyer & Niggemann 2025"
    safety: ClassVar[float] = 0.1

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "mean": torch.zeros_like(delta)}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        mean = torch.lerp(state["mean"], energy.statistics_grad, 1 - hp.alpha)
        stretch = hp.beta.square() * mean.square().sum(dim=1, keepdim=True)
        root = (1 + stretch).sqrt()
        # (1/root − 1)/‖v‖² without the 0/0 at v = 0.
        shrink = -hp.beta.square() / (root * (1 + root))
        force, kick = energy.force, noise[0]
        along = (mean * force).sum(dim=1, keepdim=True) * hp.beta.square() / (1 + stretch)
        drift = force - along * mean
        spread = kick + shrink * (mean * kick).sum(dim=1, keepdim=True) * mean
        return {"delta": state["delta"] - hp.step_size / 2 * drift + hp.step_size.sqrt() * spread, "mean": mean}

    # Stability and bias are those of SGLD, from above: G is I where the gradient vanishes and never larger.

    def law(self) -> Law:
        return Law(lambda slope: 1 / (1 + self.beta**2 * slope**2), 0.0)

    def line(self) -> Line:
        return Line(_remember, _move, (self.alpha, self.beta), remembered=1)


def _remember(a: Any, b: Any, g: Any, p: Any) -> Any:
    return p[0] * a + (1 - p[0]) * g, b


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / (1 + p[1] * p[1] * a * a)
    return -metric * g, metric
