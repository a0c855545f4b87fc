"""How beliefs become actions. A policy is named apart from the agent, since much of what an agent seems to know is its policy's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.compute.precision import SINGLE
from llc_core.decisions.agent import Agent
from llc_core.fields import Settings, hyper


@dataclass(frozen=True)
class Policy(Settings):
    name: ClassVar[str] = ""

    def choose(self, agent: Agent, contexts: Tensor, random: torch.Generator) -> Tensor:
        """[B], actions at contexts [B, d]."""
        raise NotImplementedError


@dataclass(frozen=True)
class PosteriorMean(Policy):
    """The action whose mean reward is largest, over the weighted nets or the exact posterior. It never explores on purpose.

    This is what the released code of Deng et al. 2022 does, though their paper speaks of Thompson sampling.
    """

    name: ClassVar[str] = "posterior mean"

    def choose(self, agent: Agent, contexts: Tensor, random: torch.Generator) -> Tensor:
        return agent.mean(contexts).argmax(dim=1)


@dataclass(frozen=True)
class Thompson(Policy):
    """One draw from the posterior for every decision, and the best action under it (Thompson 1933)."""

    name: ClassVar[str] = "one-draw Thompson sampling"

    def choose(self, agent: Agent, contexts: Tensor, random: torch.Generator) -> Tensor:
        return agent.draw(contexts, random).argmax(dim=1)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """The posterior mean, but with probability `epsilon` any action: .003 in Deng et al. 2022."""

    epsilon: float = hyper(0.003, 0.0, 1.0)
    name: ClassVar[str] = "ε-greedy"

    def choose(self, agent: Agent, contexts: Tensor, random: torch.Generator) -> Tensor:
        means = agent.mean(contexts)
        anyhow = torch.rand(len(means), generator=random, **SINGLE) < self.epsilon
        other = torch.randint(means.shape[1], (len(means),), generator=random, device="cpu")
        return torch.where(anyhow, other, means.argmax(dim=1))
