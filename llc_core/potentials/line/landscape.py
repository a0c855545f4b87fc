"""Losses on the line whose law is known by quadrature: named ones, drawn ones and formulas.

Each is U(x) up to a constant, with exact slope and curvature; the target at nβ = 1 and γ = 0 is exp(−U).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import number
from llc_core.potentials.base import Batch, Potential
from llc_core.types import LearningCoefficient

QUADRATURE = 20_001
"""Points of the trapezoidal rule; its error is below 1e-10 for the smooth densities here."""
CLOSER = 100.0
KEYS = ("expression", "name", "of", "points")

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
        n_beta = 1.0 if n_beta is None else number("n_beta", n_beta)
        if n_beta <= 0:
            raise ValueError(f"n_beta is {n_beta:g}; it must be greater than 0.")
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


@dataclass(frozen=True)
class _Named:
    """What makes a named landscape. shape: from a module with exp and log (numpy, torch) to its functions."""

    label: str
    formula: str
    about: str
    shape: Callable[[ModuleType], Shape]
    parameters: tuple[float, ...]
    mode: float
    bounds: tuple[float, float]
    learning_coefficient: Fraction = Fraction(1, 2)


class NamedLandscape(Landscape):
    """One of LANDSCAPES, in closed form. Raises ValueError for another name."""

    def __init__(self, name: str):
        if not isinstance(name, str) or name not in _NAMED:
            raise ValueError(f"Unknown landscape {name!r}; choose one of {', '.join(_NAMED)}.")
        about = _NAMED[name]
        self.name, self.label, self.formula, self.about = name, about.label, about.formula, about.about
        self.mode, self.bounds = about.mode, about.bounds
        self.scalar, self.parameters = _SCALAR[name], np.array(about.parameters)
        self.learning_coefficient = LearningCoefficient(about.learning_coefficient)
        self.local_learning_coefficient = self.learning_coefficient

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name}

    def _torch(self, which: str, x: Tensor) -> Tensor:
        return getattr(_NAMED[self.name].shape(torch), which)(x, _NAMED[self.name].parameters)


def _normal(m: ModuleType) -> Shape:
    return Shape(lambda x, p: x * x / p[0], lambda x, p: x, lambda x, p: x * 0 + 1)


def _double_well(m: ModuleType) -> Shape:
    """h(y − 1)², y = (x/m)²; p = (h, 1/m²)."""

    def energy(x: Any, p: Any) -> Any:
        return p[0] * (x * x * p[1] - 1) ** 2

    def slope(x: Any, p: Any) -> Any:
        return 4 * p[0] * p[1] * x * (x * x * p[1] - 1)

    def curvature(x: Any, p: Any) -> Any:
        return 4 * p[0] * p[1] * (3 * x * x * p[1] - 1)

    return Shape(energy, slope, curvature)


def _skewed(m: ModuleType) -> Shape:
    """a(e^x − 1 − x); p = (a,)."""

    def energy(x: Any, p: Any) -> Any:
        return p[0] * (m.expm1(x) - x)

    def slope(x: Any, p: Any) -> Any:
        return p[0] * (m.exp(x) - 1)

    def curvature(x: Any, p: Any) -> Any:
        return p[0] * m.exp(x)

    return Shape(energy, slope, curvature)


def _student_t(m: ModuleType) -> Shape:
    """(ν + 1)/2·log(1 + x²/ν); p = (ν,)."""

    def energy(x: Any, p: Any) -> Any:
        return (p[0] + 1) / 2 * m.log1p(x * x / p[0])

    def slope(x: Any, p: Any) -> Any:
        return (p[0] + 1) * x / (p[0] + x * x)

    def curvature(x: Any, p: Any) -> Any:
        return (p[0] + 1) * (p[0] - x * x) / ((p[0] + x * x) * (p[0] + x * x))

    return Shape(energy, slope, curvature)


def _quartic(m: ModuleType) -> Shape:
    return Shape(lambda x, p: x * x * x * x / p[0], lambda x, p: x * x * x, lambda x, p: 3 * x * x)


_NAMED = {
    "normal": _Named(
        "Normal",
        r"U=\tfrac12 x^2",
        "The standard normal law, the target of Rensmeyer & Niggemann's experiments.",
        _normal,
        (2.0,),
        0.0,
        (-7.5, 7.5),
    ),
    "double_well": _Named(
        "Double well",
        r"U=2\left(\frac{x^2}{1.5^2}-1\right)^2",
        "Two equal modes at ±1.5 with a barrier of height 2 between them, low enough to be crossed often.",
        _double_well,
        (2.0, 1 / 2.25),
        1.5,
        (-3.5, 3.5),
    ),
    "skewed": _Named(
        "Skewed",
        r"U=2\left(e^x-1-x\right)",
        "The law of the logarithm of a gamma variable: steep on the right, a long tail on the left.",
        _skewed,
        (2.0,),
        0.0,
        (-15.0, 3.3),
    ),
    "student_t": _Named(
        "Student t",
        r"U=3\log\left(1+\tfrac{x^2}{5}\right)",
        "Student's t law with 5 degrees of freedom: far out, where the mass is small, the slope vanishes.",
        _student_t,
        (5.0,),
        0.0,
        (-500.0, 500.0),
    ),
    "quartic": _Named(
        "Quartic",
        r"U=\tfrac14 x^4",
        "A degenerate minimum, flat at its bottom and steep outside: its learning coefficient is 1/4.",
        _quartic,
        (4.0,),
        0.0,
        (-3.4, 3.4),
        Fraction(1, 4),
    ),
}
LANDSCAPES = tuple(_NAMED)
_SCALAR = {name: about.shape(np) for name, about in _NAMED.items()}


def landscape(target: Landscape | Mapping[str, Any] | str) -> Landscape:
    """A landscape from itself, a name in LANDSCAPES, or its JSON description.

    {"kind": "landscape", "name": "normal"}; or {"points": [[x, density], …]} in place of the name, see
    `llc_core.potentials.line.tables.PointsLandscape`; or {"expression": "exp(-x^4/4)", "of": "density" | "energy"}, see
    `llc_core.potentials.line.tables.ExpressionLandscape`. Raises ValueError with a sentence for anything else.
    """
    if isinstance(target, Landscape):
        return target
    if isinstance(target, str):
        return NamedLandscape(target)
    if not isinstance(target, Mapping):
        raise ValueError(
            f"target must be a landscape, its description or one of {', '.join(LANDSCAPES)}, not a {type(target).__name__}."
        )
    values = dict(target)
    kind = values.pop("kind", "landscape")
    if kind != "landscape":
        raise ValueError(f"The target is of kind {kind!r}; it must be a landscape, which has one parameter.")
    unknown = sorted(str(k) for k in values if k not in KEYS)
    if unknown:
        raise ValueError(f"Unknown key {unknown[0]!r} in the landscape; known keys: {', '.join(KEYS)}.")
    given = [key for key in ("name", "points", "expression") if values.get(key) is not None]
    if len(given) != 1:
        raise ValueError("A landscape needs one of name, points and expression.")
    if values.get("of") is not None and given != ["expression"]:
        raise ValueError(f"of belongs to an expression, not to a {given[0]}; leave it out.")
    if given == ["name"]:
        return NamedLandscape(values["name"])
    from llc_core.potentials.line.tables import ExpressionLandscape, PointsLandscape  # scipy: only where it is needed

    if given == ["points"]:
        return PointsLandscape(values["points"])
    return ExpressionLandscape(values["expression"], values.get("of") or "density")
