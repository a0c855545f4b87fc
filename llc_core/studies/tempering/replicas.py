"""Replicas at the levels of a ladder in nβ: a step of each, and swaps of neighbours, even and odd in turn.

A step is a sweep of exact draws of layers where the problem has them and is small (deep linear networks around a Gaussian prior),
else a Metropolis-adjusted Langevin step. Where many layers multiply, valleys are as stiff as nβ across and soft along them, another
way round at each place; Langevin steps then need more steps than a ladder has, and sweeps a few.
The first level, nβ = 0, is drawn anew from the prior at each step, so that every round trip brings an independent point.
Source: Swendsen & Wang 1986; Syed, Bouchard-Côté, Deligiannidis & Doucet 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.potentials.base import Potential
from llc_core.studies.tempering.prior import Prior

ACCEPTANCE = 0.55
JITTER = 1.0
"""Spread of log step sizes: valleys are narrow in some places and wide in others. It does not depend on the place."""

LARGEST_SWEPT = 1_000
"""Parameters up to which layers are drawn exactly: beyond it the decompositions of a sweep cost more than they bring."""

Look = Callable[[int, "Replicas"], None]


class Replicas:
    """C independent ladders of K levels.

    n_beta: [K], rising from 0.  delta, grad: δ and ∇ΔL [K, C, D].  loss: ΔL [K, C].  round_trips: [C].
    expected_loss: [K, C], where layers are swept: E[ΔL] over the draws of the last step, before the swaps.
    price: evaluations of the loss and its gradient for which a step of one replica counts: a sweep counts once for each layer.
    tried, rejected: [K − 1], swaps since `forget`: how many, and the sum of the chances that they are refused.
    """

    def __init__(self, problem: Potential, prior: Prior, n_beta: np.ndarray, chains: int, generator: torch.Generator):
        self.problem, self.prior, self.generator, self.chains = problem, prior, generator, chains
        self.sweeps = (
            "Gibbs" in problem.exact_samplers and prior.localization is not None and problem.dim <= LARGEST_SWEPT
        )
        self.price = len(problem.layers) if self.sweeps else 1
        self.delta = prior.draw(len(n_beta) * chains, generator).view(len(n_beta), chains, -1)
        self.loss, self.grad = self._evaluate(self.delta)
        self.expected_loss = self.loss
        self.log_step = torch.zeros(len(n_beta), **EXACT)
        self.scale = self.delta.std(dim=1)
        self._at(n_beta)

    def _evaluate(self, delta: Tensor) -> tuple[Tensor, Tensor]:
        loss, grad = self.problem.excess_loss_and_grad(delta.flatten(0, 1).contiguous())
        return loss.detach().view(delta.shape[:2]), grad.detach().view(delta.shape)

    def place(self, n_beta: np.ndarray) -> None:
        """Move to other levels: each takes its points and step size from the nearest one there was."""
        old, new = np.log1p(self.n_beta), np.log1p(n_beta)
        nearest = torch.as_tensor(np.abs(old[None] - new[:, None]).argmin(1), device="cpu")
        for name in ("delta", "loss", "grad", "log_step", "scale"):
            setattr(self, name, getattr(self, name)[nearest].clone())
        self._at(n_beta)

    def _at(self, n_beta: np.ndarray) -> None:
        self.n_beta = np.asarray(n_beta, float)
        self.heat = torch.as_tensor(self.n_beta, device="cpu").view(-1, 1)
        if self.sweeps:
            rows = self.heat.repeat_interleave(self.chains, 0)
            seed = int(torch.randint(2**62, (1,), generator=self.generator, device="cpu"))
            pull = torch.full_like(rows, float(self.prior.localization or 0))
            conditionals: Any = self.problem.conditionals(rows, pull, seed, symmetries=True)
            conditionals.tells_expected = True
            self.conditionals = conditionals
        levels = len(self.n_beta)
        self.forget()
        self.replica = torch.arange(levels, device="cpu").view(-1, 1).repeat(1, self.chains)
        self.heading = torch.zeros_like(self.replica)

    def forget(self) -> None:
        """Count anew. Who is where, and where each replica comes from, stays known."""
        self.tried, self.rejected = (np.zeros(len(self.n_beta) - 1) for _ in range(2))
        self.round_trips = torch.zeros(self.chains, dtype=torch.long, device="cpu")

    def run(self, steps: int, look: Look | None = None, adapt: bool = False) -> None:
        """look: called after each step with its number and these replicas."""
        moments = torch.zeros(2, *self.scale.shape, **EXACT)
        for step in range(steps):
            if self.sweeps:
                self._sweep(adapt)
            else:
                accepted = self._move()
            self._renew()
            if adapt and not self.sweeps:
                self.log_step += (accepted - ACCEPTANCE) * (4 / (step + 10) ** 0.6)
                moments[0] += self.delta.mean(1)
                moments[1] += self.delta.square().mean(1)
            self._swap(step)
            if look is not None:
                look(step, self)
        if adapt and steps > 20 and not self.sweeps:
            mean, square = moments / steps
            scale = (square - mean * mean).clamp_min(1e-300).sqrt()
            self.log_step += 2 * (self.scale.log().mean(1) - scale.log().mean(1))
            self.scale = scale

    def _sweep(self, adapt: bool) -> None:
        """One draw of each layer, and moves along the symmetries."""
        self.conditionals.place(self.delta.flatten(0, 1))
        self.loss = self.conditionals.move(adapt).view(self.loss.shape)
        self.delta = self.conditionals.delta.view(self.delta.shape)
        self.expected_loss = self.conditionals.expected_loss.view(self.loss.shape)

    def _renew(self) -> None:
        """The first level, drawn anew."""
        fresh = self.prior.draw(self.chains, self.generator).unsqueeze(0)
        self.delta[:1] = fresh
        self.loss[:1], self.grad[:1] = self._evaluate(fresh)

    def _move(self) -> Tensor:
        """One Langevin step of each replica; returns the mean chance to accept, [K]."""
        make = self.generator
        jitter = JITTER * torch.randn(self.loss.shape, generator=make, **EXACT)
        h = (self.log_step.view(-1, 1) + jitter).exp().unsqueeze(-1)
        metric = self.scale.square().unsqueeze(1) * h
        ahead = self.delta + metric * self._slope(self.delta, self.grad)
        noise = torch.randn(self.delta.shape, generator=make, **EXACT)
        proposal = ahead + (2 * metric).sqrt() * noise
        inside = torch.minimum(torch.maximum(proposal, self.prior.low), self.prior.high)
        loss, grad = self._evaluate(inside)
        back = self.delta - inside - metric * self._slope(inside, grad)
        log = self.heat * (self.loss - loss) + self.prior.log_density(proposal) - self.prior.log_density(self.delta)
        log = log + 0.5 * noise.square().sum(-1) - (back.square() / (4 * metric)).sum(-1)
        log = torch.where(log.isfinite() & loss.isfinite(), log, -torch.inf)
        yes = torch.rand(log.shape, generator=make, **EXACT).log() < log
        self.delta = torch.where(yes.unsqueeze(-1), inside, self.delta)
        self.grad = torch.where(yes.unsqueeze(-1), grad, self.grad)
        self.loss = torch.where(yes, loss, self.loss)
        return log.clamp_max(0).exp().mean(1)

    def _slope(self, delta: Tensor, grad: Tensor) -> Tensor:
        return self.prior.slope(delta) - self.heat.unsqueeze(-1) * grad

    def _swap(self, step: int) -> None:
        levels = len(self.n_beta)
        low = torch.arange(step % 2, levels - 1, 2, device="cpu")
        log = (self.heat[low + 1] - self.heat[low]) * (self.loss[low + 1] - self.loss[low])
        chance = torch.nan_to_num(log, nan=-torch.inf).clamp_max(0).exp()
        yes = torch.rand(chance.shape, generator=self.generator, **EXACT) < chance
        self.tried[low.numpy()] += self.chains
        self.rejected[low.numpy()] += (1 - chance).sum(1).numpy()
        order = torch.arange(levels, device="cpu").view(-1, 1).repeat(1, self.chains)
        order[low] += yes.long()
        order[low + 1] -= yes.long()
        wide = order.unsqueeze(-1).expand_as(self.delta)
        self.delta, self.grad = self.delta.gather(0, wide), self.grad.gather(0, wide)
        self.loss, self.replica = self.loss.gather(0, order), self.replica.gather(0, order)
        self._follow()

    def _follow(self) -> None:
        """The index process: a round trip leads from the coldest level to the prior and back."""
        warm, cold = self.replica[:1], self.replica[-1:]
        self.round_trips += (self.heading.gather(0, cold) == -1)[0]
        before = self.heading.gather(0, warm)
        self.heading.scatter_(0, warm, torch.where(before == 1, -1, before))
        self.heading.scatter_(0, cold, torch.ones_like(cold))
