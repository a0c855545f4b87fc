"""Stein variational gradient descent: particles that follow the force of all, and push each other apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.interactions.base import Interaction, Layout
from llc_core.interactions.registry import register


@register
@dataclass(frozen=True)
class SteinVariational(Interaction):
    """∇U of particle i becomes mean_j [k(x_j, x_i)·∇U(x_j) − ∇_{x_j}k(x_j, x_i)], k = exp(−‖x − y‖²/h), and there is no noise.

    Distribution: none; as members → ∞ the particles tend to the target, and few of them are too narrow in many dimensions. With
    temperature τ > 0 every particle also gets τ·∇U and noise of that temperature (SPOS), whose distribution tends to the target's.
    Source: Liu & Wang 2016, eq. 8; SPOS: Zhang, Zhang, Carin & Chen 2020, eq. 9.

    spread: the particles begin at w0 plus so much of a standard normal: at one point they would stay together.
    bandwidth: h; 0: the median of the squared distances over log(members + 1), at every step.
    """

    members: int = hyper(0, 0, 100_000)
    temperature: float = hyper(
        0.0, 0.0, 1e3, symbol=r"\tau", help="Noise beside the force of all; 0: none, which is SVGD."
    )
    bandwidth: float = hyper(0.0, 0.0, 1e12, help="Width h of the kernel; 0: from the median distance.")
    spread: float = hyper(
        0.1, 0.0, 1e6, open_low=True, help="Standard deviation of the places where the particles begin."
    )

    label: ClassVar[str] = "Stein variational"
    reads: ClassVar[str] = "states"
    about: ClassVar[str] = (
        "Particles descend the loss together and push each other apart. Without noise it is deterministic; few particles spread "
        "too widely over many modes and too narrowly in many dimensions."
    )
    source: ClassVar[str] = "Liu & Wang 2016; Zhang, Zhang, Carin & Chen 2020"

    def members_of(self, chains: int, settings: int) -> int:
        members = self.members or chains
        if members < 2 or chains % members:
            raise ValueError(
                f"chains is {chains}, and groups have {members} members; particles need two or more, and chains a multiple."
            )
        return members

    @property
    def heats_noise(self) -> bool:
        return self.temperature != 1

    def pace(self, step: int, layout: Layout) -> tuple[Tensor | float, Tensor | float]:
        return 1.0, self.temperature

    def force(self, delta: Tensor, force: Tensor) -> Tensor | None:
        alive = (torch.isfinite(delta) & torch.isfinite(force)).all(dim=2)
        place, pull = (torch.where(alive.unsqueeze(2), x, torch.zeros_like(x)) for x in (delta, force))
        members = delta.shape[1]
        gap = place.unsqueeze(2) - place.unsqueeze(1)
        square = gap.square().sum(dim=3)
        if self.bandwidth:
            width = square.new_full((len(square), 1, 1), self.bandwidth)
        else:
            every = square.flatten(1)
            # torch has the lower of two middle values, which is the diagonal's 0 for two members
            middle = (every.median(dim=1).values - (-every).median(dim=1).values) / 2
            width = middle.view(-1, 1, 1) / math.log(members + 1)
        near = (-square / width.clamp_min(1e-30)).exp() * alive.unsqueeze(1)
        count = alive.sum(dim=1).clamp_min(1).view(-1, 1, 1)
        pushed = 2 / width.clamp_min(1e-30) * (near.unsqueeze(3) * gap).sum(dim=2)
        return (near @ pull - pushed) / count + self.temperature * force

    def caveat(self) -> str:
        if not self.temperature:
            return (
                "Particles without noise sample no known distribution at finite number; give a temperature "
                "above 0 (SPOS)."
            )
        return ""
