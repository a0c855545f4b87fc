"""Preconditioned Crank–Nicolson: proposals that leave the prior as it is, with or without a gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import MetropolisSampler, step_size_field
from llc_core.samplers.registry import register
from llc_core.samplers.rejecting import decide
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class PCN(MetropolisSampler):
    """In coordinates z in which the prior is N(0, I), U = Φ(z) + ‖z‖²/2, and with ρ = √(1 − s²):

        drift="none":      z′ = ρz + s·ξ, accepted with probability min(1, e^{Φ(z) − Φ(z′)});
        drift="gradient":  z′ = ρz + s·(ξ − κ∇Φ(z)), κ = s/(1 + ρ): the proposal of ∞-MALA, whose acceptance has the reverse
                           density in it.

    Without the likelihood every proposal is accepted, in any dimension.  s = step_size is between 0 and 1.
    The automatic step is held at a mean acceptance of 0.234 without and of 0.574 with the gradient.

    Distribution: exactly exp(−U) at every step size.  Evaluations per step: 1, on all data (without the gradient its value alone counts).
    Source: Cotter, Roberts, Stuart & White 2013.
    The state keeps `accepted`, each chain's running mean of the acceptance probability, [C, 1].
    """

    step_size: float | None = step_size_field(
        "Share s of fresh noise in a proposal; automatic: set by the mean acceptance during burn-in.",
        low=1e-9,
        high=1.0,
    )
    drift: str = hyper(
        "gradient",
        choices=("gradient", "none"),
        symbol=r"\kappa",
        help="Drift: 'gradient' moves against the loss as well (∞-MALA); 'none' needs the loss alone (pCN).",
    )

    label: ClassVar[str] = "Preconditioned Crank–Nicolson"
    formula: ClassVar[str] = r"z'=\sqrt{1-s^2}\,z+s\,(\xi-\kappa\nabla\Phi(z)),\qquad\text{accept or reject}"
    about: ClassVar[str] = (
        "Preconditioned Crank–Nicolson: proposals that keep the Gaussian prior as it is, so that only the likelihood can refuse "
        "them. It does not slow down when weights are added that only the prior holds. With the gradient it is called ∞-MALA."
    )
    source: ClassVar[str] = "Cotter, Roberts, Stuart & White 2013"
    needs_prior: ClassVar[bool] = True
    largest_step: ClassVar[float] = 1.0

    @property
    def target_acceptance(self) -> float | None:  # type: ignore[override]
        return 0.574 if self.drift == "gradient" else 0.234

    @property
    def in_prior_coordinates(self) -> bool:
        return True

    def step(
        self, state: State, energy: Energy, evaluate: Callable[[Tensor], Energy], noise: Tensor, uniform: Tensor, hp: Hp
    ) -> tuple[State, Energy]:
        s, z, p = hp.step_size, state["delta"], noise[0]
        rho = (1 - s.square()).clamp_min(0).sqrt()
        kick = s / (1 + rho) if self.drift == "gradient" else torch.zeros_like(s)
        # A kick, the rotation whose sine is s, and a kick: one step of `SplitHMC`.
        pushed = p - kick * (energy.force - z)
        position = rho * z + s * pushed
        end = evaluate(position)
        back = rho * pushed - s * z - kick * (end.force - position)
        gain = energy.potential - end.potential + ((p - back) * (p + back)).sum(dim=1, keepdim=True) / 2
        return decide(state, energy, position, end, gain, uniform)

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return (2 / curvature.sqrt()).clamp(max=1.0)
