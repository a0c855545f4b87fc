"""Formulas in w1 and w2 typed by people: a function ρ of the plane and its slopes, for arrays and tensors alike.

Slopes are exact (forward mode): every value travels with its derivatives by both parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from llc_core.fields import FieldError
from llc_core.potentials.line.expressions import Expression, Node, parse

VARIABLES = ("w1", "w2")
EXAMPLE = "w1^2 + w2^2 - 1"
SEEN = 6.0
"""Half width of the square around 0 in which a formula must be a finite number."""
GRID = 61
STEPS = 80
"""Newton steps to a zero; at a double zero each one only halves the distance."""

Value = tuple[Any, tuple[Any, Any]]
"""A value and its slopes by w1 and w2; numbers stand for constants."""


@dataclass(frozen=True)
class PlaneFormula:
    """ρ of a formula. Made by `plane_formula`."""

    text: str
    root: Node

    def value(self, w: Sequence[Any]) -> Any:
        """ρ at (w[0], w[1]), of the same shape."""
        return self.with_slopes(w)[0]

    def slopes(self, w: Sequence[Any]) -> list[Any]:
        """∂ρ/∂w1 and ∂ρ/∂w2, of the same shape."""
        return list(self.with_slopes(w)[1])

    def with_slopes(self, w: Sequence[Any]) -> Value:
        value, slopes = _evaluated(self.root, w)
        like = 0.0 * w[0]
        return value + like, (slopes[0] + like, slopes[1] + like)

    @property
    def latex(self) -> str:
        return Expression(self.text, self.root).latex

    def zero_near(self, x: float, y: float, reach: float) -> tuple[float, float] | None:
        """A point with ρ = 0 that Newton steps find from (x, y), within ±reach of 0; None where they find none."""
        w = np.array([x, y], dtype=float)
        for _ in range(STEPS):
            with np.errstate(all="ignore"):
                value, slopes = self.with_slopes([w[:1], w[1:]])
            slope = np.concatenate(slopes)
            size = float(slope @ slope)
            if value[0] == 0 or not (np.isfinite(size) and size > 0):
                break
            w = np.clip(w - value[0] * slope / size, -reach, reach)
        w = np.round(w, DIGITS) + 0.0
        with np.errstate(all="ignore"):
            return (float(w[0]), float(w[1])) if abs(float(self.value([w[:1], w[1:]])[0])) <= ZERO else None


DIGITS = 12
ZERO = 1e-9
"""A point with |ρ| up to here counts as one of the valley: coordinates are typed with a dozen digits."""


def plane_formula(text: Any) -> PlaneFormula:
    """The formula that a text stands for. ValueError, one sentence, for anything that is no smooth function of the plane."""
    try:
        root = parse(text, VARIABLES, EXAMPLE).root
    except FieldError as error:
        raise FieldError(f"rho: {error.label}", error.rest) from None
    root = _folded(root)
    if root[0] == "number":
        raise FieldError("rho", f"is {text!r}, which depends on neither w1 nor w2; write for example {EXAMPLE}.")
    found = PlaneFormula(text, root)
    axis = np.linspace(-SEEN, SEEN, GRID)
    mesh = np.meshgrid(axis, axis)
    with np.errstate(all="ignore"):
        value, slopes = found.with_slopes(mesh)
        bad = ~np.isfinite(value + slopes[0] + slopes[1])
    if bad.any():
        x, y = (float(part[bad][0]) for part in mesh)
        raise FieldError(
            "rho", f"or its slope is no finite number at w = ({x:g}, {y:g}); it must be one from −{SEEN:g} to {SEEN:g}."
        )
    return found


def _folded(node: Node) -> Node:
    """The same formula with every part that holds no variable as one number, so that nothing overflows later."""
    if node[0] == "number" or len(node) == 1:
        return node
    parts = [_folded(part) for part in node[1:]]
    if any(part[0] != "number" for part in parts):
        return (node[0], *parts)
    with np.errstate(all="ignore"):
        numbers = [np.float64(part[1]) for part in parts]
        value = float(_constant(node[0], numbers))
    if not np.isfinite(value):
        raise FieldError("rho", ": a part of the expression without w1 and w2 is no finite number.")
    return ("number", value)


def _constant(kind: str, numbers: Sequence[np.float64]) -> Any:
    if kind == "minus":
        return -numbers[0]
    if kind in FUNCTIONS:
        return FUNCTIONS[kind](np, numbers[0])[0]
    a, b = numbers
    return {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power}[kind](a, b)


def _evaluated(node: Node, w: Sequence[Any]) -> Value:
    kind = node[0]
    if kind == "number":
        return node[1], (0.0, 0.0)
    if len(node) == 1:
        here = VARIABLES.index(kind)
        return w[here], (float(here == 0), float(here == 1))
    u, slopes = _evaluated(node[1], w)
    if kind == "minus":
        return -u, _times(-1.0, slopes)
    if kind in FUNCTIONS:
        value, slope = FUNCTIONS[kind](_library(u), u)
        return value, _times(slope, slopes)
    v, others = _evaluated(node[2], w)
    if kind == "+":
        return u + v, _plus(slopes, others)
    if kind == "-":
        return u - v, _plus(slopes, _times(-1.0, others))
    if kind == "*":
        return u * v, _plus(_times(v, slopes), _times(u, others))
    if kind == "/":
        return u / v, _plus(_times(1 / v, slopes), _times(-u / v**2, others))
    if node[2][0] == "number":
        power = node[2][1]
        return u**power, _times(power * (u if power == 2 else u ** (power - 1)), slopes) if power else (0.0, 0.0)
    if node[1][0] == "number":
        value = _library(v).exp(v * float(np.log(u))) if u > 0 else 0.0 * v + float("nan")
        return value, _times(value * (float(np.log(u)) if u > 0 else float("nan")), others)
    log = _library(u).log(u)
    value = _library(u).exp(v * log)
    return value, _plus(_times(value * v / u, slopes), _times(value * log, others))


def _plus(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return a[0] + b[0], a[1] + b[1]


def _times(factor: Any, slopes: tuple[Any, Any]) -> tuple[Any, Any]:
    """A slope that is the number 0 stays it, and the number 1 is left out: parameters that a part does not hold cost nothing."""
    return _product(factor, slopes[0]), _product(factor, slopes[1])


def _product(factor: Any, slope: Any) -> Any:
    if isinstance(slope, float):
        return 0.0 if slope == 0 else factor if slope == 1 else factor * slope
    return factor * slope


def _library(value: Any) -> Any:
    return torch if isinstance(value, torch.Tensor) else np


FUNCTIONS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "exp": lambda of, u: (of.exp(u), of.exp(u)),
    "log": lambda of, u: (of.log(u), 1 / u),
    "sqrt": lambda of, u: (of.sqrt(u), 0.5 / of.sqrt(u)),
    "sin": lambda of, u: (of.sin(u), of.cos(u)),
    "cos": lambda of, u: (of.cos(u), -of.sin(u)),
    "tanh": lambda of, u: (of.tanh(u), 1 - of.tanh(u) ** 2),
    "cosh": lambda of, u: (of.cosh(u), of.sinh(u)),
    "abs": lambda of, u: (abs(u), of.sign(u)),
}
"""Name → (value, slope) in NumPy or torch: the functions of `llc_core.potentials.line.jets`."""
