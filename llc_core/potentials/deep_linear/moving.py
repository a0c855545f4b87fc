"""A deep linear network at other weights than those that made its data."""

from __future__ import annotations

from copy import copy
from functools import reduce
from typing import Any, Self

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.potentials.deep_linear.expected import Expected

MOVED_NOTE = "It is of the true parameter from which w0 was moved."


class Movable(Expected):
    """The part of a deep linear network that lets w0 move. The network has the rest."""

    _from: Any = None
    """The network at the true parameter, of one that was moved."""
    _on: dict[Any, Any]

    @property
    def is_moved(self) -> bool:  # type: ignore[override]
        return self._from is not None

    def origin(self, like: Tensor) -> Tensor:
        return torch.cat([torch.as_tensor(w, **EXACT).flatten() for w in self.weights]).to(like)

    def moved(self, delta: Tensor) -> Self:
        """The network with other weights, on the samples of its first teacher, of whom ranks and both coefficients remain."""
        start = self._from or self
        parts = torch.split(delta.detach().cpu().double(), [w.size for w in self.weights])
        weights = [w + part.view(w.shape).numpy() for w, part in zip(self.weights, parts, strict=True)]
        there, before = (reduce(lambda below, w: w @ below, layers) for layers in (weights, start.weights))
        other = copy(self)
        for name in ("local_learning_coefficient", "_fitted_noise"):
            other.__dict__.pop(name, None)
        other.weights, other._from, other._on = weights, start, {}
        other.data = start.data.seen_from(torch.from_numpy(there - before))
        return other
