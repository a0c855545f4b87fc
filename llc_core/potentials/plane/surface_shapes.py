"""The functions behind the energies over the plane, as scalar arithmetic for compiled loops and for tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

TWO_PI = 2 * np.pi


@dataclass(frozen=True)
class SurfaceShape:
    """U as scalar arithmetic, and U with its slopes for compiled kernels; `tensor` is the latter for tensors.

    energy: (x, y, q) ↦ U.  with_slopes: (x, y, q) ↦ (U, U_x, U_y), which have much of their arithmetic in common.
    tensor: the same for tensors [C]; None: `with_slopes` will do.
    """

    energy: Callable[..., Any]
    with_slopes: Callable[..., Any]
    tensor: Callable[..., Any] | None = None


# -- 25 modes -----------------------------------------------------------------------------------------------------------


FAR = 20.0
"""x² + y² from which on the energy grows with it besides, as printed: nothing of the box |x|, |y| ≤ 2.5 is there."""


def _modes_energy(x: Any, y: Any, q: Any) -> Any:
    r = x * x + y * y
    return 0.2 * r + (r > FAR) * (r - FAR) - 2 * (np.cos(TWO_PI * x) + np.cos(TWO_PI * y))


def _modes_with_slopes(x: Any, y: Any, q: Any) -> Any:
    r = x * x + y * y
    far = r > FAR
    energy = 0.2 * r + far * (r - FAR) - 2 * (np.cos(TWO_PI * x) + np.cos(TWO_PI * y))
    pull = 0.4 + 2 * far
    return energy, pull * x + 4 * np.pi * np.sin(TWO_PI * x), pull * y + 4 * np.pi * np.sin(TWO_PI * y)


def _modes_tensor(x: Tensor, y: Tensor, q: Any) -> Any:
    wx, wy = TWO_PI * x, TWO_PI * y
    r = x * x + y * y
    far = r > FAR
    energy = 0.2 * r + far * (r - FAR) - 2 * (wx.cos() + wy.cos())
    pull = 2 * far  # whole numbers, so that 0.4 is never rounded to float32
    return energy, 0.4 * x + pull * x + 4 * np.pi * wx.sin(), 0.4 * y + pull * y + 4 * np.pi * wy.sin()


# -- mixtures: q = (count, then weight, x, y, sd of each) -----------------------------------------------------------------


def _mixture_energy(x: Any, y: Any, q: Any) -> Any:
    total = 0.0 * x
    for k in range(int(q[0])):
        w, a, b, s = q[4 * k + 1], q[4 * k + 2], q[4 * k + 3], q[4 * k + 4]
        total = total + w / (s * s) * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * s * s))
    return -np.log(total + 1e-300)


def _mixture_with_slopes(x: Any, y: Any, q: Any) -> Any:
    total, along_x, along_y = 0.0 * x, 0.0 * x, 0.0 * x
    for k in range(int(q[0])):
        w, a, b, s = q[4 * k + 1], q[4 * k + 2], q[4 * k + 3], q[4 * k + 4]
        each = w / (s * s) * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * s * s))
        total = total + each
        along_x = along_x + each * (x - a) / (s * s)
        along_y = along_y + each * (y - b) / (s * s)
    return -np.log(total + 1e-300), along_x / (total + 1e-300), along_y / (total + 1e-300)


def _mixture_tensor(x: Tensor, y: Tensor, q: Any) -> Any:
    n = int(q[0])
    w, a, b, s = (x.new_tensor(q[1 + i : 1 + 4 * n : 4]) for i in range(4))
    dx, dy = x.unsqueeze(1) - a, y.unsqueeze(1) - b
    each = w / (s * s) * (-(dx * dx + dy * dy) / (2 * s * s)).exp()
    total = each.sum(dim=1) + torch.finfo(x.dtype).tiny
    return -total.log(), (each * dx / (s * s)).sum(dim=1) / total, (each * dy / (s * s)).sum(dim=1) / total


# -- singular minima: q = (exponents) -------------------------------------------------------------------------------------


def _sum_energy(x: Any, y: Any, q: Any) -> Any:
    return abs(x) ** q[0] + abs(y) ** q[1]


def _sum_with_slopes(x: Any, y: Any, q: Any) -> Any:
    energy = abs(x) ** q[0] + abs(y) ** q[1]
    return energy, q[0] * x * abs(x) ** (q[0] - 2), q[1] * y * abs(y) ** (q[1] - 2)


def _product_energy(x: Any, y: Any, q: Any) -> Any:
    return abs(x) ** q[0] * abs(y) ** q[1]


def _product_with_slopes(x: Any, y: Any, q: Any) -> Any:
    of_x, of_y = abs(x) ** q[0], abs(y) ** q[1]
    return of_x * of_y, q[0] * x * abs(x) ** (q[0] - 2) * of_y, q[1] * y * abs(y) ** (q[1] - 2) * of_x


def _basins_energy(x: Any, y: Any, q: Any) -> Any:
    r = x * x + y * y
    return (x - 1) ** 2 * r**4


def _basins_with_slopes(x: Any, y: Any, q: Any) -> Any:
    r, line = x * x + y * y, x - 1
    return line**2 * r**4, 2 * line * r**4 + 8 * x * line * line * r**3, 8 * y * line * line * r**3


SHAPES: Mapping[str, SurfaceShape] = {
    "modes25": SurfaceShape(_modes_energy, _modes_with_slopes, _modes_tensor),
    "mixture": SurfaceShape(_mixture_energy, _mixture_with_slopes, _mixture_tensor),
    "sum": SurfaceShape(_sum_energy, _sum_with_slopes),
    "product": SurfaceShape(_product_energy, _product_with_slopes),
    "two_basins": SurfaceShape(_basins_energy, _basins_with_slopes),
}
SURFACES = tuple(SHAPES)
