"""Langevin chains of weights and of functions, on the same noise: three cases where both can be written down.

A linear model, weights on a torus, exchangeable weights (a sum of sines): the map from weights to functions loses
information, yet the image of the chain of weights is itself a Langevin chain, that of the functions. On shared noise the two
paths are equal up to rounding; on independent noise their distributions are. Steps are Euler's, in this engine's half convention:
w' = w + (ε/2)·∇ log π(w) + √ε·N(0, I); where a paper writes h with noise √(2h), ε = 2h.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT, SINGLE
from llc_core.fields import number

FLOAT = torch.float64
RECORDS = 200
"""Points of a path that are kept, at most: the difference is taken at every step all the same."""


@dataclass(frozen=True)
class PairedPaths:
    """A chain of weights and a chain of functions, recorded every few steps; T records, C chains."""

    weights: Tensor
    """[T, C, d]."""
    image: Tensor
    """[T, C, k]: the functions that the weights stand for."""
    functions: Tensor
    """[T, C, k]: the chain that never saw the weights."""
    difference: float
    """Largest distance of image and functions over all steps (not only the records); tells something on shared noise only."""
    moves: int
    """Changes of cell (torus), of order (sines), summed over chains and steps; 0 for a linear model, which has no cells."""


def linear_equivalence(
    features: Tensor,
    targets: Tensor,
    noise_variance: float = 0.05,
    step_size: float = 0.004,
    steps: int = 1_000,
    chains: int = 1,
    shared: bool = True,
    seed: int = 0,
) -> PairedPaths:
    """f = A·w with prior w ~ N(0, I): the chain of f has the metric AAᵀ, so that its prior force is only −f.

    features: A, [k, d]; targets: y, [k]. A needs full row rank only for the distribution to have a density.
    Raises ValueError where the shapes do not fit or a number is not positive.
    """
    if features.ndim != 2 or targets.shape != features.shape[:1]:
        raise ValueError(
            f"targets has shape {list(targets.shape)} and features {list(features.shape)}; give features [k, d], targets [k]."
        )
    _positive(noise_variance=noise_variance)
    matrix, wanted = features.to(FLOAT), targets.to(FLOAT)

    def force(weights: Tensor) -> Tensor:
        return (wanted - weights @ matrix.T) @ matrix / noise_variance - weights

    def function_step(functions: Tensor, noise: Tensor, _: Tensor) -> Tensor:
        return linear_function_step(functions, noise, matrix, (wanted - functions) / noise_variance, step_size)

    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(chains, matrix.shape[1], generator=generator, **EXACT)
    return _pair(
        start,
        lambda weights, noise: weights + step_size / 2 * force(weights) + math.sqrt(step_size) * noise,
        lambda weights: weights @ matrix.T,
        function_step,
        lambda first, second: (first - second).abs(),
        lambda _: torch.zeros(chains, 1, **SINGLE),
        (steps, step_size, shared, generator),
    )


def linear_function_step(functions: Tensor, noise: Tensor, matrix: Tensor, pull: Tensor, step_size: float) -> Tensor:
    """f' = f + (ε/2)·(AAᵀ·∇ log p(y | f) − f) + √ε·A·ξ; noise: ξ [C, d], pull: ∇ log p(y | f) [C, k]."""
    return functions + step_size / 2 * (pull @ matrix @ matrix.T - functions) + math.sqrt(step_size) * noise @ matrix.T


def wrap(points: Tensor) -> Tensor:
    """Points of the line on the circle of length 1, in [−1/2, 1/2]."""
    return points - points.round()


def von_mises_force(concentration: float = 3.0) -> Callable[[Tensor], Tensor]:
    """∇ log π of exp(κ·cos 2πw): periodic with period 1, under a flat prior."""
    _positive(concentration=concentration)
    return lambda points: -2 * math.pi * concentration * torch.sin(2 * math.pi * points)


def torus_equivalence(
    start: Tensor,
    force: Callable[[Tensor], Tensor] | None = None,
    step_size: float = 2e-4,
    steps: int = 800,
    shared: bool = True,
    seed: int = 0,
) -> PairedPaths:
    """A function that depends on w modulo 1: the chain on the line against the chain wrapped after every step.

    start: [C, d]; force: ∇ log π, of period 1 in every coordinate (default: von Mises, κ = 3). A force that is not
    periodic, such as one with a Gaussian prior on w, has no chain of functions, and `difference` shows it. Far out a path
    loses digits (one unit in 10⁷ has 2e-9): compare paths near 0, distributions anywhere.
    """
    pull = von_mises_force() if force is None else force

    def move(points: Tensor, noise: Tensor) -> Tensor:
        return points + step_size / 2 * pull(points) + math.sqrt(step_size) * noise

    return _pair(
        start.to(FLOAT),
        move,
        wrap,
        lambda functions, noise, _: wrap(move(functions, noise)),
        lambda first, second: wrap(first - second).abs(),
        torch.round,
        (steps, step_size, shared, torch.Generator().manual_seed(seed)),
    )


