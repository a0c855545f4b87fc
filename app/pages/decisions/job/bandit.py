"""A play of two agents, and of the linear baseline, as a job of the run manager. All meet the same mushrooms and the same luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from app.pages.decisions.config import SIDES, BanditSettings, DecisionsConfig
from app.pages.decisions.scene import Scene
from llc_core.compute.streams import torch_stream
from llc_core.decisions import Agent, BayesianLinear, Game, PosteriorMean, Round, SampledNets, letters_of
from llc_core.decisions.mushrooms import EAT, LEAVE

BASELINE = "linear"
PLAYERS = (*SIDES, BASELINE)
DRAWS = 12
"""Draws of a posterior that is exact, to show beside single nets."""
RECENT = 20
"""Rounds over which a share of mushrooms eaten is taken."""


@dataclass(frozen=True)
class Player:
    """One agent so far. Every count is of pulls that it decided itself, after the forced ones.

    regret, own: cumulative, of all pulls and of its own.  bad: poisonous ones eaten.  missed: edible ones left.
    eaten: share eaten in its last rounds; nan before.
    memory: what is remembered now: pulls left, eaten with +5, eaten with −35; all 0 where sums are kept in place of pulls.
    """

    regret: float
    own: float
    bad: int
    missed: int
    eaten: float
    memory: tuple[int, int, int]


@dataclass(frozen=True)
class Belief:
    """More that eating gives than leaving, as an agent's nets or draws expect it [M], with their weights [M] and the mean.

    ate, got: what was done with the mushroom, and the reward.
    """

    each: np.ndarray
    weights: np.ndarray
    mean: float
    ate: bool
    got: float


@dataclass(frozen=True)
class Moment:
    """One mushroom before anybody learned from it: that on which an agent's own nets or draws agree least, of a round.

    letters: feature → letter.  forced: whether it was eaten or left because the random phase asked for it.
    """

    letters: Mapping[str, str]
    edible: bool
    forced: bool
    beliefs: Mapping[str, Belief]


@dataclass(frozen=True)
class BanditProgress:
    """After so many rounds. chance: what choosing at random would have lost by now, on average."""

    steps: int
    total_steps: int
    players: Mapping[str, Player]
    moment: Moment | None
    chance: float
    notes: tuple[str, ...] = ()


class RegretLog:
    """Rows: round, then the regret of left, right and baseline, and the part of the forced pulls."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, ...]] = []

    def since(self, cursor: int) -> tuple[int, np.ndarray]:
        """The new cursor and the rows after `cursor`, [T, 5]."""
        return len(self.rows), np.array(self.rows[cursor:]).reshape(-1, 2 + len(PLAYERS))


