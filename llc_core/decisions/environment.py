"""What a contextual bandit is: contexts come, an action is chosen, its reward alone is seen."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Pulls:
    """Some contexts that come one after another, with what each action would give.

    contexts: [B, d], single precision.  rewards: [B, A], drawn for every action, so that all agents meet the same luck.
    means: [B, A], their expectations. Both are in double precision. An agent sees the reward of its own action alone.
    """

    contexts: Tensor
    rewards: Tensor
    means: Tensor

    @property
    def best(self) -> Tensor:
        """[B], the expected reward of the best action, which the oracle takes."""
        return self.means.amax(dim=1)

    def regret(self, actions: Tensor) -> Tensor:
        """[B], oracle's expected reward less the reward that was got. The paper's regret; its mean is `expected_regret`."""
        return self.best - self.rewards.gather(1, actions.unsqueeze(1)).squeeze(1)

    def expected_regret(self, actions: Tensor) -> Tensor:
        """[B] ≥ 0: the same without the luck of the reward."""
        return self.best - self.means.gather(1, actions.unsqueeze(1)).squeeze(1)


class Environment:
    """Base of all bandits.

    dim: numbers of a context.  actions: how many there are.  random_regret: exact expected regret of one action taken at
    random; None where it is not known. The regret of the best policy is 0.
    """

    name: str
    dim: int
    actions: int
    random_regret: float | None = None

    def draw(self, random: torch.Generator, count: int) -> Pulls:
        """`count` independent contexts, with the rewards of all actions."""
        raise NotImplementedError


def with_noise(means: Tensor, noise: float, random: torch.Generator) -> Tensor:
    """Rewards around their means with Gaussian noise of standard deviation `noise`."""
    return means + noise * torch.randn(means.shape, generator=random, dtype=means.dtype, device="cpu")
