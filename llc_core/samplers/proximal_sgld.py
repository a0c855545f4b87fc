"""SGLD with an implicit step for the prior: walls at which the prior's force is infinite do no harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.samplers.base import SMALL_BIAS, OverdampedSampler, step_size_field
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class ProximalSGLD(OverdampedSampler):
    """y = w − (ε/2)(nβ∇L + γ(w − w0)) + √ε·N(0, 1);  w ← x with x − (ε/2)·∇log φ(x) = y.

    φ is the prior beside the Gaussian localisation. For φ = |w|^h the new w is (y ± √(y² + 2εh))/2 with the sign of the
    old w. A chain therefore never crosses the wall at 0. Near the wall the force h/w moves it by at most √(εh/2), where an
    explicit step could go any distance. Without such a prior the sampler is SGLD.

    Distribution: exp(−U) as ε → 0 on the side of the walls where the chain began; on a quadratic that of SGLD.
    Source: Salim, Kovalev & Richtárik 2019 (stochastic proximal Langevin algorithm), whose step is ε/2 here; for |w|^h
    the backward Euler step of Alfonsi 2005 for Bessel processes.
    """

    step_size: float | None = step_size_field()

    label: ClassVar[str] = "Proximal SGLD"
    formula: ClassVar[str] = (
        r"w\leftarrow\operatorname{prox}_{-\frac{\epsilon}{2}\log\varphi}\Big(w-\tfrac{\epsilon}{2}\,"
        r"\nabla\big(n\beta L+\tfrac{\gamma}{2}\lVert w-w_0\rVert^2\big)+\sqrt{\epsilon}\,\xi\Big)"
    )
    about: ClassVar[str] = (
        "SGLD that takes the prior's share of the step implicitly. Where a prior vanishes its force is "
        "infinite, and an explicit step from nearby throws the chain anywhere. The implicit step leaves it "
        "beside the wall, on the side where it began. On landscapes without such a prior, and on networks, it "
        "is the same as SGLD."
    )
    source: ClassVar[str] = "Salim, Kovalev & Richtárik 2019; Alfonsi 2005"
    safety: ClassVar[float] = SMALL_BIAS

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        force = energy.force
        if energy.prior_prox is not None:
            force = (energy.localization * energy.delta).addcmul_(energy.n_beta, energy.loss_grad)
        moved = torch.addcmul(state["delta"], hp.step_size, force, value=-0.5)
        moved = moved.addcmul_(hp.step_size.sqrt(), noise[0])
        return {"delta": moved if energy.prior_prox is None else energy.prior_prox(moved, hp.step_size / 2)}
