"""Small potentials with known answers, and the plainest loop that samples them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy import integrate
from torch import Tensor

from llc_core.potentials.base import Batch, Potential
from llc_core.samplers import MetropolisSampler, Sampler, hyperparameters
from llc_core.types import Energy


class Quadratic(Potential):
    """L(w0 + δ) = ½ Σ h_i δ_i². Under exp(−nβL − γ‖δ‖²/2) the δ_i are normal with variance 1/(nβ·h_i + γ).

    gradient_noise: standard deviation of what a minibatch adds to every entry of the gradient (and, consistently, to
    the loss): independent normals.
    """

    kind = "quadratic"

    def __init__(self, curvatures: Any, gradient_noise: float = 0.0):
        self.curvatures = torch.as_tensor(curvatures, dtype=torch.float64)
        self.gradient_noise = gradient_noise
        self.dim, self.n = len(self.curvatures), 1000
        if gradient_noise:
            self.gradients = ("full", "minibatch")

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        grad = self.curvatures.to(delta) * delta
        loss = (grad * delta).sum(dim=1) / 2
        if batch is not None:
            noise = batch.data["noise"]
            return loss + (noise * delta).sum(dim=1), grad + noise
        return loss, grad

    def draw(
        self, generator: torch.Generator, chains: int, batch_size: int, gradient: str, dtype: torch.dtype
    ) -> Batch:
        noise = torch.randn(chains, self.dim, generator=generator, dtype=dtype, device=generator.device)
        return Batch({"noise": self.gradient_noise * noise}, torch.zeros(chains, dtype=dtype))

    def hvp(self, delta: Tensor, vector: Tensor) -> Tensor:
        return self.curvatures.to(delta) * vector

    def hessian_diagonal(self, delta: Tensor, batch: Batch | None, generator: torch.Generator) -> Tensor:
        return self.curvatures.to(delta).expand_as(delta)

    def total(self, n_beta: float, localization: float) -> np.ndarray:
        """Curvatures of U, [D]."""
        return n_beta * self.curvatures.numpy() + localization

    def llc(self, n_beta: float, localization: float) -> float:
        """nβ·E[ΔL], exactly."""
        return float((n_beta * self.curvatures.numpy() / self.total(n_beta, localization)).sum() / 2)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "object", "fingerprint": f"quadratic-{self.dim}"}


class SkewedTarget(Potential):
    """L(δ) = Σ a_i(e^{δ_i} − 1 − δ_i), nβ = 1, γ = 0: e^{δ_i} follows the Gamma distribution of shape and rate a_i.

    Skewed to the left, so that a sampler with a sign error, which a Gaussian would hide, gives the mirrored moments.
    """

    kind = "skewed"

    def __init__(self, shapes: Any):
        self.shapes = torch.as_tensor(shapes, dtype=torch.float64)
        self.dim, self.n = len(self.shapes), 1000

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        shapes, slope = self.shapes.to(delta), torch.expm1(delta)
        return (shapes * (slope - delta)).sum(dim=1), shapes * slope

    def hessian_diagonal(self, delta: Tensor, batch: Batch | None, generator: torch.Generator) -> Tensor:
        return self.shapes.to(delta) * delta.exp()

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "object", "fingerprint": f"skewed-{self.dim}"}


def skewed_moments(shape: float, powers: int = 6) -> np.ndarray:
    """E δ^k, k = 0 … powers, of SkewedTarget by quadrature."""
    return moments(lambda x: shape * (math.exp(x) - 1 - x), powers)


def moments(energy: Any, powers: int) -> np.ndarray:
    """E x^k, k = 0 … powers, of the density ∝ exp(−energy(x)) on the line."""
    raw = [integrate.quad(lambda x, k=k: x**k * math.exp(-energy(x)), -30, 20, limit=400)[0] for k in range(powers + 1)]
    return np.array(raw) / raw[0]


@dataclass(frozen=True)
class Averages:
    """Time averages of every chain: powers[k − 1] = mean of δ^k [C, D], loss = mean of ΔL [C], and the last state."""

    powers: np.ndarray
    loss: np.ndarray
    state: dict[str, Tensor]
    extras: dict[str, np.ndarray]


@torch.inference_mode()  # no target here wants autograd, and operations on small tensors take a sixth less
def sample(
    sampler: Sampler,
    target: Potential,
    *,
    chains: int,
    steps: int,
    burn_in: int,
    n_beta: float = 1.0,
    localization: float = 0.0,
    seed: int = 0,
    start: float = 0.0,
    every: int = 1,
) -> Averages:
    """Run `sampler` on `target` in float64 at its fixed step size; averages over the last steps − burn_in steps.

    start: standard deviation of the normal distribution of the starting points; 0: all at w0.
    every: of these steps one of so many counts. Where steps are small, neighbours say nearly the same, and cost more than a step.
    """
    generator = torch.Generator().manual_seed(seed)
    shape = (chains, target.dim)

    def normals(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).double()  # in single precision they take a quarter of the time

    def evaluate(delta: Tensor) -> Energy:
        loss, grad = target.excess_loss_and_grad(delta)
        diagonal = target.hessian_diagonal(delta, None, generator) if sampler.needs_hessian_diagonal else None
        hvp = partial(target.hvp, delta) if sampler.needs_hvp else None
        return Energy(loss, grad, delta, nb, gamma, hessian_diagonal=diagonal, hvp=hvp)

    column = torch.ones(chains, 1, dtype=torch.float64)
    nb, gamma = column * n_beta, column * localization
    hp = hyperparameters(sampler, chains, column, target.layers)
    first = start * normals(*shape) if start else torch.zeros(shape, dtype=torch.float64)
    state = sampler.init(first, normals(*shape), hp)
    sums, loss_sum, extras = torch.zeros(3, *shape, dtype=torch.float64), torch.zeros(chains, dtype=torch.float64), {}
    energy, kept = evaluate(state["delta"]), len(range(burn_in, steps, every))
    for step in range(steps):
        if step == burn_in:
            hp.adapting = torch.zeros_like(hp.adapting)
        if step >= burn_in and (step - burn_in) % every == 0:
            power = energy.delta
            loss_sum += energy.excess_loss
            for k in range(3):
                sums[k] += power
                power = power * energy.delta
            for name, value in state.items():
                if value.shape == column.shape != shape:
                    extras[name] = extras.get(name, 0.0) + value / kept
        noise = normals(sampler.noises, *shape)
        if isinstance(sampler, MetropolisSampler):
            uniform = 1 - torch.rand(chains, 1, generator=generator, dtype=torch.float64)
            state, energy = sampler.step(state, energy, evaluate, noise, uniform, hp)
        else:
            state = sampler.update(state, energy, noise, hp)
            energy = evaluate(state["delta"])
    return Averages((sums / kept).numpy(), (loss_sum / kept).numpy(), state, {k: v.numpy() for k, v in extras.items()})


def check_mean(per_chain: np.ndarray, expected: float, sd: float, allowance: float, minimum_ess: float = 1500) -> None:
    """Assert that independent time averages [C] agree with `expected` within 4.5 standard errors + allowance.

    sd: standard deviation of the averaged quantity under the distribution. The effective sample size (sd/se)² must reach
    `minimum_ess`, so that a chain that hardly moves cannot pass by a wide error bar.
    """
    se = per_chain.std(ddof=1) / math.sqrt(len(per_chain))
    error = per_chain.mean() - expected
    assert abs(error) <= 4.5 * se + allowance, (
        f"{per_chain.mean():.5g} against {expected:.5g}: off by {error:.2g}, allowed {4.5 * se + allowance:.2g}"
    )
    ess = (sd / se) ** 2 if se > 0 else 0.0
    assert ess >= minimum_ess, f"effective sample size {ess:.0f} is below {minimum_ess:.0f}"
