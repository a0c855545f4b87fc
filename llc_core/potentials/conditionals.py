"""What a potential offers to `Gibbs`: exact draws of blocks of parameters."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor


class Conditionals(Protocol):
    """Chains that draw blocks of their parameters from the exact distributions given the others, under exp(−nβ·ΔL − (γ/2)‖δ‖²)."""

    @property
    def delta(self) -> Tensor:
        """w − w0 of the chains, [C, D]."""
        ...

    def place(self, delta: Tensor) -> Tensor:
        """Put the chains at δ [C, D]; returns ΔL [C] there."""
        ...

    def move(self, adapt: bool) -> Tensor:
        """Draw every block once; returns ΔL [C]. adapt: whether tuning may still change."""
        ...

    def normals(self, shape: Any) -> Tensor:
        """Standard normals from the chains' own random stream."""
        ...
