"""Draws of the loss on all data: where it is to be seen at the same states as other draws."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from llc_core.fields import hyper
from llc_core.observables.base import register
from llc_core.observables.draws.kept_rows import MOST_DRAWS, KeptRows
from llc_core.observables.look import Look
from llc_core.potentials.base import Potential


@register
@dataclass
class LossDraws(KeptRows):
    """ΔL = L(w) − L(w0) of every chain on all data, whatever batch its steps see: draws [T, C] in nats."""

    every: int = 10
    most: int = hyper(1024, 16, MOST_DRAWS)

    def numbers(self, problem: Potential) -> int:
        return 1

    def measure(self, seen: Look) -> Tensor:
        return seen.problem.excess_loss(seen.delta)
