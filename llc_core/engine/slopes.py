"""Along which directions a slope of the loss was found."""

from __future__ import annotations

import torch
from torch import Tensor

SLOPE = 0.1
"""nβ·ΔL may change by so much over the length 1/√γ."""
ROUNDED = 1e-5
"""A slope below this share of the whole gradient is rounding."""


class Slopes:
    """The directions that the gradients which were seen span.  left: how many of D are orthogonal to all of them."""

    def __init__(self, like: Tensor):
        self._basis = like.new_zeros(0, like.shape[1], dtype=torch.float64)
        self.left = like.shape[1]

    def add(self, slopes: Tensor) -> bool:
        """Takes up those of the slopes [C, D], nβ∇L/√γ, that are too large; whether there are any."""
        if not torch.isfinite(slopes).all():
            self.left = 0
            return True
        before = self.left
        for slope in slopes.double():
            rest = slope - self._along(slope)
            if self.left and float(rest.norm()) > SLOPE + ROUNDED * float(slope.norm()):
                rest = rest - self._along(rest)  # once more, since rounding leaves something
                self._basis = torch.cat([self._basis, (rest / rest.norm()).unsqueeze(0)])
                self.left -= 1
        return self.left < before

    def part(self, moved: Tensor) -> Tensor:
        """What of δ [C, D] lies along directions with a slope."""
        return self._along(moved.double()).to(moved)

    def _along(self, moved: Tensor) -> Tensor:
        return (moved @ self._basis.T) @ self._basis
