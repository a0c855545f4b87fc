"""Networks whose output is linear in what moves: the posterior is normal for a squared error, and has one mode for a cross entropy."""

from __future__ import annotations

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import full_precision
from llc_core.potentials.module.calling import OfOutput
from llc_core.potentials.module.losses import CrossEntropy, cross_entropy, mse, squared_error
from llc_core.potentials.module.network import NetworkPotential

MOST_PRODUCTS = 1e9
"""Products that an answer may take, beyond which there is none: about a second of one core."""
MOST_WEIGHED = 64
"""Parameters up to which a cross entropy has an answer: in more dimensions the draws' weights become uneven."""
DRAWS = 8192
FREEDOM = 10
"""Degrees of freedom of the t distribution that is drawn from: its tails are above those of a posterior that the localisation holds."""
LEAST_SHARE = 0.2
"""Kish's share of the draws below which their weighted mean is no answer."""
NEWTON_STEPS = 50


class _Normal(NamedTuple):
    """A quadratic ΔL = Σ h·x²/2 + g·x in coordinates x that are a rotation of δ. curvature, slope: [D]."""

    curvature: np.ndarray
    slope: np.ndarray


_normals: WeakKeyDictionary[NetworkPotential, _Normal | None] = WeakKeyDictionary()


def linear_in_what_moves(problem: NetworkPotential) -> bool:
    """Whether one layer of a recognised stack moves, and neither it nor one above it has an activation."""
    if problem.stack is None or not isinstance(problem.calling, OfOutput):
        return False
    names = {piece.name for piece in problem.pieces}
    moving = [number for number, layer in enumerate(problem.stack) if {layer.weight, layer.bias} & names]
    return len(moving) == 1 and all(layer.activation is None for layer in problem.stack[moving[0] :])


def of_squared_error(problem: NetworkPotential, n_beta: float, localization: float) -> float:
    """E[nβ·ΔL] of a linear model with a squared error, exact at any n, nβ and γ ≥ 0; nan for another model, or one too large.

    The posterior is normal: of a direction of curvature h and slope g it has the precision a = nβh + γ and the mean −nβg/a, so
    that its share is nβ·[h(1/a + (nβg/a)²)/2 − nβg²/a] (Bishop 2006, section 3.3).
    """
    if problem not in _normals:
        _normals[problem] = _normal(problem)
    known = _normals[problem]
    if known is None:
        return math.nan
    h, g = known
    precision = n_beta * h + localization
    if not (precision > 0).all():
        return math.nan
    mean = -n_beta * g / precision
    return float((n_beta * (h * (1 / precision + mean**2) / 2 + g * mean)).sum())


@full_precision()
def _normal(problem: NetworkPotential) -> _Normal | None:
    dim = problem.dim
    if not linear_in_what_moves(problem) or problem.loss not in (mse, squared_error):
        return None
    if dim**2 * problem.samples > MOST_PRODUCTS:
        return None
    zero = torch.zeros(1, dim, dtype=torch.float64)
    slope = problem.excess_loss_and_grad(zero)[1]
    # The gradient of a quadratic is linear, so that differences of any size are its Hessian.
    hessian = problem.excess_loss_and_grad(torch.eye(dim, dtype=torch.float64))[1] - slope
    values, vectors = torch.linalg.eigh((hessian + hessian.T) / 2)
    return _Normal(values.clamp_min(0).numpy(), (slope @ vectors).squeeze(0).numpy())


@full_precision()
def of_cross_entropy(problem: NetworkPotential, n_beta: float, localization: float, seed: int) -> tuple[float, float]:
    """E[nβ·ΔL] of a linear model with a cross entropy and its standard error; nan and 0 where they are not known.

    The posterior is log-concave. Independent draws of a t distribution around its mode are weighed by what the posterior is there; since
    its tails are below that distribution's, the weights are bounded (Geweke 1989). There is no answer without localisation, for more than
    MOST_WEIGHED parameters, and where the weights are too uneven.
    """
    nothing = math.nan, 0.0
    fits = linear_in_what_moves(problem) and (problem.loss is cross_entropy or isinstance(problem.loss, CrossEntropy))
    if not fits or not localization > 0 or problem.dim > MOST_WEIGHED:
        return nothing
    if DRAWS * problem.dim * problem.samples > MOST_PRODUCTS:
        return nothing
    mode, root = _mode(problem, n_beta, localization)
    if root is None:
        return nothing
    stream = torch.Generator().manual_seed(seed)
    normals = torch.randn(DRAWS, problem.dim, generator=stream, dtype=torch.float64)
    squares = torch.randn(DRAWS, FREEDOM, generator=stream, dtype=torch.float64).square().mean(1, keepdim=True)
    t = normals / squares.sqrt()
    draws = mode + torch.linalg.solve_triangular(root.T, t.T, upper=True).T
    losses = n_beta * problem.excess_loss_and_grad(draws)[0]
    energy = losses + localization / 2 * draws.square().sum(1)
    drawn = -(FREEDOM + problem.dim) / 2 * (t.square().sum(1) / FREEDOM).log1p()
    weights = torch.softmax(-energy - drawn, 0)
    if not 1 / (DRAWS * weights.square().sum()) > LEAST_SHARE:
        return nothing
    mean = (weights * losses).sum()
    return float(mean), float((weights * (losses - mean)).square().sum().sqrt())


def _mode(problem: NetworkPotential, n_beta: float, localization: float) -> tuple[Tensor, Tensor | None]:
    """The mode [1, D] of the posterior, by Newton's method with halved steps, and the Cholesky factor [D, D] of its curvature
    there; None where the method has not arrived."""
    dim = problem.dim
    units = torch.eye(dim, dtype=torch.float64)
    place = torch.zeros(1, dim, dtype=torch.float64)

    def energy(at: Tensor) -> tuple[Tensor, Tensor]:
        loss, grad = problem.excess_loss_and_grad(at)
        return n_beta * loss + localization / 2 * at.square().sum(1), n_beta * grad + localization * at

    for _ in range(NEWTON_STEPS):
        value, force = energy(place)
        width = 1e-4
        ends = energy(place + width * units)[1] - energy(place - width * units)[1]
        root = torch.linalg.cholesky((ends + ends.T) / (4 * width))
        step = -torch.cholesky_solve(force.T, root).T
        decrement = float(-(step * force).sum())
        if decrement < 1e-10:
            return place, root
        size = 1.0
        while size > 1e-6 and not energy(place + size * step)[0] <= value - 0.1 * size * decrement:
            size /= 2
        place = place + size * step
    return place, None
