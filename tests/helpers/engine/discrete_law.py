"""The exact stationary distribution of a sampler on a quadratic, read off its own `update`.

At fixed hyperparameters most updates are linear in (state, noise): state ← T·state + S·noise. Feeding small vectors to
`update` in float64 gives T and S; the stationary covariance solves Σ = TΣTᵀ + SSᵀ. Nonlinear parts (the second moments
of RMSProp and Adam, the thermostat) are of second order at rest, so T and S are the derivatives there. What a metric is
made of is held at rest throughout: its correction terms are of first order in 1/nβ only, and Γ of PSGLD has no
derivative there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from scipy.linalg import solve_discrete_lyapunov
from scipy.optimize import brentq
from torch import Tensor

from llc_core.samplers import Sampler, hyperparameters
from llc_core.types import Energy

SMALL = 1e-5
REST_STEPS = 2500


@dataclass(frozen=True)
class LinearMap:
    """names of the linear state parts (delta first); T [K, K], S [K, noises], B [K]: response to the loss gradient."""

    names: list[str]
    T: np.ndarray
    S: np.ndarray
    B: np.ndarray
    metric: float

    @property
    def radius(self) -> float:
        return float(np.abs(np.linalg.eigvals(self.T)).max())

    @property
    def variance(self) -> float:
        """Stationary variance of δ."""
        return float(solve_discrete_lyapunov(self.T, self.S @ self.S.T)[0, 0])

    @property
    def variance_per_gradient_noise(self) -> float:
        """What loss gradients with independent errors of variance 1 add to the variance of δ."""
        return float(solve_discrete_lyapunov(self.T, np.outer(self.B, self.B))[0, 0])


def limit(sampler: Sampler, curvature: float) -> float:
    """Stable step size at rest, where `curvature` is that of U."""
    hp = hyperparameters(sampler, 1, torch.zeros(1, dtype=torch.float64))
    metric = sampler.metric(_rest(sampler), hp)
    top = torch.full((1, 1), curvature, dtype=torch.float64) * (1.0 if metric is None else metric)
    return float(sampler.stable_step(top, hp))


def linear_map(sampler: Sampler, n_beta: float, localization: float = 0.0) -> LinearMap:
    """The map on one parameter whose loss has curvature 1, at the sampler's own step_size."""
    hp = hyperparameters(sampler, 1, torch.zeros(1, dtype=torch.float64))
    rest = _rest(sampler)
    wide = sampler.init(torch.zeros(1, 2, dtype=torch.float64), torch.zeros(1, 2, dtype=torch.float64), hp)
    names = [name for name, value in wide.items() if name != "square" and value.shape == (1, 2)]

    def image(state: dict[str, Tensor], noise: Tensor, error: float = 0.0) -> np.ndarray:
        delta = state["delta"]
        column = torch.ones_like(delta)
        energy = Energy(
            delta[:, 0] ** 2 / 2,
            delta + error,
            delta,
            n_beta * column,
            localization * column,
            metric_grad=0 * column,
            hessian_diagonal=column,
        )
        after = sampler.update(state, energy, noise, hp)
        return np.array([float(after[name]) for name in names])

    quiet = torch.zeros(sampler.noises, 1, 1, dtype=torch.float64)
    columns, sources = [], []
    for name in names:
        pair = [image({**rest, name: rest[name] + sign * SMALL}, quiet) for sign in (1, -1)]
        columns.append((pair[0] - pair[1]) / (2 * SMALL))
    for field in range(sampler.noises):
        kick = quiet.clone()
        kick[field] = SMALL
        sources.append((image(rest, kick) - image(rest, -kick)) / (2 * SMALL))
    error = (image(rest, quiet, SMALL) - image(rest, quiet, -SMALL)) / (2 * SMALL)
    metric = sampler.metric(rest, hp)
    return LinearMap(names, np.array(columns).T, np.array(sources).T, error, 1.0 if metric is None else float(metric))


def _rest(sampler: Sampler) -> dict[str, Tensor]:
    """The state of one chain that has stood at w0 for long: running means of gradients have decayed to 0."""
    return dict(_at_rest(sampler.replace(step_size=None)))


@lru_cache
def _at_rest(sampler: Sampler) -> dict[str, Tensor]:
    """Made once for all step sizes, since no step moves a chain that stands: these are thousands of updates."""
    zero = torch.zeros(1, 1, dtype=torch.float64)
    hp = hyperparameters(sampler, 1, zero)
    hp.step_size = zero
    state = sampler.init(zero, zero, hp)
    energy = Energy(zero[:, 0], zero, zero, zero, zero, hessian_diagonal=zero)
    quiet = torch.zeros(sampler.noises, 1, 1, dtype=torch.float64)
    for _ in range(REST_STEPS if sampler.metric(state, hp) is not None else 1):
        state = sampler.update(state, energy, quiet, hp)
    return state


# Closed forms, derived by hand from the recursions: stationary variance on a quadratic of curvature c.


def sgld_variance(c: np.ndarray, step: float) -> np.ndarray:
    return 1 / (c * (1 - step * c / 4))


def adam_variance(loss_c: np.ndarray, prior_c: float, step: float, beta1: float) -> np.ndarray:
    """step: ε·G of a constant metric. The prior's gradient is not averaged over time."""
    k, g, b = step * loss_c / 2, step * prior_c / 2, beta1
    top = step * (1 - b**2 + b * g + b**2 * g + 2 * b * k)
    return top / ((g + k) * (1 - b + b * g) * ((2 - g) * (1 + b) - k * (1 - b)))


def sghmc_variance(c: np.ndarray, step: float, friction: float, share: float = 1.0) -> np.ndarray:
    """share: of the force that the dynamics apply, 1 corrected and ½ printed."""
    k, a = share * step * c, friction
    return a * step * (2 - a + k) / (k * (a - k) * (2 - a + k / 2))


def sgnht_variance(c: np.ndarray, step: float, noise: float) -> np.ndarray:
    """At the friction α where the mean kinetic energy is right, fluctuations of α neglected (many parameters)."""
    k = step * c

    def kinetic(a: float) -> np.ndarray:
        return 2 * noise / ((a - k) * (2 - a + k / 2))

    a = brentq(lambda a: kinetic(a).mean() - 1, k.max() * (1 + 1e-9), 1.0)
    return step * kinetic(a) * (2 - a + k) / (2 * k)
