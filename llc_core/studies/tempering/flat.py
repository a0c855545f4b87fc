"""λ at every scale of the loss, from contour sampling: the multiplier of its force is a learning coefficient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from llc_core.fields import short
from llc_core.interactions.contour import SMALLEST, Contour


def scale_resolved_llc(contour: Contour, theta: Any) -> tuple[np.ndarray, np.ndarray]:
    """(E, λ(E)) in the middle of the bins [bins − 1] in which each multiplier acts, from what the contour learned, θ [bins].

    The multiplier at energy E = nβ·ΔL is M = 1 + ζ·d log θ/dE, and θ^ζ tends to the mass of a bin, ∝ g(E)·e^{−E} times its width,
    with g the density of states. So M = d log g/dE on equal bins, and where g ∝ E^{λ − 1}, as on a singular minimum,
        λ(E) = 1 + M·E;  on bins of log E, whose widths grow as E, λ(E) = M·E.
    In units of the loss u at temperature τ = 1/nβ this is λ(u) = 1 + M·u/τ: the multiplier that keeps a chain at u is the
    temperature at which u is typical, nβ = λ/u.
    The distribution interpolates θ from the lower edge of a bin to its upper one: with backward differences θ(J) stands at the upper edge
    of bin J, with forward ones at the lower. The outermost bins hold all energies beyond them, and say nothing near their edges.
    nan beside a bin that was hardly visited (θ below 10⁻³⁰⁰). Raises ValueError for a θ of another length, and for ζ = 0.
    Source: own derivation from Deng, Liang, Hao, Lin & Liang 2022, eq. 8.
    """
    values = np.asarray(theta, dtype=float)
    if values.shape != (contour.bins,):
        raise ValueError(f"theta is {short(theta)}; give {contour.bins} numbers, one for each bin of the contour.")
    if contour.zeta == 0:
        raise ValueError("zeta is 0, so that θ says nothing of the masses; give a zeta above 0.")
    edges = contour.edges
    log = contour.scale == "log"
    middle = np.sqrt(edges[1:] * edges[:-1]) if log else (edges[1:] + edges[:-1]) / 2
    at = middle[1:] if contour.difference == "backward" else middle[:-1]
    mass = np.where(values > SMALLEST, contour.zeta * np.log(np.maximum(values, SMALLEST)), math.nan)
    slope = np.diff(mass) / contour.width
    return at, at + slope if log else 1 + at * (1 + slope)
