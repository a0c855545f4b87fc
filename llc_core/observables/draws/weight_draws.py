"""Draws of single weights, to set beside those of the functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.observables.base import register
from llc_core.observables.draws.kept_rows import KeptRows
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.base import Potential


@register
@dataclass
class WeightDraws(KeptRows):
    """δ = w − w0 of `count` parameters, in the coordinates of the parameters, evenly spaced over the flat vector: draws
    [T, C, count], and which they are. With `count` at least the number of parameters they are whole networks, of which memory holds
    `most` at once, or none with `on_disk`."""

    count: int = hyper(48, 1, 1_000_000_000)

    def numbers(self, problem: Potential) -> int:
        return min(self.count, problem.dim)

    def begin(self, setup: RunShape) -> None:
        super().begin(setup)
        dim = setup.problem.dim
        self._places = np.linspace(0, dim - 1, min(self.count, dim)).astype(int)
        self._chosen = torch.as_tensor(self._places, device=setup.device)

    def measure(self, seen: Look) -> Tensor:
        return seen.delta[:, self._chosen]

    def read(self, group: Group) -> dict[str, np.ndarray]:
        """As of all kept rows, and places [count] in the flat vector."""
        found = super().read(group)
        return {**found, "places": self._places.copy()} if found else found
