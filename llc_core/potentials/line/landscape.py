"""Losses on the line whose distribution is known by quadrature: named ones, drawn ones and formulas.

Each is U(x) up to a constant, with exact slope and curvature; the target at nβ = 1 and γ = 0 is exp(−U).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import number
from llc_core.potentials.base import Batch, Potential

QUADRATURE = 20_001
"""Points of the trapezoidal rule; its error is below 1e-10 for the smooth densities here."""
CLOSER = 100.0

Function = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Shape:
    """U, U′ and U″ as functions (x, p) of a position (or an array, or a tensor) and an array p of numbers."""

    energy: Function
    slope: Function
    curvature: Function


class Landscape(Potential):
    """A loss with one parameter, in the absolute coordinate x = mode + δ; nβ is 1 and γ is 0 unless given.

    name: of the named ones, else "points" or "expression".  label: for people.  formula: LaTeX.  about: a sentence.
    mode: w0, a global minimum of U.  bounds: outside of this interval exp(−U) has less than 1e-12 of its mass.
    scalar: U, U′, U″ as scalar arithmetic for compiled kernels.  parameters: the array they take, float64.
    """

    kind = "landscape"
    dim = 1
    n = 1
    gradients = ("full",)
    own_gradients = True
    localization = 0.0
    name: str
    label: str
    formula: str
    about: str
    bounds: tuple[float, float]
    scalar: Shape
    parameters: np.ndarray

    @property
    def n_beta(self) -> float:
        return 1.0

    def energy(self, x: Any) -> np.ndarray:
        """U(x) up to a constant; any shape."""
        return self._numpy(self.scalar.energy, x)

    def slope(self, x: Any) -> np.ndarray:
        """U′(x)."""
        return self._numpy(self.scalar.slope, x)

    def curvature(self, x: Any) -> np.ndarray:
        """U″(x)."""
        return self._numpy(self.scalar.curvature, x)

    def density(self, x: Any) -> np.ndarray:
        """exp(−U(x)), normalised."""
        return np.exp(self._lowest - self.energy(x)) / self._table[2]

    def quantile(self, u: Any) -> np.ndarray:
        """Inverse of the distribution function, for u in [0, 1]; to about 1e-6 in u."""
        x, below, _ = self._table
        return np.interp(u, below, x)

    def expected_llc(self, n_beta: float | None = None) -> float | None:
        """nβ·E[ΔL] under exp(−nβ·L) by quadrature (γ = 0); None where that cannot be normalised."""
        n_beta = 1.0 if n_beta is None else number("n_beta", n_beta, above=0)
        stretch = max(1.0, 1 / n_beta)
        low, high = self.bounds
        for _ in range(12):
            width = high - low
            x = np.linspace(low, high, QUADRATURE)
            excess = n_beta * (self.energy(x) - self._lowest)
            if min(excess[0], excess[-1]) > 32:
                inside = x[excess < 32]
                x = np.linspace(inside[0] - width / QUADRATURE, inside[-1] + width / QUADRATURE, QUADRATURE)
                excess = n_beta * (self.energy(x) - self._lowest)
                weight = np.exp(-excess)
                return float((excess * weight).sum() / weight.sum())
            low, high = low - width * stretch / 2, high + width * stretch / 2
        return None

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        x = self.mode + delta
        loss = self._torch("energy", x) - self._torch("energy", torch.full_like(x[:1], self.mode))
        return loss.squeeze(1), self._torch("slope", x)

    def hvp(self, delta: Tensor, vector: Tensor) -> Tensor:
        return self._torch("curvature", self.mode + delta) * vector

    def hessian_diagonal(self, delta: Tensor, batch: Batch | None, generator: torch.Generator) -> Tensor:
        return self._torch("curvature", self.mode + delta)

    def typical_scale(self, like: Tensor) -> float:
        return 0.5

    def __repr__(self) -> str:
        return f"landscape({self.to_dict()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Landscape) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))

    def _numpy(self, function: Function, x: Any) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(function(np.asarray(x, dtype=np.float64), self.parameters))

    def _torch(self, which: str, x: Tensor) -> Tensor:
        raise NotImplementedError

    @cached_property
    def _lowest(self) -> float:
        return float(self.energy(self.mode))

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Positions, the distribution function there, and the integral of exp(U(mode) − U)."""
        low, high = self.bounds
        scale = (high - low) / CLOSER
        t = np.linspace(np.arcsinh((low - self.mode) / scale), np.arcsinh((high - self.mode) / scale), QUADRATURE)
        x = self.mode + scale * np.sinh(t)  # closer points around the mode: far tails would spread equal ones thinly
        weight = np.exp(self._lowest - self.energy(x)) * scale * np.cosh(t)
        below = np.concatenate([[0.0], np.cumsum((weight[1:] + weight[:-1]) / 2)]) * (t[1] - t[0])
        return x, below / below[-1], float(below[-1])
