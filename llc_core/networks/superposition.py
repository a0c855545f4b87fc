"""The toy model of superposition: more features than hidden units, one feature at a time, and solutions that are regular polygons.

Its loss over all data is known in closed form, so that no sample of data stands between a solution and its λ.
Sources: Elhage et al. 2022 (arXiv 2209.10652); Chen, Lau, Mendel, Wei & Murfet 2023 (arXiv 2310.06301), for λ of the polygons.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor, nn

from llc_core.fields import choice, whole
from llc_core.potentials.module.network import NetworkPotential
from llc_core.types import LearningCoefficient

HIDDEN = 2
SILENT = -0.5
"""Bias of a feature that is left out. Any bias below 0 will do: its output stays 0, whatever is near it."""
LEFT_OUT = ("silent", "mean")
ROUNDS = 60


class Superposition(nn.Module):
    """x̂ = ReLU(WᵀWx + b) with W [2, features] and b [features]; x has one feature, uniform on [0, 1], all others 0.

    forward(which): rows of the unit matrix [B, features] → the expected squared error of each of these features, [B]:
    Σ_j ∫₀¹ (x·δ_ij − ReLU(m_ij·x + b_j))² dx with m = WᵀW, integrated exactly. Their mean is the loss over all data.
    """

    def __init__(self, weight: Tensor, bias: Tensor):
        super().__init__()
        self.weight, self.bias = nn.Parameter(weight.clone()), nn.Parameter(bias.clone())

    def forward(self, which: Tensor) -> Tensor:
        overlap = which @ (self.weight.mT @ self.weight)
        return _error(overlap, self.bias.expand_as(overlap), which).sum(dim=-1)


def _error(m: Tensor, b: Tensor, t: Tensor) -> Tensor:
    """∫₀¹ (t·x − ReLU(m·x + b))² dx, elementwise."""
    flat = m.abs() < 1e-12
    zero = torch.where(flat, 0.0, -b / torch.where(flat, 1.0, m)).clamp(0.0, 1.0)
    rises, falls = m > 0, m < 0
    always = (b > 0).to(m.dtype)
    low = torch.where(rises & ~flat, zero, torch.zeros_like(zero))
    high = torch.where(rises & ~flat, torch.ones_like(zero), torch.where(falls & ~flat, zero, always))
    # Where the sign of m·x + b does not change in between, all of it counts or nothing.
    high = torch.maximum(high, low)
    first, second, third = (high**k - low**k for k in (1, 2, 3))
    inside = m * third / 3 + b * second / 2
    squared = m.square() * third / 3 + m * b * second + b.square() * first
    return t.square() / 3 - 2 * t * inside + squared


def polygon(sides: int, features: int = 6, left_out: str = "silent") -> Superposition:
    """The solution that puts the first `sides` features on a regular polygon and leaves the others out.

    left_out: "silent", with a bias below 0, so that nothing of them is seen; "mean": with the best constant output, 1/(2·features).
    Length and bias are those of the least loss, found by Newton's method in double precision. Raises ValueError for fewer than
    four sides, where two features share no plane, and for more sides than features.
    """
    features = whole("features", features, 4, 100)
    sides = whole("sides", sides, 4, features)
    other = SILENT if choice("left_out", left_out, LEFT_OUT) == "silent" else 1 / (2 * features)
    angles = 2 * math.pi * torch.arange(sides, dtype=torch.float64) / sides
    around = torch.stack([angles.cos(), angles.sin()])

    def module(of: Tensor) -> tuple[Tensor, Tensor]:
        weight = torch.cat([of[0] * around, torch.zeros(HIDDEN, features - sides, dtype=torch.float64)], dim=1)
        bias = torch.cat([of[1].expand(sides), torch.full((features - sides,), other, dtype=torch.float64)])
        return weight, bias

    def loss(of: Tensor) -> Tensor:
        weight, bias = module(of)
        overlap = weight.mT @ weight
        return _error(overlap, bias.expand_as(overlap), torch.eye(features, dtype=torch.float64)).sum(dim=1).mean()

    # Four corners do not see one another, and are exact; more lean on their biases.
    at = torch.tensor([1.0, 0.0] if sides == 4 else [1.1, -0.1], dtype=torch.float64)
    for _ in range(0 if sides == 4 else ROUNDS):
        slope = torch.func.grad(loss)(at)
        at = at - torch.linalg.solve(torch.func.hessian(loss)(at), slope)
    return Superposition(*module(at))


def superposition(sides: int, features: int = 6, left_out: str = "silent", **options: Any) -> NetworkPotential:
    """The loss over all data around a polygon, for `llc_core.estimate`; nβ is best given, such as n_beta=5e4.

    options: of `NetworkPotential`. `polygon_coefficient` has its exact λ.
    """
    which = torch.eye(features, dtype=torch.float64)
    given = {"n": 10**6, "shuffle": False, **options}
    module = polygon(sides, features, left_out)
    return NetworkPotential(module, _its_own, (which, torch.zeros(features)), **given)


def _its_own(output: Tensor, target: Tensor) -> Tensor:
    return output


def polygon_coefficient(sides: int, features: int = 6, left_out: str = "silent") -> LearningCoefficient:
    """λ of a polygon with at least five sides: half of all parameters but those that move it without a loss.

    These are the turn of the plane, and, for each feature that is silent, its two weights and its bias.
    Source: Chen et al. 2023: of six features 7 for the pentagon, 8.5 for the pentagon whose sixth feature has
    a positive bias, 8.5 for the hexagon.
    """
    features = whole("features", features, 5, 100)
    sides = whole("sides", sides, 5, features)
    silent = choice("left_out", left_out, LEFT_OUT) == "silent"
    free = 1 + silent * (HIDDEN + 1) * (features - sides)
    return LearningCoefficient(Fraction((HIDDEN + 1) * features - free, 2), 1)