class Seat:
    """One agent at play, and the counts of what it does."""

    def __init__(self, settings: BanditSettings, scene: Scene, agent: Agent, policy: PosteriorMean, seed: int):
        assert scene.mushrooms is not None
        self.agent = agent
        self.game = Game(
            scene.mushrooms, agent, policy, rounds=settings.rounds, pulls=settings.pulls,
            forced_pulls=settings.forced_pulls, seed=seed, watch=self._watch,
        )  # fmt: skip
        self._random = torch_stream(seed, "shown draws")
        self.looks = False
        self.regret = self.forced = 0.0
        self._bad = self._missed = 0
        self._eaten: list[tuple[int, int]] = []
        self.played: Round | None = None
        self.believed: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _watch(self, played: Round) -> None:
        self.played = played
        regret, own = played.seen.regret(played.actions), ~played.forced
        self.regret += float(regret.sum())
        self.forced += float(regret[played.forced].sum())
        edible, ate = played.seen.means[:, EAT] > 0, played.actions == EAT
        self._bad += int((own & ate & ~edible).sum())
        self._missed += int((own & ~ate & edible).sum())
        self._eaten = [*self._eaten[-RECENT + 1 :], (int((own & ate).sum()), int(own.sum()))]
        self.believed = self._beliefs(played) if self.looks else None

    def _beliefs(self, played: Round) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Eating less leaving: of each net or draw [M, B], their weights [M], and the mean [B]."""
        x = played.seen.contexts
        if isinstance(self.agent, SampledNets):
            each, weights = self.agent.members(x), self.agent.weights.numpy().copy()
        else:
            each = torch.stack([self.agent.draw(x, self._random) for _ in range(DRAWS)])
            weights = np.full(DRAWS, 1 / DRAWS)
        mean = self.agent.mean(x)
        return (each[..., EAT] - each[..., LEAVE]).numpy(), weights, (mean[:, EAT] - mean[:, LEAVE]).numpy()

    def belief(self, place: int) -> Belief:
        assert self.believed is not None and self.played is not None
        each, weights, mean = self.believed
        ate = bool(self.played.actions[place] == EAT)
        return Belief(each[:, place], weights, float(mean[place]), ate, float(self.played.got[place]))

    def player(self) -> Player:
        ate, of = np.sum(self._eaten, axis=0) if self._eaten else (0, 0)
        memory = (0, 0, 0)
        if isinstance(self.agent, SampledNets):
            kept = self.agent.memory
            left, lucky = int((kept.actions == LEAVE).sum()), int((kept.rewards > 0).sum())
            memory = left, lucky, len(kept) - left - lucky
        share = float(ate / of) if of else float("nan")
        return Player(self.regret, self.regret - self.forced, self._bad, self._missed, share, memory)


class BanditJob:
    """Raises ValueError, in words for the user, for what cannot be played."""

    def __init__(self, scene: Scene):
        config: DecisionsConfig = scene.config
        own = self.settings = config.bandit
        self.scene = scene
        self._seats = {side: Seat(own, scene, own.agent(side), own.policy(side), config.seed) for side in SIDES}
        if not own.has_linear:
            self._seats[BASELINE] = Seat(own, scene, BayesianLinear(), PosteriorMean(), config.seed)
        self._rows: list[tuple[float, ...]] = []
        self._moment: Moment | None = None
        self.log = RegretLog()

    @property
    def finished(self) -> bool:
        return self._done >= self.settings.rounds

    @property
    def _done(self) -> int:
        return self._seats["left"].game.round

    def advance(self, steps: int) -> BanditProgress:
        """steps: rounds. Of the last one the mushroom of the moment is taken."""
        last = min(self._done + steps, self.settings.rounds)
        while self._done < last:
            is_last = self._done + 1 == last
            for name, seat in self._seats.items():
                seat.looks = is_last and name in SIDES
                seat.game.advance()
            self._rows.append(
                (float(self._done), *(self._of(name).regret for name in PLAYERS), self._of("left").forced)
            )
        if steps:
            self._moment = self._hardest() or self._moment
        return self.judge()

    def judge(self) -> BanditProgress:
        chance = (self.scene.mushrooms.random_regret or 0.0) * self.settings.pulls if self.scene.mushrooms else 0.0
        players = {name: self._of(name).player() for name in PLAYERS}
        return BanditProgress(self._done, self.settings.rounds, players, self._moment, chance * self._done)

    def record(self, snapshot: BanditProgress, estimate: object) -> None:
        self.log.rows += self._rows
        self._rows = []

    def _of(self, name: str) -> Seat:
        """The baseline may be one of the sides."""
        if name in self._seats:
            return self._seats[name]
        mean = {"agent": "linear", "policy": "mean"}
        return self._seats["left" if self.settings.left == mean else "right"]

    def _hardest(self) -> Moment | None:
        """The mushroom of the last round on which nets or draws of one agent agree least."""
        left, right = (self._seats[side] for side in SIDES)
        if left.believed is None or right.believed is None or left.played is None:
            return None
        spread = sum(seat.believed[0].std(axis=0) for seat in (left, right) if seat.believed is not None)
        place = int(np.argmax(spread))
        seen = left.played.seen
        assert self.scene.mushrooms is not None
        letters = letters_of(self.scene.mushrooms.table.columns, seen.contexts[place].numpy())
        edible = bool(seen.means[place, EAT] > 0)
        beliefs = {side: self._seats[side].belief(place) for side in SIDES}
        return Moment(letters, edible, bool(left.played.forced[place]), beliefs)
