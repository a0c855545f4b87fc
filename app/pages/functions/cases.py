"""Three cases in which the functions' own chain can be written down beside that of the weights: linear, torus, sorted.

Each is a likelihood, a start, a pair of chains on shared noise (`llc_core.references.functions.equivalences`), and the exact distribution
of the function by closed form or quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core import (
    PairedPaths,
    linear_equivalence,
    repelling_particles,
    sines_force,
    sorted_equivalence,
    torus_equivalence,
)
from llc_core.potentials.bayesian.data import wave
from llc_core.references.functions.equivalences import wrap

CONCENTRATION = 3.0
CELLS = 100
"""Torus: chains begin in cells up to so far from 0 to both sides."""
NOISE = 0.05
FEATURES = 12
GRID, REACH = 80, 4.0
"""Sorting: points of the quadrature along each weight, and its end."""


@dataclass(frozen=True)
class Rivals:
    """Where repelling particles (W-SGLD) end on the circle, [C]: as many as there are chains, from the same starts.

    by_weights: they repel by the distance of their weights; particles in different cells do not feel each other.
    by_functions: by the distance on the circle.  exact: standard deviation of the distribution.
    """

    by_weights: np.ndarray
    by_functions: np.ndarray
    exact: float

    @property
    def spread(self) -> float:
        """Standard deviation by the distance of weights."""
        return float(self.by_weights.std())


@dataclass(frozen=True)
class Case:
    """label, formula: of the function.  x, y: data [n].  inputs: where functions are drawn [P].

    pair: (steps, step size, chains, seed) → both chains.  curve: coordinates of functions [..., k] → f at the inputs [..., P].
    loss: f at the data [..., n] → mean loss per sample up to a constant.  at_data: as curve, at the data.
    law: → points of the function's coordinates [N, k] and their shares [N], for quadrature; None: `normal` is the distribution.
    moves: what a change of cell is called; empty where there are no cells.  width: weights.
    rival: (chains, seed) → repelling particles; or None.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    inputs: np.ndarray
    pair: Callable[[int, float, int, int], PairedPaths]
    curve: Callable[[np.ndarray], np.ndarray]
    at_data: Callable[[np.ndarray], np.ndarray]
    noise: float
    law: Callable[[], tuple[np.ndarray, np.ndarray]] | None
    moves: str
    width: int
    rival: Callable[[int, int], Rivals] | None = None

    def losses(self, coordinates: np.ndarray) -> np.ndarray:
        """Mean of (y − f)²/(2v) over the data."""
        return np.square(self.y - self.at_data(coordinates)).mean(axis=-1) / (2 * self.noise)


def linear() -> Case:
    """Twelve weights on cosines; the function is its values at the four inputs of the data."""
    x = np.array([-2.0, -1.0, 0.5, 1.5])
    y = wave(x)

    def pair(steps: int, step_size: float, chains: int, seed: int) -> PairedPaths:
        features = torch.from_numpy(linear_features(x))
        return linear_equivalence(features, torch.from_numpy(y), NOISE, step_size, steps, chains, seed=seed)

    return Case(
        "a linear model: 12 weights on cosines, seen at 4 inputs", x, y, x, pair, lambda f: f, lambda f: f, NOISE, None, "", FEATURES
    )  # fmt: skip


def linear_features(x: np.ndarray) -> np.ndarray:
    """[n, 12]: √(2/3)·cos((1 + j)x/4 + j²)."""
    j = np.arange(FEATURES)
    return math.sqrt(2 / 3) * np.cos(x[:, None] * (1 + j) / 4 + j**2)


