"""The toy model of superposition: more features than hidden units, one feature at a time, and solutions that are regular polygons.

Its loss over all data is known in closed form, so that no sample of data stands between a solution and its λ.
Sources: Elhage et al. 2022 (arXiv 2209.10652); Chen, Lau, Mendel, Wei & Murfet 2023 (arXiv 2310.06301), for λ of the polygons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import torch
from torch import Tensor

from llc_core.fields import choice, known_keys, whole
from llc_core.potentials.base import Batch, Potential
from llc_core.types import LearningCoefficient

HIDDEN = 2
FEWEST, MOST = 5, 9
"""Sides. Four corners lie where the ReLU bends, so that no Hessian tells their λ; the ten-gon of ten features is a saddle: the least
value of its Hessian is −2.6e-4."""
MOST_FEATURES = 20
SILENT = -0.5
"""Bias of a feature that is left out. Any bias below 0 will do: its output stays 0, whatever is near it."""
LEFT_OUT = ("silent", "mean")
ROUNDS, NEAR = 60, 1e-14
SAMPLES = 10**6
FLAT = 1e-6
"""Curvatures below are 0: the least of the others is 0.0005, of nine of twenty features, and differences are off by 1e-11."""
LEAST, LEAST_STIFF = 2e4, 50.0
"""nβ, and nβ times the least curvature, from which on the quadratic part of the loss gives λ̂ within 1%. At nβ = 5,000 the hexagon is
.7% above it, the pentagon and a mean 2%; at 20,000 it is 0 and .3%; nine of nine features are .4% above it at 72,000."""
LATEST = 1e15
"""Samples up to which two solutions are compared."""


class Superposition(Potential):
    """The expected squared error of x̂ = ReLU(WᵀWx + b) around a polygon, W [2, features] and b [features].

    x has one feature, uniform on [0, 1], all others are 0: L(w) is the mean over i of Σ_j ∫₀¹ (x·δ_ij − ReLU(m_ij·x + b_j))² dx with
    m = WᵀW. Parameters are the rows of W, and then b.

    sides: corners of the polygon at w0, 5 to 9.  features: at least as many, up to 20.
    left_out: what w0 does with the other features. "silent": a bias below 0, so that nothing of them is seen; "mean": the best
        constant output, 1/(2·features).
    n: number of samples that nβ counts; the loss is that over all data. Raises ValueError for what is out of range.
    """

    kind = "superposition"
    local_learning_coefficient: LearningCoefficient
    localization = 100.0
    """It keeps a silent feature's bias within ± 0.3 of where it is. With γ = 1 it walks to 0, and the chain leaves for a better solution."""
    own_gradients = True
    w0_is_minimum = True

    def __init__(self, sides: int = 5, features: int = 6, left_out: str = "silent", n: int = SAMPLES):
        self.features, self.sides, self.left_out = _checked(sides, features, left_out)
        self.n = whole("n", n, 3, 10**15)
        self.dim = (HIDDEN + 1) * self.features
        self.w0 = torch.cat([part.flatten() for part in polygon(self.sides, self.features, self.left_out)])
        self._at_w0 = self._errors(self.w0[None])[0]
        self.baseline_loss = float(self._at_w0.sum()) / self.features
        self.local_learning_coefficient = polygon_coefficient(self.sides, self.features, self.left_out)

    @property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        return (HIDDEN, self.features), (self.features,)

    def _errors(self, place: Tensor) -> Tensor:
        """Squared error of each output j for each feature i at `place` [C, D], [C, features, features]."""
        weight, bias = self._parts(place)
        m = weight.mT @ weight
        return _error(
            m, bias[:, None, :].expand_as(m), torch.eye(self.features, dtype=place.dtype, device=place.device)
        )

    def _parts(self, place: Tensor) -> tuple[Tensor, Tensor]:
        split = HIDDEN * self.features
        return place[:, :split].unflatten(1, (HIDDEN, self.features)), place[:, split:]

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        weight, bias = self._parts(delta + self.origin(delta))
        m = weight.mT @ weight
        t = torch.eye(self.features, dtype=delta.dtype, device=delta.device)
        b = bias[:, None, :].expand_as(m)
        first, second, third = _moments(m, b)
        of_m, of_b = _slopes(m, b, t, first, second, third)
        # Error by error, so that the large common part cancels before it is summed.
        loss = (_squared(m, b, t, first, second, third) - self._at_w0.to(t)).sum(dim=(1, 2))
        of_weight = weight @ (of_m + of_m.mT)
        return loss / self.features, torch.cat([of_weight.flatten(1), of_b.sum(dim=1)], dim=1) / self.features

    def expected_llc_at(self, n_beta: float, localization: float) -> float | None:
        """Σ ½·nβh / (nβh + γ) over the curvatures h at w0; None where the loss is not quadratic enough at this nβ, see `LEAST`."""
        stiff = self._curvatures[self._curvatures > FLAT]
        if n_beta < LEAST or n_beta * float(stiff[0]) < LEAST_STIFF:
            return None
        return float((n_beta * stiff / (n_beta * stiff + localization)).sum()) / 2

    def expected_llc(self, n_beta: float | None = None) -> float | None:
        return self.expected_llc_at(n_beta or self.n_beta, self.localization)

    @cached_property
    def _curvatures(self) -> Tensor:
        """Values of the Hessian at w0, the least first; by differences of exact slopes."""
        moves = 1e-5 * torch.eye(self.dim, dtype=torch.float64)
        slopes = [self.excess_loss_and_grad(each)[1] for each in (moves, -moves)]
        hessian = (slopes[0] - slopes[1]) / 2e-5
        return torch.linalg.eigvalsh((hessian + hessian.mT) / 2)

    def origin(self, like: Tensor) -> Tensor:
        return self.w0.to(like)

    def to_dict(self) -> dict[str, Any]:
        own = {"sides": self.sides, "features": self.features, "left_out": self.left_out, "n": self.n}
        return {"kind": self.kind, **own}

    def __repr__(self) -> str:
        return f"superposition({self.sides}, {self.features}, {self.left_out!r}, n={self.n})"


