"""Coordinates that follow the curvature: what is seen of it is collected, and a few times in the burn-in put to use."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.engine.adapting.schedule import COORDINATE_CHANGES, SHORTEST_ADAPTATION
from llc_core.engine.target import Target
from llc_core.groups import Groups
from llc_core.potentials.base import Factors
from llc_core.types import State


class CoordinateChanges:
    """Changes the target's coordinates at some fractions of a burn-in of `burn_in` steps, if `wanted`."""

    def __init__(self, target: Target, groups: Groups, burn_in: int, wanted: bool):
        self.target, self.groups = target, groups
        wanted = wanted and burn_in >= SHORTEST_ADAPTATION
        self.left = [fraction * burn_in for fraction in COORDINATE_CHANGES] if wanted else []
        """Steps from which on the coordinates are changed once more."""
        self._sums: list[Factors] | None = None
        self._looks = 0

    def look(self, step: int, state: State) -> State:
        """Before step number `step`: see the curvature, or use what was seen. The same state where nothing was changed."""
        if self.left and step < self.left[-1]:
            self.collect(state)
        if self.left and step >= self.left[0]:
            return self.change(step, state)
        return state

    def collect(self, state: State) -> None:
        """Add the factors of the curvature where the chains are now."""
        new = self.target.potential.kronecker_factors(self.target.delta(state["delta"]))
        good = _finite(new)
        if not bool(good.all()):
            new = self._without(new, good)
        if not bool(good.any()):
            return
        old = self._sums
        self._sums = new if old is None else [(b + d, a + c) for (b, a), (d, c) in zip(old, new, strict=True)]
        self._looks += 1

    def _without(self, new: list[Factors], good: Tensor) -> list[Factors]:
        """A chain that overflowed keeps what was seen of it before; the others must not suffer for it."""
        old = self._sums
        last = old if old is not None else [(torch.ones_like(b), torch.ones_like(a)) for b, a in new]
        count = max(self._looks, 1)
        return [
            (torch.where(good, b, d / count), torch.where(good, a, c / count))
            for (b, a), (d, c) in zip(new, last, strict=True)
        ]

    def change(self, step: int, state: State) -> State:
        """New coordinates from the mean of what was seen since the last change."""
        self.left = [c for c in self.left if c > step]
        if self._sums is None:
            return state
        mean = [(b / self._looks, a / self._looks) for b, a in self._sums]
        self._sums, self._looks = None, 0
        return {**state, "delta": self.target.recoordinate(state["delta"], mean, self.groups)}


def _finite(factors: list[Factors]) -> Tensor:
    """Which chains have factors without overflow, [C, 1, 1]."""
    fine = [torch.isfinite(f.flatten(1)).all(dim=1) for pair in factors for f in pair]
    return torch.stack(fine).all(dim=0)[:, None, None]