def torus() -> Case:
    """sin 2π(x + w) at eight even inputs: the posterior under a flat prior is exp(3 cos 2πw), and w modulo 1 is the function."""
    x = np.arange(8) / 8
    y = np.sin(2 * np.pi * x)
    inputs = np.linspace(0, 1, 34)

    def pair(steps: int, step_size: float, chains: int, seed: int) -> PairedPaths:
        return torus_equivalence(torus_start(chains, seed), step_size=step_size, steps=steps, seed=seed)

    def law() -> tuple[np.ndarray, np.ndarray]:
        w = (np.arange(4000) + 0.5) / 4000 - 0.5
        mass = np.exp(CONCENTRATION * (np.cos(2 * np.pi * w) - 1))
        return w[:, None], mass / mass.sum()

    # Σ yᵢ sin 2π(xᵢ + w) = (n/2) cos 2πw, so that n/(2v) is the concentration.
    noise = len(x) / (2 * CONCENTRATION)
    return Case(
        "one phase w of a sine, seen modulo 1", x, y, inputs, pair, lambda w: np.sin(2 * np.pi * (inputs + w)),
        lambda w: np.sin(2 * np.pi * (x + w)), noise, law, "changes of cell", 1, lambda chains, seed: rivals(chains, seed, spread(*law())),
    )  # fmt: skip


def torus_start(chains: int, seed: int) -> Tensor:
    """[C, 1], spread over 201 cells."""
    random = torch.Generator().manual_seed(seed)
    inside = torch.rand(chains, 1, generator=random, dtype=torch.float64) - 0.5
    return inside + torch.randint(-CELLS, CELLS + 1, (chains, 1), generator=random)


def sorting() -> Case:
    """A sum of three sines whose weights can be exchanged; the sorted weights are the function."""
    x = np.linspace(0.3, 3.0, 7)
    y = np.sin(np.outer(x, (0.6, 1.2, 2.0))).sum(axis=1)
    inputs = np.linspace(0.1, 3.4, 34)

    def pair(steps: int, step_size: float, chains: int, seed: int) -> PairedPaths:
        force = sines_force(torch.from_numpy(x), torch.from_numpy(y), NOISE)
        return sorted_equivalence(sorted_start(chains, seed), force, step_size=step_size, steps=steps, seed=seed)

    def law() -> tuple[np.ndarray, np.ndarray]:
        axis = (np.arange(GRID) + 0.5) * REACH / GRID
        w = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
        w = w[(np.diff(w, axis=1) >= 0).all(axis=1)]  # each order once, those with equal weights counted below
        copies = np.array([6, 3, 1])[(np.diff(w, axis=1) == 0).sum(axis=1)]
        energy = np.square(y - np.sin(w[:, None] * x[:, None]).sum(axis=2)).sum(axis=1) / (2 * NOISE)
        energy += np.square(w).sum(axis=1) / 2
        mass = copies * np.exp(energy.min() - energy)
        heavy = mass > 1e-9 * mass.max()
        return w[heavy], mass[heavy] / mass[heavy].sum()

    return Case(
        "a sum of 3 sines whose weights can be exchanged", x, y, inputs, pair, lambda w: _sines(w, inputs), lambda w: _sines(w, x),
        NOISE, law, "changes of order", 3,
    )  # fmt: skip


def sorted_start(chains: int, seed: int) -> Tensor:
    """[C, 3], draws of the prior."""
    random = torch.Generator().manual_seed(seed)
    return torch.randn(chains, 3, generator=random, dtype=torch.float64).abs()


def _sines(w: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.sin(w[..., None, :] * at[:, None]).sum(axis=-1)


CASES = {"linear": linear, "torus": torus, "sorting": sorting}
"""By the kind of the problem."""


def linear_distribution(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Mean [n] and covariance [n, n] of f given y: f ~ N(0, AAᵀ) before."""
    kernel = linear_features(case.x) @ linear_features(case.x).T
    gain = kernel @ np.linalg.inv(kernel + NOISE * np.eye(len(kernel)))
    return gain @ case.y, kernel - gain @ kernel


def rivals(chains: int, seed: int, exact: float) -> Rivals:
    """Both kinds of particles."""
    start = torus_start(chains, seed)[:, 0]
    by_weights, by_functions = (wrap(repelling_particles(start, wrapped=wrapped)).numpy() for wrapped in (False, True))
    return Rivals(by_weights, by_functions, exact)


def spread(points: np.ndarray, shares: np.ndarray) -> float:
    """Standard deviation of a distribution on points [N, 1]."""
    return float(np.sqrt(shares @ (points[:, 0] - shares @ points[:, 0]) ** 2))
