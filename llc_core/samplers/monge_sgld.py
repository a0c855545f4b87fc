"""SGLD in the Monge metric of a running mean of gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import OverdampedSampler, step_size_field
from llc_core.samplers.correction import gamma_field, kept
from llc_core.samplers.forms import Law, Line
from llc_core.samplers.psgld import alpha_field
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class MongeSGLD(OverdampedSampler):
    """v ← αv + (1 − α)g;  G = I − svvᵀ,  s = β²/(1 + β²‖v‖²);  w ← w + (ε/2)(−G∇U + Γ) + √ε·G^½·N(0, I).

    G^½ = I + ((1 + β²‖v‖²)^{−½} − 1)·vvᵀ/‖v‖², and I at v = 0. g is the gradient of the mean loss alone; v starts at 0.
    The metric is the inverse of I + β²vvᵀ: steps along the gradient are short where it is long.

    gamma_term: how much there is of Γ = ∇·G. With H the Hessian of the mean loss and c = ∂v/∂g,

        Γ = −c·(s(Hv + v·tr H) − 2s²·v·vᵀHv).

    "dropped": c = 0. "published": 1 − α, the old v held fixed. "corrected": 1, the whole of ∇·G once v has followed the chain
    to g. Hv is of the rows that v's gradient is of; tr H is the sum of `Potential.hessian_diagonal`: exact for small
    potentials and deep linear networks, an unbiased estimate from one random probe for the others.

    Distribution: as ε → 0, in one dimension, ∝ exp(−U)·(1 + β²U′²)^(1−c): too much mass where the gradient is long. The tails
    relax slowly, since G → 0 there. With the whole of Γ it is exp(−U), in any dimension. G is never larger than I, so
    v need only follow the chain to within 1/β: in the 1/(1 − α) steps that it remembers, g changes by h√(ε/(1 − α))
    where the mean loss has curvature h, so that the rule is ε ≪ (1 − α)/(βh)².
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
    gamma_term: str = gamma_field()

    label: ClassVar[str] = "Monge SGLD"
    formula: ClassVar[str] = (
        r"v\leftarrow\alpha v+(1-\alpha)g,\quad G=I-\frac{\beta^2vv^\top}{1+\beta^2\|v\|^2},\quad "
        r"w\leftarrow w+\tfrac{\epsilon}{2}\left(-G\,\nabla U+\Gamma\right)+\sqrt{\epsilon}\,G^{1/2}\xi"
    )
    about: ClassVar[str] = (
        "SGLD that shortens its steps along the running mean of the gradient, by the metric of the loss's "
        "graph. A moving metric needs a correction Γ, which is left out unless you ask for it. So it converges "
        "to a distribution with too much mass where the gradient is long. In one dimension that is the target "
        "times 1 + β² times the squared slope. With the whole Γ it converges to the target."
    )
    source: ClassVar[str] = "Yu et al. 2023; Rensmeyer & Niggemann 2025"
    safety: ClassVar[float] = 0.1

    @property
    def needs_hessian_diagonal(self) -> bool:
        return self.gamma_term != "dropped"

    @property
    def needs_hvp(self) -> bool:
        return self.gamma_term != "dropped"

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
        if hp.gamma_term != "dropped":
            drift = drift - kept(hp.gamma_term, hp.alpha) * _divergence(mean, hp.beta.square() / (1 + stretch), energy)
        spread = kick + shrink * (mean * kick).sum(dim=1, keepdim=True) * mean
        return {"delta": state["delta"] - hp.step_size / 2 * drift + hp.step_size.sqrt() * spread, "mean": mean}

    # Stability and bias are those of SGLD, from above: G is I where the gradient vanishes and never larger.

    def law(self) -> Law:
        return Law(lambda slope: 1 / (1 + self.beta**2 * slope**2), kept(self.gamma_term, self.alpha))

    def line(self) -> Line:
        share = kept(self.gamma_term, self.alpha)
        if share == 0:
            return Line(_remember, _move, (self.alpha, self.beta), remembered=1)
        return Line(_remember, _move_corrected, (self.alpha, self.beta, share), remembered=1, uses_curvature=True)


def _divergence(v: Tensor, s: Tensor, energy: Energy) -> Tensor:
    """Σ_j ∂G_ij/∂w_j for v = ∇L, [C, D]. s: β²/(1 + β²‖v‖²), [C, 1]."""
    assert energy.hvp is not None and energy.hessian_diagonal is not None
    image, trace = energy.hvp(v), energy.hessian_diagonal.sum(dim=1, keepdim=True)
    across = (v * image).sum(dim=1, keepdim=True)
    return -s * (image + (trace - 2 * s * across) * v)


def _remember(a: Any, b: Any, g: Any, p: Any) -> Any:
    return p[0] * a + (1 - p[0]) * g, b


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / (1 + p[1] * p[1] * a * a)
    return -metric * g, metric


def _move_corrected(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    square = p[1] * p[1]
    metric = 1 / (1 + square * a * a)
    return -metric * g - 2 * p[2] * square * a * h * metric * metric, metric
