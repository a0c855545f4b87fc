"""The functions behind planar landscapes: ρ(w), its slopes, and the learning coefficients that are known exactly. Long, since
each brings its own.

All functions take displacements δ = w − w0 as a sequence of equally shaped arrays or tensors, one per parameter: near w0
nothing is then lost to rounding, however close a point is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
import torch

from llc_core.fields import FieldError, choice, is_list, number, whole
from llc_core.potentials.plane.curve import NEAR
from llc_core.potentials.plane.formulas import EXAMPLE, ZERO, plane_formula
from llc_core.potentials.plane.strokes import FARTHEST, read_strokes
from llc_core.theory.rank_checks import show
from llc_core.types import LearningCoefficient

Point = tuple[float, ...]
WithSlopes = tuple[list[Any], list[list[Any]]]
MAX_POWER = 12
POINTS: Mapping[str, Point] = {"U": (1.0, 0.3), "V": (0.0, 0.0)}


@dataclass(frozen=True)
class Model:
    """ρ: R^D → R^q with ρ(w0) = 0, so that K(w) = Σ ρ_j²/(2s²) is a population loss with its minimum 0 at w0.

    rho: δ ↦ q values.  with_slopes: δ ↦ the same and their q rows of D slopes, which have much of their arithmetic in common.
    powers: h of the prior ∏|w_i|^{h_i}.
    ridge: the displacement around which {ρ = 0} runs along the axes, for quadrature.  start: where chains begin.
    degrees: the highest power of each parameter in ρ: the larger, the sharper the posterior's edges on a log scale.
    local, overall: λ and multiplicity at w0, and their least over the plane; None: not known.  formula: LaTeX of ρ.
    parameters: what distinguishes this model from others of its name, for its JSON description.
    """

    name: str
    formula: str
    about: str
    w0: Point
    rho: Callable[[Sequence[Any]], list[Any]]
    with_slopes: Callable[[Sequence[Any]], WithSlopes]
    local: LearningCoefficient | None
    overall: LearningCoefficient | None
    parameters: Mapping[str, Any]
    powers: Point
    ridge: Point
    start: Point
    degrees: Point
    outputs: int = 1
    on_axes: bool = True
    """Whether {ρ = 0} runs along axes or through `ridge`, where the quadrature of all data sets at once looks for it."""
    steepness: Callable[[Sequence[np.ndarray]], np.ndarray] | None = None
    """δ ↦ a bound of the slope of ‖ρ‖, for quadrature; None: it is taken from the Jacobian."""

    @property
    def dim(self) -> int:
        return len(self.w0)

    def jacobian(self, delta: Sequence[Any]) -> list[list[Any]]:
        """The slopes alone, q rows of D."""
        return self.with_slopes(delta)[1]


def normal_crossing(k: Any = (1, 1), h: Any = None, at: Any = None) -> Model:
    """ρ = w_1^{k_1}·w_2^{k_2} (or w^k alone) with the prior |w_1|^{h_1}·|w_2|^{h_2}, at w0 = `at`, a place with ρ = 0; None: at 0.

    λ = min of (h_i + 1)/(2k_i) over the i with k_i > 0 and w0_i = 0, and its multiplicity is the number of i that reach it
    (Watanabe 2009, ch. 4; Lau, Murfet & Wei, section 5). k = (k, 0) is w^{2k} with a flat direction.
    """
    powers = _powers("k", k)
    prior = _powers("h", [0] * len(powers) if h is None else h)
    if len(prior) != len(powers):
        raise FieldError(
            "h", f"has {len(prior)} entries, but k has {len(powers)}; give one prior exponent per parameter."
        )
    if not any(powers):
        raise FieldError(
            "k", f"is {list(powers)}; at least one exponent must be positive, or the loss does not depend on w."
        )
    w0 = (0.0,) * len(powers) if at is None else _point(at, len(powers))
    ratios = {i: Fraction(b + 1, 2 * a) for i, (a, b) in enumerate(zip(powers, prior, strict=True)) if a > 0}
    here = [ratio for i, ratio in ratios.items() if w0[i] == 0]
    if not here:
        raise FieldError("at", f"is {list(w0)}, where ρ is not 0; w0 must lie on an axis with a positive exponent.")

    def places(delta: Sequence[Any]) -> list[Any]:
        return [c + d if c else d for c, d in zip(w0, delta, strict=True)]

    def rho(delta: Sequence[Any]) -> list[Any]:
        return [reduce(mul, [_power(x, a) for x, a in zip(places(delta), powers, strict=True) if a])]

    def with_slopes(delta: Sequence[Any]) -> WithSlopes:
        w = places(delta)
        raised = [_power(x, a) if a else None for x, a in zip(w, powers, strict=True)]
        row = []
        for i, (x, a) in enumerate(zip(w, powers, strict=True)):
            other = raised[1 - i] if len(w) == 2 else None
            if other is not None:
                row.append(0 * x if not a else other if a == 1 else a * _power(x, a - 1) * other)
            else:
                row.append(a * x ** (a - 1))
        return [reduce(mul, [factor for factor in raised if factor is not None])], [row]

    names = ["w"] if len(powers) == 1 else ["w_1", "w_2"]
    return Model(
        "normal_crossing",
        r"\rho=" + "".join(name + (f"^{{{a}}}" if a > 1 else "") for name, a in zip(names, powers, strict=True) if a),
        "A normal crossing: parameters are perfect where a factor is 0, and every λ is a ratio of exponents.",
        w0,
        rho,
        with_slopes,
        _least(here),
        _least(list(ratios.values())),
        {"k": list(powers), "h": list(prior), **({"at": list(w0)} if any(w0) else {})},
        tuple(float(b) for b in prior),
        tuple(-c for c in w0),
        # not at 0, where the prior's slope −h/w is infinite: as the paper's code does; elsewhere only beside a wall
        tuple(0.1 if not any(w0) or (b and not c) else 0.0 for b, c in zip(prior, w0, strict=True)),
        tuple(float(a) for a in powers),
    )


def line_and_point(at: Any = "V") -> Model:
    """ρ = (w_1 − 1)(w_1² + w_2²)²: λ = 1/2 on the line w_1 = 1, 1/4 at the point V = (0, 0).

    at: "V", "U", which is (1, 0.3), or any two coordinates of a point on the line.
    Source: Lau, Murfet & Wei, figure 1.
    """
    if isinstance(at, str):
        w0 = POINTS[choice("at", at, tuple(POINTS))]
    else:
        w0 = _point(at, 2)
        if w0[0] != 1 and w0 != POINTS["V"]:
            raise FieldError("at", f"is {list(w0)}, where ρ is not 0; give U, V, or a point (1, w_2) of the line.")
    name = next((name for name, point in POINTS.items() if point == w0), None)
    off_line = w0[0] - 1

    def rho(delta: Sequence[Any]) -> list[Any]:
        x, y = w0[0] + delta[0], w0[1] + delta[1]
        return [(off_line + delta[0]) * (x * x + y * y) ** 2]

    def with_slopes(delta: Sequence[Any]) -> WithSlopes:
        x, y, line = w0[0] + delta[0], w0[1] + delta[1], off_line + delta[0]
        square = x * x + y * y
        steep = 4 * line
        return [line * square**2], [[square * (square + steep * x), steep * square * y]]

    half, quarter = LearningCoefficient(Fraction(1, 2)), LearningCoefficient(Fraction(1, 4))
    return Model(
        "line_and_point",
        r"\rho=(w_1-1)(w_1^2+w_2^2)^2",
        "A smooth line of true parameters and, away from it, one deeper singular point with half its λ.",
        w0,
        rho,
        with_slopes,
        quarter if name == "V" else half,
        quarter,
        {"at": name or list(w0)},
        (0.0, 0.0),
        (1.0 - w0[0], -w0[1]),
        (0.0, 0.0),
        (5.0, 4.0),
    )


def quadratic(scales: Any = (1.0, 1.0)) -> Model:
    """ρ_j = s_j·w_j, one output for each parameter: a regular model, λ = D/2."""
    if not is_list(scales) or len(scales) not in (1, 2):
        raise FieldError("scales", f"is {show(scales)}; give a list of one or two numbers.")
    sizes = [number(f"scales[{i}]", s) for i, s in enumerate(scales)]
    for i, size in enumerate(sizes):
        if not 1e-3 <= abs(size) <= 1e3:
            raise FieldError(f"scales[{i}]", f"is {size:g}; its size must be at least 0.001 and at most 1000.")
    count = len(sizes)
    truth = LearningCoefficient(Fraction(count, 2))
    zero = (0.0,) * count

    def rho(delta: Sequence[Any]) -> list[Any]:
        return [s * d for s, d in zip(sizes, delta, strict=True)]

    def with_slopes(delta: Sequence[Any]) -> WithSlopes:
        none = [0 * d for d in delta]
        return rho(delta), [[s + none[j] if i == j else none[i] for i in range(count)] for j, s in enumerate(sizes)]

    return Model(
        "quadratic",
        r"\rho_j=s_jw_j",
        "A regular model: one minimum, curved in every direction, λ is half the number of parameters.",
        zero,
        rho,
        with_slopes,
        truth,
        truth,
        {"scales": sizes},
        zero,
        zero,
        zero,
        (1.0,) * count,
        count,
    )


def formula(rho: Any = EXAMPLE, at: Any = None) -> Model:
    """ρ as a formula in w1 and w2, read by `llc_core.potentials.plane.formulas` and never run as a program.

    at: w0, with ρ(w0) = 0; None: the zero that Newton steps find from (1, 0.5). Where ρ has a slope at w0 its zeros are a smooth
    curve there and λ is 1/2; elsewhere, and over the plane, λ is not known.
    """
    found = plane_formula(rho)
    w0 = found.zero_near(1.0, 0.5, FARTHEST) if at is None else _point(at, 2)
    if w0 is None:
        raise FieldError("rho", f"is {rho!r}, and no zero of it was found near (1, 0.5); give one as at.")
    here = [np.array([c]) for c in w0]
    value, slopes = found.with_slopes(here)
    if not abs(float(value[0])) <= ZERO:
        near = found.zero_near(w0[0], w0[1], FARTHEST)
        remedy = "" if near is None else f", such as ({near[0]:.12g}, {near[1]:.12g})"
        raise FieldError(
            "at", f"is {list(w0)}, where ρ is {float(value[0]):.4g} and not 0; give a point of the valley{remedy}."
        )
    slope = float(np.hypot(slopes[0][0], slopes[1][0]))

    def with_slopes(delta: Sequence[Any]) -> WithSlopes:
        value, slopes = found.with_slopes([c + d for c, d in zip(w0, delta, strict=True)])
        return [value], [list(slopes)]

    return Model(
        "formula",
        rf"\rho={found.latex}",
        "Your own function: the perfect parameters are its zeros.",
        w0,
        lambda delta: [found.value([c + d for c, d in zip(w0, delta, strict=True)])],
        with_slopes,
        LearningCoefficient(Fraction(1, 2)) if slope > LEAST_SLOPE else None,
        None,
        {"rho": rho, "at": list(w0)},
        (0.0, 0.0),
        (0.0, 0.0),
        (0.0, 0.0),
        (1.0, 1.0),
        on_axes=False,
    )


EXAMPLE_STROKES = (((-2.0, -1.0), (0.0, 0.5), (2.0, -1.0)),)


def drawn(strokes: Any = EXAMPLE_STROKES, at: Any = None) -> Model:
    """Valleys along smooth curves through points, strokes [[[x, y], …], …]: ‖ρ‖ is the product of the distances to all strokes.

    ρ has two outputs: the way from the nearest point of a stroke, as a complex number, times that of the other strokes. Across a
    stroke it is as smooth as a coordinate; where two of its points are as near, it jumps, and K does not.
    at: w0, a point of a stroke; None: a place where strokes cross, or the middle of the first. λ at w0, where p strokes pass in
    different directions: K is r^{2p} times what vanishes twice on each of them, so λ = min(1/2, 1/p), m = 2 for p = 2 and else 1, at
    ends too. It is not known where strokes touch.
    """
    found = read_strokes(strokes)
    w0 = (found.crossings or [found.middle])[0] if at is None else _point(at, 2)
    nearest = found.nearest(*w0)
    if math.dist(nearest, w0) > NEAR:
        raise FieldError(
            "at",
            f"is {list(w0)}, which lies on no stroke; give a point of the valley, such as ({nearest[0]:.12g}, {nearest[1]:.12g}).",
        )

    def places(delta: Sequence[Any]) -> list[np.ndarray]:
        return [
            c + (d.detach().cpu().double().numpy() if isinstance(d, torch.Tensor) else d)
            for c, d in zip(w0, delta, strict=True)
        ]

    def like(values: np.ndarray, delta: Sequence[Any]) -> list[Any]:
        if isinstance(delta[0], torch.Tensor):
            return list(torch.from_numpy(values).to(delta[0]))
        return list(values)

    def with_slopes(delta: Sequence[Any]) -> WithSlopes:
        here = places(delta)
        return like(found.product(*here), delta), [like(row, delta) for row in found.slopes(*here)]

    return Model(
        "drawn",
        rf"\rho=\prod_{{j=1}}^{{{len(found.curves)}}}(w-P_j(w))" if len(found.curves) > 1 else r"\rho=w-P(w)",
        "A valley that was drawn. P(w) is the nearest point of a stroke; the loss grows with the squared distance to it.",
        w0,
        lambda delta: like(found.product(*places(delta)), delta),
        with_slopes,
        _of_bundles(found.bundles(*w0)),
        _least_of([_of_bundles(found.bundles(*point)) for point in found.crossings]),
        {"strokes": [[list(point) for point in curve.points] for curve in found.curves], "at": list(w0)},
        (0.0, 0.0),
        (0.0, 0.0),
        (0.0, 0.0),
        (1.0, 1.0),
        2,
        on_axes=False,
        steepness=lambda delta: found.steepness(*places(delta)),
    )


LEAST_ANGLE = 1e-3
"""Radians between two strokes, below which their directions may be the same: λ is then not known."""


def _of_bundles(bundles: Sequence[Sequence[Point]]) -> LearningCoefficient | None:
    """Of the directions in which each stroke leaves a point; None where two strokes leave in one direction."""
    for i, some in enumerate(bundles):
        for others in bundles[i + 1 :]:
            if any(math.dist(a, b) < LEAST_ANGLE for a in some for b in others):
                return None
    count = len(bundles)
    return LearningCoefficient(min(Fraction(1, 2), Fraction(1, max(count, 1))), 2 if count == 2 else 1)


def _least_of(found: Sequence[LearningCoefficient | None]) -> LearningCoefficient | None:
    """The least of the crossings, or of a smooth curve where there are none; None where one of them is not known."""
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    smooth = LearningCoefficient(Fraction(1, 2))
    return min([smooth, *known], key=lambda each: (each.value, -(each.multiplicity or 1)))


LEAST_SLOPE = 1e-4
"""Below it, a slope may be the rounding of a zero of higher order, whose coordinates are known to 10⁻⁵ only: λ is then not known."""
MODELS: Mapping[str, Callable[..., Model]] = {
    "normal_crossing": normal_crossing,
    "line_and_point": line_and_point,
    "quadratic": quadratic,
    "formula": formula,
    "drawn": drawn,
}


def _power(x: Any, a: int) -> Any:
    """x to the power a ≥ 1; the first is x itself, which takes no time."""
    return x if a == 1 else x**a


def _least(ratios: list[Fraction]) -> LearningCoefficient:
    return LearningCoefficient(min(ratios), ratios.count(min(ratios)))


def _point(at: Any, count: int) -> Point:
    if not is_list(at) or len(at) != count:
        raise FieldError("at", f"is {show(at)}; give {count} coordinate(s) of w0.")
    point = tuple(number(f"at[{i}]", value) for i, value in enumerate(at))
    for i, value in enumerate(point):
        if abs(value) > FARTHEST:
            raise FieldError(f"at[{i}]", f"is {value:g}; it must lie between −{FARTHEST:g} and {FARTHEST:g}.")
    return point


def _powers(name: str, values: Any) -> tuple[int, ...]:
    if not is_list(values) or len(values) not in (1, 2):
        raise FieldError(name, f"is {show(values)}; give a list of one or two exponents.")
    return tuple(whole(f"{name}[{i}]", v, 0, MAX_POWER) for i, v in enumerate(values))