def superposition(description: Mapping[str, Any] | int = 5, **values: Any) -> Superposition:
    """A `Superposition` by its sides and fields, or from its JSON description; ValueError says what does not fit."""
    given = dict(description) if isinstance(description, Mapping) else {"sides": description}
    values = {**{str(key): value for key, value in given.items() if key != "kind"}, **values}
    known_keys("the toy model of superposition", values, ("sides", "features", "left_out", "n"))
    return Superposition(**values)


def polygon(sides: int, features: int = 6, left_out: str = "silent") -> tuple[Tensor, Tensor]:
    """W [2, features] and b [features] of the solution with the first `sides` features on a regular polygon, in double precision.

    Length and bias are those of the least loss, found by Newton's method. left_out: as in `Superposition`. Four sides, exact, are here
    for their loss alone. Raises ValueError for fewer sides, where two features share no plane, and for more than features.
    """
    features = whole("features", features, 4, MOST_FEATURES)
    sides = whole("sides", sides, 4, features)
    other = SILENT if choice("left_out", left_out, LEFT_OUT) == "silent" else 1 / (2 * features)
    length, bias = _least_loss(sides)
    angles = _angles(sides)
    corners, rest = length * torch.stack([angles.cos(), angles.sin()]), features - sides
    weight = torch.cat([corners, corners.new_zeros(HIDDEN, rest)], dim=1)
    return weight, torch.cat([bias.expand(sides), corners.new_full((rest,), other)])


def _angles(sides: int) -> Tensor:
    return 2 * math.pi * torch.arange(sides, dtype=torch.float64) / sides


