"""Jets of second order: values that travel with their first two derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Jet = tuple[np.ndarray, np.ndarray, np.ndarray]
"""A value and its first and second derivative."""


def chain(u: Jet, f: Any, f1: Any, f2: Any) -> Jet:
    """f(u), from f and its derivatives at u."""
    return f, f1 * u[1], f2 * u[1] ** 2 + f1 * u[2]


def exp_of(u: Jet) -> Jet:
    f = np.exp(u[0])
    return chain(u, f, f, f)


def log_of(u: Jet) -> Jet:
    return chain(u, np.log(u[0]), 1 / u[0], -1 / u[0] ** 2)


def _sqrt(u: Jet) -> Jet:
    f = np.sqrt(u[0])
    return chain(u, f, 0.5 / f, -0.25 / (f * u[0]))


def _sin(u: Jet) -> Jet:
    return chain(u, np.sin(u[0]), np.cos(u[0]), -np.sin(u[0]))


def _cos(u: Jet) -> Jet:
    return chain(u, np.cos(u[0]), -np.sin(u[0]), -np.cos(u[0]))


def _tanh(u: Jet) -> Jet:
    f = np.tanh(u[0])
    return chain(u, f, 1 - f**2, -2 * f * (1 - f**2))


def _abs(u: Jet) -> Jet:
    return chain(u, np.abs(u[0]), np.sign(u[0]), 0 * u[0])


def _cosh(u: Jet) -> Jet:
    return chain(u, np.cosh(u[0]), np.sinh(u[0]), np.cosh(u[0]))


FUNCTIONS: dict[str, Callable[[Jet], Jet]] = {
    "exp": exp_of,
    "log": log_of,
    "sqrt": _sqrt,
    "sin": _sin,
    "cos": _cos,
    "tanh": _tanh,
    "abs": _abs,
    "cosh": _cosh,
}


def product(u: Jet, v: Jet) -> Jet:
    return u[0] * v[0], u[1] * v[0] + u[0] * v[1], u[2] * v[0] + 2 * u[1] * v[1] + u[0] * v[2]


def constant_power(u: Jet, n: float) -> Jet:
    """uⁿ; coefficients that are 0 must not meet an infinite power of 0."""
    f1 = n * u[0] ** (n - 1) if n != 0 else 0 * u[0]
    f2 = n * (n - 1) * u[0] ** (n - 2) if n not in (0, 1) else 0 * u[0]
    return chain(u, u[0] ** n, f1, f2)
