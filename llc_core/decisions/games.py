"""Play a bandit: forced random pulls first, then what the policy says, and the regret all along, with bands over several plays."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import full_precision
from llc_core.compute.streams import torch_stream
from llc_core.decisions.agent import Agent, Memory
from llc_core.decisions.environment import Environment, Pulls
from llc_core.decisions.policies import Policy, PosteriorMean
from llc_core.fields import choice, whole


@dataclass(frozen=True)
class Round:
    """One round of B pulls. seen: what came, with the rewards of all actions.  actions: [B], what was done.

    forced: [B], whether it was done because the random phase asked for it.
    """

    seen: Pulls
    actions: Tensor
    forced: Tensor

    @property
    def got(self) -> Tensor:
        """[B], the rewards of what was done."""
        return self.seen.rewards.gather(1, self.actions.unsqueeze(1)).squeeze(1)


@dataclass(frozen=True)
class Played:
    """One play of R rounds.

    regret: [R], cumulative, of the rewards that were got, as in Deng et al. 2022.  expected_regret: the same without the luck of
    the rewards.  forced: [R], the part of `regret` from the forced random pulls.  forced_pulls: how many they are.
    seconds: [R], wall time since the beginning.  actions: [R, pulls], what was done.  report: what the agent shows at the end.
    """

    agent: str
    policy: str
    environment: str
    seed: int
    pulls: int
    forced_pulls: int
    regret: np.ndarray
    expected_regret: np.ndarray
    forced: np.ndarray
    seconds: np.ndarray
    actions: np.ndarray
    report: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def chosen(self) -> np.ndarray:
        """[R], the cumulative regret of the agent's own decisions, without the forced random phase."""
        return self.regret - self.forced


def play(
    environment: Environment,
    agent: Agent,
    policy: Policy | None = None,
    *,
    rounds: int = 2000,
    pulls: int = 20,
    forced_pulls: int = 1024,
    seed: int = 0,
) -> Played:
    """One play to its end. The same seed gives every agent and policy the same contexts, the same luck and the same forced pulls.

    forced_pulls: so many actions at the beginning are random, 1,024 in Deng et al. 2022; agents learn after them.
    Raises ValueError with one sentence for what cannot be played.
    """
    game = Game(environment, agent, policy, rounds=rounds, pulls=pulls, forced_pulls=forced_pulls, seed=seed)
    while game.round < game.rounds:
        game.advance()
    return game.finish()


class Game:
    """A play that goes on: `advance` plays one round.

    watch: called with a round before the agent learns from it, so that what it believed when it decided can be seen.
    """

    def __init__(
        self,
        environment: Environment,
        agent: Agent,
        policy: Policy | None = None,
        *,
        rounds: int,
        pulls: int,
        forced_pulls: int,
        seed: int,
        watch: Callable[[Round], None] = lambda played: None,
    ):
        self.watch = watch
        self.environment, self.agent, self.policy = environment, agent, policy or PosteriorMean()
        self.rounds, self.pulls = whole("rounds", rounds, 1, 10_000_000), whole("pulls", pulls, 1, 1_000_000)
        self.forced_pulls, self.seed = whole("forced_pulls", forced_pulls, 0), whole("seed", seed)
        self._luck, self._forced, self._policy = (
            torch_stream(self.seed, name) for name in ("environment", "forced pulls", "policy")
        )
        self._rows: list[tuple[float, float, float, float]] = []
        self._actions: list[np.ndarray] = []
        self._began = time.perf_counter()
        with full_precision(), torch.no_grad():
            agent.begin(environment, self.rounds, self.seed)

    @property
    def round(self) -> int:
        """Rounds played."""
        return len(self._rows)

    def advance(self) -> None:
        if self.round >= self.rounds:
            raise ValueError(f"All {self.rounds} rounds are played; begin another game.")
        seen = self.environment.draw(self._luck, self.pulls)
        at_random = torch.randint(self.environment.actions, (self.pulls,), generator=self._forced, device="cpu")
        forced = torch.arange(self.pulls, device="cpu") < self.forced_pulls - self.round * self.pulls
        with full_precision(), torch.no_grad():
            actions = at_random
            if not bool(forced.all()):
                actions = torch.where(forced, at_random, self.policy.choose(self.agent, seen.contexts, self._policy))
            played = Round(seen, actions, forced)
            self.watch(played)
            trains = (self.round + 1) * self.pulls > self.forced_pulls
            self.agent.learn(Memory(seen.contexts, actions, played.got), trains)
        regret = seen.regret(actions)
        spent = time.perf_counter() - self._began
        self._rows.append(
            (float(regret.sum()), float(seen.expected_regret(actions).sum()), float(regret[forced].sum()), spent)
        )
        self._actions.append(actions.numpy())

    def finish(self) -> Played:
        """What was played so far."""
        regret, expected, forced, seconds = np.array(self._rows).reshape(-1, 4).T
        return Played(
            self.agent.name, self.policy.name, self.environment.name, self.seed, self.pulls,
            min(self.forced_pulls, self.round * self.pulls),
            regret.cumsum(), expected.cumsum(), forced.cumsum(), seconds, np.array(self._actions), self.agent.report(),
        )  # fmt: skip


@dataclass(frozen=True)
class RegretCurve:
    """mean, low, high: [R], over the seeds; the band is mean ± 2 standard errors.  se: [R].  plays: how many there were."""

    mean: np.ndarray
    se: np.ndarray
    plays: int

    @property
    def low(self) -> np.ndarray:
        return self.mean - 2 * self.se

    @property
    def high(self) -> np.ndarray:
        return self.mean + 2 * self.se


def regret_curve(plays: Sequence[Played], which: str = "regret") -> RegretCurve:
    """which: "regret", "expected_regret", "chosen" (without the forced random phase) or "forced".

    Raises ValueError where the plays cannot be averaged: none, or of different lengths, agents or environments.
    """
    choice("which", which, ("regret", "expected_regret", "chosen", "forced"))
    if not plays:
        raise ValueError("plays is empty; give what play(…) returned for several seeds.")
    kinds = {(p.agent, p.policy, p.environment, p.pulls, len(p.regret)) for p in plays}
    if len(kinds) > 1:
        raise ValueError(
            f"plays are of {len(kinds)} kinds; average those of one agent, policy, environment and length."
        )
    rows = np.array([getattr(p, which) for p in plays])
    spread = rows.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.full(rows.shape[1], np.nan)
    return RegretCurve(rows.mean(axis=0), spread, len(rows))


def difference(plays: Sequence[Played], others: Sequence[Played], which: str = "regret") -> RegretCurve:
    """Of two agents seed by seed, first less second: the luck that they share cancels. Both need the same seeds in order."""
    if [p.seed for p in plays] != [p.seed for p in others]:
        raise ValueError("plays and others have different seeds; give both in the same order.")
    regret_curve(plays, which), regret_curve(others, which)
    rows = np.array([getattr(a, which) - getattr(b, which) for a, b in zip(plays, others, strict=True)])
    spread = rows.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.full(rows.shape[1], np.nan)
    return RegretCurve(rows.mean(axis=0), spread, len(rows))
