"""The named targets on the line: normal, double well, skewed, Student t, quartic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import choice
from llc_core.potentials.line.landscape import Landscape, Shape
from llc_core.types import LearningCoefficient


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
        about = _NAMED[choice("landscape", name, tuple(_NAMED))]
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
        "The standard normal distribution, the target of Rensmeyer & Niggemann's experiments.",
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
        "The logarithm of a gamma variable: steep on the right, a long tail on the left.",
        _skewed,
        (2.0,),
        0.0,
        (-15.0, 3.3),
    ),
    "student_t": _Named(
        "Student t",
        r"U=3\log\left(1+\tfrac{x^2}{5}\right)",
        "Student's t distribution with 5 degrees of freedom: far out, where the mass is small, the slope vanishes.",
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
