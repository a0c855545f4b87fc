"""What an agent is: it remembers what actions gave, and says what it expects of them and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT, SINGLE
from llc_core.decisions.environment import Environment


@dataclass(frozen=True)
class Memory:
    """What was seen: contexts [n, d], the actions taken [n], the rewards got [n], oldest first."""

    contexts: Tensor
    actions: Tensor
    rewards: Tensor

    def __len__(self) -> int:
        return len(self.actions)

    def joined(self, other: Memory, capacity: int) -> Memory:
        """With `other` behind; of all only the newest `capacity`."""
        mine, theirs = (self.contexts, self.actions, self.rewards), (other.contexts, other.actions, other.rewards)
        return Memory(*(torch.cat([a, b])[-capacity:] for a, b in zip(mine, theirs, strict=True)))

    @classmethod
    def empty(cls, dim: int) -> Memory:
        return cls(
            torch.empty(0, dim, **SINGLE), torch.empty(0, dtype=torch.long, device="cpu"), torch.empty(0, **EXACT)
        )


class Agent:
    """Base of all agents: beliefs about rewards. How beliefs become actions is a policy's matter (`policies`)."""

    name: str

    def begin(self, environment: Environment, rounds: int, seed: int) -> None:
        """Forget everything. rounds: so many will be played."""
        raise NotImplementedError

    def learn(self, new: Memory, trains: bool) -> None:
        """Take in a round. trains: whether the forced random phase is over."""
        raise NotImplementedError

    def mean(self, contexts: Tensor) -> Tensor:
        """[B, A], the posterior mean of the rewards at contexts [B, d]."""
        raise NotImplementedError

    def draw(self, contexts: Tensor, random: torch.Generator) -> Tensor:
        """[B, A], rewards under draws from the posterior, one draw for each context."""
        raise NotImplementedError

    def report(self) -> Mapping[str, np.ndarray]:
        """What there is to see after the last round, by name."""
        return {}
