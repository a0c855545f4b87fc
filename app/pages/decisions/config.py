"""What is set on the page "Decisions": a game, and the numbers of both. Long, since each game has its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.pages.measured import ROOT
from llc_core.decisions import (
    Agent,
    BayesianLinear,
    EpsilonGreedy,
    Mushrooms,
    Policy,
    PosteriorMean,
    SampledNets,
    Thompson,
    made_mushrooms,
    paper_contour,
    paper_sampler,
)
from llc_core.fields import Settings, choice, hyper, short, whole

MUSHROOMS_GAME, DIGITS_GAME = "mushrooms", "digits"
GAMES = (MUSHROOMS_GAME, DIGITS_GAME)
SIDES = ("left", "right")
REAL = ROOT / "lab" / "data" / "mushroom.csv"
"""The UCI mushrooms lie beside the app in a checkout, and nowhere else."""
KINDS = ("real", "pleasant", "exclusive")
"""Of mushrooms: those of UCI, and two made sets with the rules of `made_mushrooms`."""
AGENTS = ("pSGLD", "pICSGLD", "pCSGLD", "linear")
POLICIES: Mapping[str, Policy] = {"mean": PosteriorMean(), "thompson": Thompson(), "greedy": EpsilonGreedy(0.1)}
CHAINS = 4
FEATURES, ACTIONS = 117, 2
PAPER_WORK = 16 * 512 * CHAINS * 22_102
"""Steps × rows × numbers of one round in Deng et al. 2022, about 0.1 s of one core."""
MOST_WORK = 3 * PAPER_WORK
SAMPLERS = ("SGLD", "SGHMC")
MOST_ROUNDS, MOST_STEPS, MOST_CHAINS, MOST_WIDTH = 5000, 20_000, 8, 256


def _player(side: str, given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or set(given) - {"agent", "policy"}:
        raise ValueError(f'{side} is {short(given)}; give a table such as {{"agent": "pSGLD", "policy": "mean"}}.')
    agent = choice(f"{side}.agent", given.get("agent", "pSGLD"), AGENTS)
    return {"agent": agent, "policy": choice(f"{side}.policy", given.get("policy", "mean"), tuple(POLICIES))}


@dataclass(frozen=True)
class BanditSettings(Settings):
    """mushrooms: one of KINDS.  left, right: {"agent": one of AGENTS, "policy": one of POLICIES}.

    rounds: of `pulls` mushrooms each; the first `forced_pulls` of them are eaten or left at random.
    hidden: units in each of two layers.  capacity: pulls that nets remember.  steps, batch_size: of each chain after a round;
    pCSGLD, one chain alone, makes four times as many.  step_size: in the paper's convention, of four chains.  temperature: τ.
    """

    what = "part bandit"

    mushrooms: str = hyper(
        lambda: "real" if REAL.exists() else "pleasant", choices=KINDS, help="Where the mushrooms come from."
    )
    left: Mapping[str, str] = hyper(lambda: {"agent": "pSGLD", "policy": "mean"}, read=_player)
    right: Mapping[str, str] = hyper(lambda: {"agent": "linear", "policy": "mean"}, read=_player)
    rounds: int = hyper(400, 20, MOST_ROUNDS, help="Rounds of the play.")
    pulls: int = hyper(20, 1, 100, help="Mushrooms of one round.")
    forced_pulls: int = hyper(400, 0, 100_000, help="Mushrooms at the beginning that are eaten or left at random.")
    hidden: int = hyper(32, 1, MOST_WIDTH, help="Units in each of two layers.")
    capacity: int = hyper(1024, 16, 16_384, help="Pulls that the nets remember; older ones go.")
    steps: int = hyper(8, 1, 256, help="Of each chain after a round.")
    batch_size: int = hyper(128, 1, 16_384, help="Remembered pulls in each step.")
    step_size: float = hyper(
        1.2e-5, 1e-10, 1e-2, log=True, help="ε of the nets' chains, in the convention of the paper: 3e-7 there."
    )
    temperature: float = hyper(0.3, 1e-6, 1e3, log=True, help="τ: how widely the nets spread; the paper has 0.3.")

    def agree(self) -> None:
        if self.mushrooms == "real" and not REAL.exists():
            raise ValueError("mushrooms is 'real', but the UCI mushrooms are not on this server; use 'pleasant'.")
        whole("batch_size", self.batch_size, 1, self.capacity)
        if self.work > MOST_WORK:
            raise ValueError(
                f"A round of {self.steps} steps on {self.batch_size} rows with {self.hidden} hidden units is "
                f"{self.work / PAPER_WORK:.1f} times that of the paper. This page takes up to 3: use fewer of any."
            )

    @property
    def dim(self) -> int:
        """Weights of one net."""
        return (FEATURES + 1) * self.hidden + (self.hidden + 1) * self.hidden + (self.hidden + 1) * ACTIONS

    @property
    def work(self) -> int:
        return self.steps * self.batch_size * CHAINS * self.dim

    @property
    def memory(self) -> float:
        """Bytes of a play: weights, their squares and what is worked out on the way, and what is remembered."""
        rows = CHAINS * self.batch_size * (FEATURES + 4 * self.hidden)
        return 2 * 4.0 * (10 * CHAINS * self.dim + 3 * self.capacity * (FEATURES + 4) + 2 * rows) + 200.0 * self.rounds

    def environment(self) -> Mushrooms:
        return Mushrooms(REAL) if self.mushrooms == "real" else Mushrooms(made_mushrooms(rule=self.mushrooms))

    def agent(self, side: str) -> Agent:
        """New, as the play of one side makes it."""
        kind = getattr(self, side)["agent"]
        if kind == "linear":
            return BayesianLinear()
        step_size, contour, rest = self.nets(kind)
        return SampledNets(paper_sampler(step_size), contour and paper_contour(*contour), name=kind, **rest)

    def nets(self, kind: str) -> tuple[float, tuple[float, float] | None, dict[str, Any]]:
        """Step size of `paper_sampler`, what `paper_contour` takes where there is one, and the other arguments of `SampledNets`.

        Squares are of N·∇L over the rows of a batch, as in the released code.
        """
        contour, alone = kind != "pSGLD", kind == "pCSGLD"
        step_size = self.step_size / 6 if alone else self.step_size
        rest = {
            "begin_share": 0.1 if contour else 0.0,
            "chains": 1 if alone else CHAINS,
            "hidden": (self.hidden, self.hidden),
            "temperature": self.temperature,
            "capacity": self.capacity,
            "batch_size": self.batch_size,
            "steps": self.steps * (CHAINS if alone else 1),
            "statistics_scale": self.capacity / self.batch_size,
            "first_square": 1.0,
            "weight_floor": 1e-3,
        }
        return step_size, (0.006 if alone else 0.03, self.temperature) if contour else None, rest

    def policy(self, side: str) -> Policy:
        return POLICIES[getattr(self, side)["policy"]]

    @property
    def has_linear(self) -> bool:
        """Whether exact linear regression by its mean, the baseline, is one of the sides."""
        return {"agent": "linear", "policy": "mean"} in (self.left, self.right)


@dataclass(frozen=True)
class OutsideSettings(Settings):
    """A net that learns the digits 0 to 4, and chains that begin at it.

    sampler: one of SAMPLERS.  steps: of each of `chains`; the first third is burn-in.  localization: γ, the pull towards the
    trained net.  temperature: n over nβ; 1 is the posterior.  hidden: units of the net's one layer.
    """

    what = "part outside"

    sampler: str = hyper("SGLD", choices=SAMPLERS, help="What moves the chains.")
    chains: int = hyper(4, 1, MOST_CHAINS, help="Chains that begin at the trained net.")
    steps: int = hyper(1500, 90, MOST_STEPS, help="Of each chain; the first third is burn-in.")
    localization: float = hyper(1.0, 0.0, 1e6, help="γ: how strongly the chains are pulled towards the trained net.")
    temperature: float = hyper(
        1.0, 1e-4, 1e3, log=True, help="n over nβ: 1 samples the posterior, more makes the chains wander further."
    )
    hidden: int = hyper(32, 1, MOST_WIDTH, help="Units of the net's one layer.")

    @property
    def widths(self) -> list[int]:
        return [64, self.hidden, 5]

    @property
    def burn_in(self) -> int:
        return self.steps // 3

    @property
    def every(self) -> int:
        """Steps between two looks at the chains, of which there are about a hundred."""
        return max(1, (self.steps - self.burn_in) // 100)

    @property
    def memory(self) -> float:
        """Bytes of the chains, of what they predict for 1,800 digits, and of the rows of a batch."""
        dim = 65 * self.hidden + 5 * (self.hidden + 1)
        return 8.0 * (14 * self.chains * dim + 1800 * (6 * self.chains + 12) + self.chains * 720 * (64 + self.hidden))


@dataclass(frozen=True)
class DecisionsConfig(Settings):
    """JSON-able; equal configurations give equal numbers. game: which of both is played.  Raises ValueError with a sentence."""

    game: str = hyper(MUSHROOMS_GAME, choices=GAMES)
    bandit: BanditSettings = hyper(BanditSettings, read=BanditSettings.read_from)
    outside: OutsideSettings = hyper(OutsideSettings, read=OutsideSettings.read_from)
    seed: int = hyper(0, 0, 10**9)

    @property
    def plays(self) -> bool:
        """Whether it is the bandit."""
        return self.game == MUSHROOMS_GAME

    @property
    def memory(self) -> float:
        return self.bandit.memory if self.plays else self.outside.memory

    @property
    def total(self) -> int:
        """Rounds of a play, or steps of each chain."""
        return self.bandit.rounds if self.plays else self.outside.steps
