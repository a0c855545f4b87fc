"""Contour sampling that leaves energies above its grid alone, as bandits need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llc_core.interactions import Layout, Seen, Shared
from llc_core.interactions.base import Twin
from llc_core.interactions.contour import Contour


@dataclass(frozen=True)
class OpenContour(Contour):
    """Contour sampling that counts no energy above `high`: such a chain has heat exactly 1, does not move θ, and weighs nothing
    where others weigh something. θ never stops learning unless asked to.

    While a bandit's memory is full of unlucky rewards every energy is there, and the chains then are those without interaction.
    Source: released code of Deng et al. 2022 (contextual_bandits/samplers.py), where the outermost bin is that place. There the
    multiplier is that of the step before; here it is of the present energy.
    """

    freeze: str = "never"

    def init(self, layout: Layout) -> Shared:
        shared = super().init(layout)
        return {**shared, "counts": torch.zeros_like(shared["bin"], dtype=torch.bool)}

    def exchange(self, shared: Shared, seen: Seen, layout: Layout) -> tuple[Shared, Tensor | None]:
        counts = seen.alive & (seen.energy <= self.high)
        changed, order = super().exchange(shared, seen._replace(alive=counts), layout)
        return {**changed, "counts": counts}, order

    def heat(self, shared: Shared, layout: Layout) -> Tensor | None:
        heat = super().heat(shared, layout)
        assert heat is not None
        return torch.where(shared["counts"], heat, torch.ones_like(heat))

    def log_weight(self, step: int, shared: Shared, layout: Layout) -> Tensor | None:
        weight = super().log_weight(step, shared, layout)
        assert weight is not None
        return torch.where(shared["counts"], weight, torch.full_like(weight, -torch.inf))

    def twin(self, n_beta: Any, burn_in: int) -> Twin | None:
        return None
