"""Two bandits whose optimal regret is known: the linear one, and the wheel, which only explorers learn."""

from __future__ import annotations

import math

import torch

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.decisions.environment import Environment, Pulls, with_noise
from llc_core.fields import number, whole

WHEEL_SAFE, WHEEL_OTHER, WHEEL_PRIZE = 1.2, 1.0, 50.0
"""μ1, μ2, μ3 of Riquelme, Tucker & Snoek 2018, section 5.2 and appendix."""


class LinearBandit(Environment):
    """Rewards x·θ_a + noise, with x ~ N(0, I/d) and θ_a ~ N(0, I), fixed by `seed`.

    With two actions the regret of chance is half of E|x·(θ_1 − θ_2)|, so ‖θ_1 − θ_2‖/√(2πd).
    """

    def __init__(self, dim: int = 10, actions: int = 2, noise: float = 0.1, seed: int = 0):
        self.dim, self.actions = whole("dim", dim, 1, 10_000), whole("actions", actions, 2, 1000)
        self.noise = number("noise", noise, 0)
        self.name = f"linear bandit, {self.dim} numbers"
        stream = torch_stream(whole("seed", seed), "linear bandit")
        self.theta = torch.randn(self.actions, self.dim, generator=stream, **EXACT)
        if self.actions == 2:
            self.random_regret = float((self.theta[0] - self.theta[1]).norm()) / math.sqrt(2 * math.pi * self.dim)

    def draw(self, random: torch.Generator, count: int) -> Pulls:
        x = torch.randn(count, self.dim, generator=random, **EXACT) / math.sqrt(self.dim)
        means = x @ self.theta.T
        return Pulls(x.float(), with_noise(means, self.noise, random), means)


class WheelBandit(Environment):
    """Contexts are uniform on the unit disc; action 0 gives 1.2, the four others 1.0, all with a little noise. Only outside the
    radius δ one of the four gives 50, another one in each quadrant.

    A policy that never leaves action 0 loses 48.8·(1 − δ²) a pull, chance .16·δ² + 39.16·(1 − δ²).
    Source: Riquelme, Tucker & Snoek 2018, section 5.2.
    """

    dim, actions = 2, 5

    def __init__(self, delta: float = 0.95, noise: float = 0.01):
        self.delta, self.noise = number("delta", delta, above=0, below=1), number("noise", noise, 0)
        self.name = f"wheel bandit, δ = {self.delta:g}"
        inside = self.delta**2
        chance_inside = WHEEL_SAFE - (WHEEL_SAFE + 4 * WHEEL_OTHER) / 5
        chance_outside = WHEEL_PRIZE - (WHEEL_SAFE + WHEEL_PRIZE + 3 * WHEEL_OTHER) / 5
        self.random_regret = chance_inside * inside + chance_outside * (1 - inside)
        self.safe_regret = (WHEEL_PRIZE - WHEEL_SAFE) * (1 - inside)

    def draw(self, random: torch.Generator, count: int) -> Pulls:
        radius = torch.rand(count, generator=random, **EXACT).sqrt()
        angle = 2 * math.pi * torch.rand(count, generator=random, **EXACT)
        x = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
        means = torch.full((count, 5), WHEEL_OTHER, **EXACT)
        means[:, 0] = WHEEL_SAFE
        outside = radius > self.delta
        quadrant = 1 + (angle / (math.pi / 2)).long().clamp(0, 3)
        means[outside, quadrant[outside]] = WHEEL_PRIZE
        return Pulls(x.float(), with_noise(means, self.noise, random), means)