@cache
def _least_loss(sides: int) -> tuple[Tensor, Tensor]:
    """Length of the corners and their bias, whatever is left out: it meets the corners at 0 and their bias is below 0.

    Every corner sees the same, so that the loss of one is enough, in the square of the length and the bias. Four corners do not see one
    another, and are exact.
    """
    cosines, t = _angles(sides).cos(), torch.eye(sides, dtype=torch.float64)[0]

    def slopes(at: Tensor) -> Tensor:
        m, b = at[0] * cosines, at[1].expand(sides)
        of_m, of_b = _slopes(m, b, t, *_moments(m, b))
        return torch.stack([of_m @ cosines, of_b.sum()])

    at = torch.tensor([1.0, 0.0] if sides == 4 else [1.21, -0.1], dtype=torch.float64)
    steps = 1e-6 * torch.eye(2, dtype=torch.float64)
    for _ in range(0 if sides == 4 else ROUNDS):
        curvature = torch.stack([(slopes(at + step) - slopes(at - step)) / 2e-6 for step in steps], dim=1)
        move = torch.linalg.solve(curvature, slopes(at))
        at = at - move
        if float(move.abs().max()) < NEAR:
            break
    return at[0].sqrt(), at[1]


def polygon_coefficient(sides: int, features: int = 6, left_out: str = "silent") -> LearningCoefficient:
    """λ of a polygon: half of all parameters but those that move it without a loss.

    These are the turn of the plane, and, for each feature that is silent, its two weights and its bias.
    Source: Chen et al. 2023: of six features 7 for the pentagon, 8.5 for the pentagon whose sixth feature has
    a positive bias, 8.5 for the hexagon. Raises ValueError where a polygon has no such λ, see `FEWEST` and `MOST`.
    """
    features, sides, left_out = _checked(sides, features, left_out)
    free = 1 + (left_out == "silent") * (HIDDEN + 1) * (features - sides)
    return LearningCoefficient(Fraction((HIDDEN + 1) * features - free, 2), 1)


def even_samples(one: Superposition, other: Superposition) -> float | None:
    """n from which on the solution of the smaller loss has the smaller n·L + λ·log n; None where it has so for every n.

    That is the free energy to its first two orders (Watanabe 2009); what is left out does not grow with n.
    """
    better, worse = sorted((one, other), key=lambda each: each.baseline_loss)
    gain = worse.baseline_loss - better.baseline_loss
    price = float(better.local_learning_coefficient) - float(worse.local_learning_coefficient)
    if gain <= 0 or gain * math.e >= price:  # n / log n is never less than e
        return None
    low, top = math.e, LATEST
    for _ in range(ROUNDS):
        middle = math.sqrt(low * top)
        low, top = (low, middle) if middle * gain > price * math.log(middle) else (middle, top)
    return low


def _checked(sides: Any, features: Any, left_out: Any) -> tuple[int, int, str]:
    features = whole("features", features, FEWEST, MOST_FEATURES)
    return features, whole("sides", sides, FEWEST, min(MOST, features)), choice("left_out", left_out, LEFT_OUT)


def _moments(m: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """∫ 1 dx, 2·∫ x dx and 3·∫ x² dx over the part of [0, 1] in which m·x + b > 0, elementwise."""
    flat = m.abs() < 1e-12
    zero = torch.where(flat, 0.0, -b / torch.where(flat, 1.0, m)).clamp(0.0, 1.0)
    rises, falls = m > 0, m < 0
    always = (b > 0).to(m.dtype)
    low = torch.where(rises & ~flat, zero, torch.zeros_like(zero))
    high = torch.where(rises & ~flat, torch.ones_like(zero), torch.where(falls & ~flat, zero, always))
    # Where the sign of m·x + b does not change in between, all of it counts or nothing.
    high = torch.maximum(high, low)
    first, second, third = (high**k - low**k for k in (1, 2, 3))
    return first, second, third


def _squared(m: Tensor, b: Tensor, t: Tensor, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
    inside = m * third / 3 + b * second / 2
    return t.square() / 3 - 2 * t * inside + m.square() * third / 3 + m * b * second + b.square() * first


def _slopes(m: Tensor, b: Tensor, t: Tensor, first: Tensor, second: Tensor, third: Tensor) -> tuple[Tensor, Tensor]:
    """Of `_error`, in m and in b."""
    return (m - t) * third * (2 / 3) + b * second, (m - t) * second + 2 * b * first


def _error(m: Tensor, b: Tensor, t: Tensor) -> Tensor:
    """∫₀¹ (t·x − ReLU(m·x + b))² dx, elementwise."""
    return _squared(m, b, t, *_moments(m, b))
