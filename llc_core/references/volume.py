"""The volume-scaling law: V(ε) = prior volume of {K(w) < ε} ~ c·ε^λ·(−log ε)^(m−1), and λ and m read off its curve.

The meaning of the learning coefficient (Watanabe 2009, theorem 7.1; Lau, Murfet & Wei, section 3): the fewer parameters
are within ε of the truth, the larger λ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llc_core.compute.streams import numpy_stream
from llc_core.fields import choice, number, whole
from llc_core.potentials.plane.regression import Planar

LOW, HIGH = 1e-30, 1e-2
"""Range of ε, in units of the largest K near w0 (about 1 around a crossing)."""
RADIUS = 1.0
CLEAR = 0.8
"""The box goes this part of the way to the nearest point with another λ."""
POINTS = 1200
"""Cells along one parameter."""
CURVE = 100
SMOOTH = 11
"""Points of the curve over which its slope is taken."""
FIT_SHARE = 0.6
"""The fit uses this lower part of the range of log ε, where the distribution's leading term rules."""
BETTER = 4.0
"""A higher multiplicity is believed when it makes the residuals smaller by this factor."""


@dataclass(frozen=True)
class VolumeScaling:
    """V(ε) near w0 and what it says.

    epsilon, volume: [N], the curve.  slope: [N], d log V / d log ε, which tends to λ.
    learning_coefficient, multiplicity: fitted.  fitted: [N], the fitted curve, for plots.
    """

    epsilon: np.ndarray
    volume: np.ndarray
    slope: np.ndarray
    fitted: np.ndarray
    learning_coefficient: float
    multiplicity: int


def volume_scaling(
    problem: Planar,
    radius: float | None = None,
    shape: str = "box",
    low: float | None = None,
    high: float | None = None,
    points: int = POINTS,
) -> VolumeScaling:
    """V(ε) within `radius` of w0 (a "box" |w_i − w0_i| < radius or a "ball"), with the monomial prior, normalised to 1.

    Cells are of equal size in t, w_i − w0_i = s·sinh(t), so that small ε are resolved as well as large ones. Each cell has one
    random point, the same at every call. At 1200 × 1200 cells V is right to about 10⁻³.

    radius: None: 1, or less if the box would reach a point with another λ (`local_radius`).
    low, high: range of ε; None: 10⁻³⁰ to 10⁻², in units of the largest K near w0.
    Raises ValueError with one sentence for a radius or a range that cannot be.
    """
    if not isinstance(problem, Planar):
        raise ValueError(f"problem must be a planar landscape, not a {type(problem).__name__}.")
    if not problem.model.on_axes:
        raise ValueError(
            "The cells of this volume lie along axes, and the zeros of a formula do not: use a named landscape."
        )
    radius = local_radius(problem) if radius is None else number("radius", radius, above=0)
    size = _size(problem, radius)
    choice("shape", shape, ("box", "ball"))
    low = LOW * size if low is None else number("low", low)
    high = HIGH * size if high is None else number("high", high)
    if not 1e-200 <= low < high:
        raise ValueError(f"low is {low:g} and high {high:g}; choose 1e-200 ≤ low < high.")
    points = whole("points", points, 100, 6000) if problem.dim > 1 else 100_000
    loss, mass = _cells(problem, radius, shape, low, points)
    order = np.argsort(loss)
    below = np.cumsum(mass[order])
    epsilon = np.geomspace(low, high, CURVE)
    at = np.searchsorted(loss[order], epsilon)
    if at[0] < 100:
        raise ValueError(f"low is {low:g}, where fewer than 100 of the cells lie; use a larger low or more points.")
    from scipy.signal import savgol_filter

    volume = below[at - 1] / below[-1]
    slope = savgol_filter(np.log(volume), SMOOTH, 2, deriv=1, delta=np.log(high / low) / (CURVE - 1))
    return _fit(epsilon, volume, slope, problem.dim)


def local_radius(problem: Planar) -> float:
    """Half width of a box around w0 that reaches no point with another λ, at most RADIUS."""
    model = problem.model
    if model.name == "line_and_point":
        # The line w1 = 1 and the point 0 have the distance 1.
        return 0.25 if model.w0[0] else RADIUS
    # Beside a crossing the other axis is |w_i| away.
    others = [abs(w) for w, degree in zip(model.w0, model.degrees, strict=True) if w and degree]
    return min([RADIUS, *(CLEAR * w for w in others)])


def _size(problem: Planar, radius: float) -> float:
    """Size of K in the box, where it is 1 around a crossing: smaller around a w0 that lies beside the crossing."""
    model = problem.model
    if model.name != "normal_crossing" or not any(model.w0) or radius > local_radius(problem):
        return 1.0
    parts = zip(model.w0, model.degrees, strict=True)
    return math.prod((abs(w) if w else radius) ** (2 * degree) for w, degree in parts if degree)


def _cells(problem: Planar, radius: float, shape: str, low: float, points: int) -> tuple[np.ndarray, np.ndarray]:
    """K and the prior's mass of every cell."""
    dim = problem.dim
    scale = min(1e-3, 0.1 * np.sqrt(2 * low) * problem.noise_std) * radius
    edge = np.arcsinh(radius / scale)
    step = 2 * edge / points
    corner = np.meshgrid(*[np.arange(points) * step - edge] * dim, indexing="ij")
    # The points are random because {K < ε} may follow an axis: on an even grid a whole row of cells would cross ε at once.
    stream = numpy_stream(0, "volume")
    t = [c + step * stream.random(c.shape) for c in corner]
    delta = [scale * np.sinh(u) for u in t]
    mass = np.ones_like(t[0])
    for u, d, power, w0 in zip(t, delta, problem.model.powers, problem.model.w0, strict=True):
        mass *= np.cosh(u)
        if power:
            mass *= np.abs(d + w0) ** power
    loss = np.broadcast_to(problem.population_loss(delta), mass.shape)
    if shape == "ball":
        mass = np.where(sum(d * d for d in delta) < radius**2, mass, 0.0)
    return loss.ravel(), mass.ravel()


def _fit(epsilon: np.ndarray, volume: np.ndarray, slope: np.ndarray, dim: int) -> VolumeScaling:
    """log V = λ·log ε + log p(−log ε) with a polynomial p of degree m − 1."""
    from scipy.optimize import least_squares

    x, y = np.log(epsilon), np.log(volume)
    used = x <= x[0] + FIT_SHARE * (x[-1] - x[0])
    fits = []
    for multiplicity in range(1, dim + 1):

        def curve(p: np.ndarray, x: np.ndarray) -> np.ndarray:
            # e^p keeps the leading coefficient positive; the constant may have either sign
            inner = np.exp(p[1]) if len(p) == 2 else np.exp(p[1]) * (-x) + p[2]
            return p[0] * x + np.log(np.maximum(inner, 1e-300))

        start = np.array([slope[used].mean(), 0.0, 1.0][: multiplicity + 1])
        found = least_squares(lambda p, f=curve: f(p, x[used]) - y[used], start, x_scale="jac")
        fits.append((float(np.sqrt(np.mean(found.fun**2))), multiplicity, found.x, curve(found.x, x)))
    best = fits[0]
    for fit in fits[1:]:
        if fit[0] * BETTER < best[0]:
            best = fit
    return VolumeScaling(epsilon, volume, slope, np.exp(best[3]), float(best[2][0]), best[1])