def sines_force(inputs: Tensor, targets: Tensor, noise_variance: float = 0.05) -> Callable[[Tensor], Tensor]:
    """∇ log π of y = Σ sin(w_i·x) + noise with prior w ~ N(0, I) on w > 0; inputs, targets: [n]."""
    _positive(noise_variance=noise_variance)
    at, wanted = inputs.to(FLOAT), targets.to(FLOAT)

    def force(weights: Tensor) -> Tensor:
        angles = weights.unsqueeze(-1) * at
        missing = wanted - angles.sin().sum(-2)
        return (angles.cos() * at * missing.unsqueeze(-2)).sum(-1) / noise_variance - weights

    return force


def sorted_equivalence(
    start: Tensor,
    force: Callable[[Tensor], Tensor],
    step_size: float = 0.002,
    steps: int = 2_000,
    shared: bool = True,
    seed: int = 0,
) -> PairedPaths:
    """A sum over exchangeable neurons, w > 0: the sorted chain of weights against a chain that is sorted after every step.

    start: [C, d], positive; force: ∇ log π, which must permute with its weights. Both chains are reflected at 0, since
    sin(−wx) = −sin(wx) is another function; sorting is the reflection at the walls w_i = w_j. The noise of the chain of
    functions is that of the weights, in the order of their sizes.
    """
    if not bool((start > 0).all()):
        raise ValueError("start has a weight of 0 or below; sorted functions need positive weights.")

    def move(points: Tensor, noise: Tensor) -> Tensor:
        return (points + step_size / 2 * force(points) + math.sqrt(step_size) * noise).abs()

    return _pair(
        start.to(FLOAT),
        move,
        lambda weights: weights.sort(-1).values,
        lambda functions, noise, weights: move(functions, noise.gather(-1, weights.argsort(-1))).sort(-1).values,
        lambda first, second: (first - second).abs(),
        lambda weights: weights.argsort(-1).to(FLOAT),
        (steps, step_size, shared, torch.Generator().manual_seed(seed)),
    )


def repelling_particles(
    start: Tensor,
    force: Callable[[Tensor], Tensor] | None = None,
    bandwidth: float = 0.03,
    wrapped: bool = False,
    step_size: float = 5e-4,
    steps: int = 2_000,
) -> Tensor:
    """W-SGLD on the circle: particles without noise that repel through a Gaussian kernel; where they end, [C].

    Drift of particle i: ∇ log π(w_i) − Σ_j ∇K_ij/ρ_j − Σ_j ∇K_ij/ρ_i with ρ_i = Σ_j K_ij (the blob method; Chen et al.
    2018, "A unified particle-optimization framework for scalable Bayesian sampling"). wrapped: distances on the circle,
    between functions; otherwise between weights, and particles in different cells do not feel each other. Then each falls
    to the mode of its own cell and as functions they are one point, however many they are.
    start: [C]; bandwidth: the kernel's standard deviation. The particles' variance is too small by about bandwidth².
    """
    _positive(bandwidth=bandwidth, step_size=step_size)
    pull = von_mises_force() if force is None else force
    points = start.to(FLOAT)
    for _ in range(steps):
        apart = points[:, None] - points[None, :]
        apart = wrap(apart) if wrapped else apart
        kernel = torch.exp(-0.5 * (apart / bandwidth) ** 2)
        density = kernel.sum(1)
        slope = -apart / bandwidth**2 * kernel
        points = points + step_size / 2 * (pull(points) - (slope / density).sum(1) - slope.sum(1) / density)
    return points


def _pair(
    weights: Tensor,
    move: Callable[[Tensor, Tensor], Tensor],
    image: Callable[[Tensor], Tensor],
    function_step: Callable[[Tensor, Tensor, Tensor], Tensor],
    apart: Callable[[Tensor, Tensor], Tensor],
    cell: Callable[[Tensor], Tensor],
    plan: tuple[int, float, bool, torch.Generator],
) -> PairedPaths:
    """Both chains from one start; function_step is handed the weights for the order of the noise only."""
    steps, step_size, shared, generator = plan
    _positive(steps=steps, step_size=step_size)
    functions, every = image(weights), max(1, math.ceil(steps / RECORDS))
    records, difference, moves = [(weights, functions, functions)], 0.0, 0
    for step in range(1, steps + 1):
        noise = torch.randn(weights.shape, generator=generator, **EXACT)
        other = noise if shared else torch.randn(weights.shape, generator=generator, **EXACT)
        functions, before = function_step(functions, other, weights), cell(weights)
        weights = move(weights, noise)
        moves += int((cell(weights) != before).any(-1).sum())
        mapped = image(weights)
        difference = max(difference, float(apart(mapped, functions).max()))
        if step % every == 0 or step == steps:
            records.append((weights, mapped, functions))
    first, second, third = (torch.stack(column) for column in zip(*records, strict=True))
    return PairedPaths(first, second, third, difference, moves)


def _positive(**values: float) -> None:
    for name, value in values.items():
        number(name, value, above=0)
