"""Hamiltonian Monte Carlo in prior coordinates: the prior is rotated exactly, and the likelihood kicks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import MetropolisSampler, step_size_field
from llc_core.samplers.registry import register
from llc_core.samplers.rejecting import decide, jittered_step
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class SplitHMC(MetropolisSampler):
    """In coordinates z in which the prior is N(0, I), U = Φ(z) + ‖z‖²/2. From a fresh p ~ N(0, I), L times:

        p ← p − (h/2)∇Φ(z);  (z, p) ← (z·cos h + p·sin h, p·cos h − z·sin h);  p ← p − (h/2)∇Φ(z),

    then accept with probability min(1, e^{−ΔH}), H = Φ(z) + ‖z‖²/2 + ‖p‖²/2. The rotation is the exact motion under the prior, so
    that the acceptance stays as it is when weights are added that only the prior holds. Each trajectory uses h times a factor
    from 1 ± 0.2, as in `HMC`. Any potential will do that has localization > 0, which is such a prior.
    The automatic step is held at a mean acceptance of 0.8.

    Distribution: exactly exp(−U) at every step size.  Evaluations per step: L, on all data.
    Source: Beskos et al. 2011 (HMC on Hilbert spaces); Shahbaba et al. 2014 (split HMC).
    The state keeps `accepted`, each chain's running mean of the acceptance probability, [C, 1].
    """

    step_size: float | None = step_size_field(
        "Angle h of one rotation, in radians; automatic: kept at a mean acceptance of 0.8 during burn-in.",
        low=1e-9,
        high=math.pi / 2,
    )
    leapfrog_steps: float = hyper(
        20.0,
        1.0,
        1000.0,
        log=True,
        symbol="L",
        help="Rotations, and so gradients, per step of the chain (rounded); more carry the chain further at once.",
    )

    label: ClassVar[str] = "HMC in prior coordinates"
    formula: ClassVar[str] = (
        r"p\leftarrow p-\tfrac h2\nabla\Phi,\quad (z,p)\leftarrow(z\cos h+p\sin h,\;p\cos h-z\sin h),\quad "
        r"p\leftarrow p-\tfrac h2\nabla\Phi\quad(L\times),\qquad\text{accept with }\min(1,e^{-\Delta H})"
    )
    about: ClassVar[str] = (
        "Hamiltonian Monte Carlo in coordinates in which the Gaussian prior is a unit sphere. The prior's "
        "share of the motion is an exact rotation, and only the likelihood costs gradients. The best of the "
        "gradient samplers for networks with a prior."
    )
    source: ClassVar[str] = "Beskos et al. 2011; Shahbaba et al. 2014"
    needs_prior: ClassVar[bool] = True
    target_acceptance: ClassVar[float | None] = 0.8
    largest_step: ClassVar[float] = 0.5

    @property
    def in_prior_coordinates(self) -> bool:
        return True

    def step(
        self, state: State, energy: Energy, evaluate: Callable[[Tensor], Energy], noise: Tensor, uniform: Tensor, hp: Hp
    ) -> tuple[State, Energy]:
        jittered, test = jittered_step(hp.step_size, uniform)
        count = hp.leapfrog_steps.round()
        z, p, end = state["delta"], noise[0], energy
        for index in range(int(count.max())):
            h = torch.where(index < count, jittered, 0.0)
            cos, sin = h.cos(), h.sin()
            p = p - h / 2 * (end.force - z)
            z, p = z * cos + p * sin, p * cos - z * sin
            end = evaluate(z)
            p = p - h / 2 * (end.force - z)
        before, after = (_squares(noise[0]), _squares(p))
        gain = energy.potential - end.potential + (before - after) / 2
        return decide(state, energy, z, end, gain, test)

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return (2 / curvature.sqrt()).clamp(max=1.0)


def _squares(p: Tensor) -> Tensor:
    return p.square().sum(dim=1, keepdim=True)
