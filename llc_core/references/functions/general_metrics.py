"""Langevin chains of weights under other metrics than the identity, and the chains of functions that they are.

With a metric G a step is w′ = w + (ε/2)·(G∇ log π + ∇·G) + √(εG)·N(0, I). Where the map to functions has symmetries that G and π
share, the image is again such a chain, with the metric J·G·Jᵀ, J the map's Jacobian (paper 004, examples 2.1 to 2.3 and appendix A).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.references.functions.equivalences import wrap

Metric = Callable[[Tensor], tuple[Tensor, Tensor]]
"""w ↦ the diagonal of G and ∂G_ii/∂w_i, both as w."""


def wavy(points: Tensor) -> tuple[Tensor, Tensor]:
    """G = 1 + ½·cos 2πw, of period 1."""
    return 1 + 0.5 * torch.cos(2 * math.pi * points), -math.pi * torch.sin(2 * math.pi * points)


def falling(points: Tensor) -> tuple[Tensor, Tensor]:
    """G = 1/(1 + w²), the same for every weight."""
    metric = 1 / (1 + points**2)
    return metric, -2 * points * metric**2


def unlike(points: Tensor) -> tuple[Tensor, Tensor]:
    """`falling` for the first weight and 1 for the others: weights that are no longer exchangeable."""
    metric, slope = falling(points)
    first = (torch.arange(points.shape[-1]) == 0).to(points)
    return metric * first + (1 - first), slope * first


def riemannian_step(
    points: Tensor, force: Tensor, metric: Metric, step: float, noise: Tensor, whole: bool = True
) -> Tensor:
    """A step of w, half convention; whole: with the divergence of G, without which the chain comes to π/G in one dimension."""
    size, slope = metric(points)
    drift = size * force + (slope if whole else 0.0)
    return points + step / 2 * drift + (step * size).sqrt() * noise


def torus_path(
    force: Callable[[Tensor], Tensor],
    metric: Metric,
    chains: int,
    steps: int,
    step: float,
    seed: int,
    whole: bool = True,
) -> dict[str, Any]:
    """A chain of weights that begins in one cell and leaves it, and one of functions that is wrapped after each step, on the same noise.

    difference: the largest between the wrapped weights and the functions.  moves: changes of cell.  ends: functions [chains].
    """
    random = torch.Generator().manual_seed(seed)
    weights = torch.rand(chains, 1, generator=random, **EXACT) - 0.5
    functions, difference, moves = wrap(weights), 0.0, 0
    for _ in range(steps):
        noise = torch.randn(weights.shape, generator=random, **EXACT)
        cell = weights.round()
        weights = riemannian_step(weights, force(weights), metric, step, noise, whole)
        functions = wrap(riemannian_step(functions, force(functions), metric, step, noise, whole))
        moves += int((weights.round() != cell).sum())
        difference = max(difference, float(wrap(weights - functions).abs().max()))
    return {"difference": difference, "moves": moves, "ends": functions.ravel().numpy()}


def sorted_path(
    force: Callable[[Tensor], Tensor], metric: Metric, start: Tensor, steps: int, step: float, seed: int
) -> dict[str, Any]:
    """A chain of exchangeable weights [C, d], and one of functions that is sorted after each step, on the same noise in the order of the
    sizes.  difference: the largest between sorted weights and functions.  moves: changes of order."""
    random = torch.Generator().manual_seed(seed)
    weights, functions, difference, moves = start, start.sort(-1).values, 0.0, 0
    for _ in range(steps):
        noise = torch.randn(weights.shape, generator=random, **EXACT)
        order = weights.argsort(-1)
        functions = riemannian_step(functions, force(functions), metric, step, noise.gather(-1, order)).sort(-1).values
        weights = riemannian_step(weights, force(weights), metric, step, noise)
        moves += int((weights.argsort(-1) != order).any(-1).sum())
        difference = max(difference, float((weights.sort(-1).values - functions).abs().max()))
    return {"difference": difference, "moves": moves}


def linear_path(
    features: Tensor,
    targets: Tensor,
    metric: Tensor,
    prior: Tensor,
    noise_variance: float,
    steps: int,
    step: float,
    seed: int,
) -> float:
    """Largest difference of A·w and a chain of f that has the metric A·M·Aᵀ, on the same noise; prior w ~ N(0, Σ).

    A [k, d]; M and Σ [d, d]. The chain of f lets the prior pull by −f, which is right where M = Σ: then its prior is a Gaussian process
    with the kernel A·M·Aᵀ. Where M is another matrix, the pull A·M·Σ⁻¹·w is no function of f.
    """
    random = torch.Generator().manual_seed(seed)
    root = torch.linalg.cholesky(metric)
    weights = torch.randn(1, metric.shape[0], generator=random, **EXACT)
    functions, difference = weights @ features.T, 0.0
    kernel = features @ metric @ features.T
    for _ in range(steps):
        noise = torch.randn(weights.shape, generator=random, **EXACT) @ root.T
        pull = (targets - functions) / noise_variance
        functions = functions + step / 2 * (pull @ kernel - functions) + math.sqrt(step) * noise @ features.T
        force = (targets - weights @ features.T) @ features / noise_variance - torch.linalg.solve(prior, weights.T).T
        weights = weights + step / 2 * force @ metric + math.sqrt(step) * noise
        difference = max(difference, float((weights @ features.T - functions).abs().max()))
    return difference


def image_drifts(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drifts of f = sinh w [N] that are to be one, for π a normal of precision 1 and G = 1/(1 + w²).

    First by Itô's formula, J·½(G∂ log π + ∂G) + ½J′G; second that of the Langevin dynamics of f whose metric is J²G and whose density
    is π/J, ½(J²G·∂_f log(π/J) + ∂_f(J²G)), with ∂_f by central differences, whose error is below 1e-7.
    """
    w = np.asarray(points, dtype=float)
    metric, slope = 1 / (1 + w**2), -2 * w / (1 + w**2) ** 2
    ito = np.cosh(w) * (-metric * w + slope) / 2 + np.sinh(w) * metric / 2

    def of_function(f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.arcsinh(f)
        return -(at**2) / 2 - np.log(np.cosh(at)), np.cosh(at) ** 2 / (1 + at**2)

    f, h = np.sinh(w), 1e-5 * np.cosh(w)
    above, below, here = of_function(f + h), of_function(f - h), of_function(f)
    langevin = (here[1] * (above[0] - below[0]) + above[1] - below[1]) / (4 * h)
    return ito, langevin


def boundary_terms(points: int = 1200, far: float = 7.0) -> dict[str, tuple[float, float]]:
    """E[Lu] over functions, and what the wall adds, ½∮π·G·∂_n u, for functions u of two exchangeable weights w₁ ≤ w₂.

    L is the generator of the chain with G = 1/(1 + w²) for each weight, π ∝ exp(−½|w|² − 2(tanh w₁ + tanh w₂ − 1)²), whose quotient
    by the exchange of weights has the wall w₁ = w₂ with inner normal n. By Green's formula E[Lu] = −½∮π·G·∂_n u. It vanishes for u with
    ∂_n u = 0, Neumann's condition, which all functions of the network f have, since they do not change when weights do.
    Quadrature: midpoints of points × points/2 cells, error of the order of their area, 1e-4.
    """
    side = 2 * far / points
    mean = -far + side * (np.arange(points) + 0.5)  # (w₁ + w₂)/√2 along the wall, (w₂ − w₁)/√2 away from it
    away = side * (np.arange(points // 2) + 0.5)
    along, apart = np.meshgrid(mean, away, indexing="ij")

    def weights(along: Any, apart: Any) -> tuple[Any, Any]:
        return (along - apart) / math.sqrt(2), (along + apart) / math.sqrt(2)

    def density(w: tuple[Any, Any]) -> Any:
        return np.exp(-0.5 * (w[0] ** 2 + w[1] ** 2) - 2 * (np.tanh(w[0]) + np.tanh(w[1]) - 1) ** 2)

    w = weights(along, apart)
    mass = density(w)
    mass = mass / (mass.sum() * side**2)
    miss = 4 * (np.tanh(w[0]) + np.tanh(w[1]) - 1)
    wall = weights(mean, 0.0)
    at_wall = density(wall) / (density(w).sum() * side**2)
    cases: dict[str, tuple[Callable[[Any], tuple[Any, Any]], Callable[[Any], tuple[Any, Any]]]] = {
        "the sum of tanh, a function of the network": (
            lambda w: (1 / np.cosh(w[0]) ** 2, 1 / np.cosh(w[1]) ** 2),
            lambda w: tuple(-2 * np.tanh(v) / np.cosh(v) ** 2 for v in w),
        ),
        "the square of the distance of the weights": (
            lambda w: (2 * (w[0] - w[1]), 2 * (w[1] - w[0])),
            lambda w: (2.0, 2.0),
        ),
        "the smaller weight": (lambda w: (1.0 + 0 * w[0], 0 * w[0]), lambda w: (0.0, 0.0)),
    }
    found = {}
    for name, (first, second) in cases.items():
        lifted = np.zeros_like(mass)
        for v, slope, bend in zip(w, first(w), second(w), strict=True):
            metric = 1 / (1 + v**2)
            pull = -v - miss / np.cosh(v) ** 2
            lifted = lifted + 0.5 * (metric * bend + (metric * pull - 2 * v * metric**2) * slope)
        low, high = first(wall)
        flow = (high - low) / math.sqrt(2) / (1 + wall[0] ** 2)  # ∂_n along (w₂ − w₁)/√2
        found[name] = (float((mass * lifted).sum() * side**2), float(0.5 * (at_wall * flow).sum() * side))
    return found
