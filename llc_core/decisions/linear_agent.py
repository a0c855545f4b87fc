"""The baseline that every net should beat: Bayesian linear regression of the reward, exact, one for each action."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.decisions.agent import Agent, Memory
from llc_core.decisions.environment import Environment
from llc_core.fields import number


class BayesianLinear(Agent):
    """Reward of action a: x·w_a + b_a + noise of unknown variance s². s² ~ inverse gamma(shape, scale), and given s² all of
    w_a, b_a ~ N(0, s²/precision). The posterior is exact and of the same form, from sums over all that was seen.

    Source: Riquelme, Tucker & Snoek 2018, section 4, with their prior: precision ¼, shape = scale = 6.
    """

    name = "exact linear"

    def __init__(self, precision: float = 0.25, shape: float = 6.0, scale: float = 6.0):
        for field, value in (("precision", precision), ("shape", shape), ("scale", scale)):
            number(field, value, above=0)
        self.precision, self.shape, self.scale = float(precision), float(shape), float(scale)

    def begin(self, environment: Environment, rounds: int, seed: int) -> None:
        actions, dim = environment.actions, environment.dim + 1
        self._random = torch_stream(seed, "linear noise")
        self._inverse = self.precision * torch.eye(dim, **EXACT).repeat(actions, 1, 1)
        self._moment = torch.zeros(actions, dim, **EXACT)
        self._squares = torch.zeros(actions, **EXACT)
        self._counts = torch.zeros(actions, **EXACT)
        self._solved = False

    def learn(self, new: Memory, trains: bool) -> None:
        rows = _with_one(new.contexts)
        for action in range(len(self._counts)):
            x, y = rows[new.actions == action], new.rewards[new.actions == action]
            self._inverse[action] += x.T @ x
            self._moment[action] += x.T @ y
            self._squares[action] += y @ y
            self._counts[action] += len(y)
        self._solved = False

    def _solve(self) -> None:
        """When an answer is asked for: nobody asks in the forced random phase."""
        if self._solved:
            return
        self._root = torch.linalg.cholesky(self._inverse)
        self._weights = torch.cholesky_solve(self._moment.unsqueeze(2), self._root).squeeze(2)
        fitted = (self._weights * self._moment).sum(1)
        self._noise = self.shape + self._counts / 2, self.scale + (self._squares - fitted).clamp_min(0) / 2
        self._solved = True

    @property
    def weights(self) -> Tensor:
        """[A, d + 1], the posterior mean of w_a and b_a."""
        self._solve()
        return self._weights

    @property
    def noise_shape(self) -> Tensor:
        """[A], of the posterior of s²."""
        self._solve()
        return self._noise[0]

    @property
    def noise_scale(self) -> Tensor:
        """[A], of the posterior of s²."""
        self._solve()
        return self._noise[1]

    def mean(self, contexts: Tensor) -> Tensor:
        return _with_one(contexts) @ self.weights.T

    def draw(self, contexts: Tensor, random: torch.Generator) -> Tensor:
        """Given s², x·w_a is normal with variance s²·x'Λ⁻¹x, so the weights themselves need not be drawn."""
        self._solve()
        x = _with_one(contexts)
        spread = torch.stack([torch.linalg.solve_triangular(root, x.T, upper=False).norm(dim=0) for root in self._root])
        shape = self.noise_shape.expand(len(x), -1)
        gamma = torch._standard_gamma(shape.contiguous(), generator=random)
        sd = (self.noise_scale / gamma).sqrt()
        return x @ self.weights.T + sd * spread.T * torch.randn(
            sd.shape, generator=random, dtype=sd.dtype, device="cpu"
        )


def _with_one(contexts: Tensor) -> Tensor:
    x = contexts.double()
    return torch.cat([x, x.new_ones(len(x), 1)], dim=1)
