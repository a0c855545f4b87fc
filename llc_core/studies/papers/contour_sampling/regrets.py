"""Regret of six agents that decide which mushrooms to eat (Deng et al. 2022, Figure 4 and Table 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.decisions import (
    EpsilonGreedy,
    Mushrooms,
    Policy,
    PosteriorMean,
    SampledNets,
    Thompson,
    const_sgd,
    dropout,
    eps_greedy,
    pcsgld,
    picsgld,
    play,
    psgld,
)
from llc_core.decisions.mushrooms import EAT, LETTERS, column_names, one_number_each, read_mushrooms
from llc_core.decisions.named_agents import BINS, PRINTED_BINS
from llc_core.fields import hyper
from llc_core.studies.papers.claims import Claim, Measured, less
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

FILE = Path(__file__).resolve().parents[4] / "lab" / "data" / "mushroom.csv"
PRINTED, RELEASED = "printed", "released"
Made = tuple[Callable[..., SampledNets], Policy]


def agents(version: str) -> dict[str, Made]:
    """What makes each agent, and its policy.

    In print: Thompson sampling, 100 bins, EpsGreedy by RMSProp whose rate falls by .999 a step. In the released code: the posterior
    mean, 200 bins, EpsGreedy by SGD whose rate falls by .999 a round.
    """
    printed = version == PRINTED
    policy, bins = (Thompson(), PRINTED_BINS) if printed else (PosteriorMean(), BINS)
    return {
        "ConstSGD": (const_sgd, policy),
        "EpsGreedy": (eps_greedy if printed else partial(const_sgd, round_factor=0.999), EpsilonGreedy()),
        "Dropout": (dropout, policy),
        "pSGLD": (psgld, policy),
        "pCSGLD": (partial(pcsgld, bins=bins), policy),
        "pICSGLD": (partial(picsgld, bins=bins), policy),
    }


AGENTS = len(agents(PRINTED))
BEST = "pICSGLD"
PULLS = 20
ACTIONS = EAT + 1
COLUMNS = {"letters": len(column_names()), "features": len(LETTERS)}
"""Of a mushroom: one for each letter, 117 as in the released code, or one for each feature, 22 as in print."""
CALL, FLOPS = 6e-4, 2e10
"""Seconds of a step besides its products of matrices, and operations a second in those."""
POINTS = 200
"""Of a curve that are drawn."""


@register
@dataclass(frozen=True)
class Regrets(Study):
    """version: which of the paper's text and its released code the agents follow where they differ, see `agents`.
    columns: what of a mushroom the nets see, see COLUMNS.

    rounds: of PULLS mushrooms each.  seeds: plays of every agent; all meet the same mushrooms and the same luck.

    forced: random pulls at first.  width: of both hidden layers.  capacity, batch_size, steps: of the memory, of a batch, in a round.
    faster, faster_sgd: factors of the paper's step sizes, so that small nets learn in few rounds: of agents with a metric, and of
    SGD, which leaves all bounds first.
    """

    version: str = hyper(PRINTED, choices=(PRINTED, RELEASED))
    columns: str = hyper("letters", choices=tuple(COLUMNS))
    rounds: int = hyper(400, 2, 100_000)
    seeds: int = hyper(5, 2, 1000)
    forced: int = hyper(400, 0, 1_000_000)
    width: int = hyper(32, 1, 1000)
    capacity: int = hyper(1024, 10, 1_000_000)
    batch_size: int = hyper(128, 1, 100_000)
    steps: int = hyper(8, 1, 1000)
    faster: float = hyper(40.0, 1e-3, 1e4)
    faster_sgd: float = hyper(10.0, 1e-3, 1e4)

    def cost(self) -> Cost:
        weights = (COLUMNS[self.columns] + 1) * self.width + (self.width + 1) * self.width + (self.width + 1) * ACTIONS
        moves = self.rounds * self.steps
        # each of the six has four nets' work in a round; those of one net have four times the steps
        calls = moves * (AGENTS + 3)
        seconds = calls * CALL + 6.0 * weights * self.batch_size * 4 * moves * AGENTS / FLOPS
        words = (
            f"{AGENTS} agents as {self.version} on {COLUMNS[self.columns]} columns, "
            f"{self.seeds} plays of {self.rounds:,} rounds each, nets of {self.width} and {self.width} units"
        )
        return Cost(self.seeds * seconds, 400, words)

    def run(self, at: Place) -> Found:
        known = agents(self.version)

        def of(name: str, seed: int) -> Mapping[str, Any]:
            def make() -> Mapping[str, Any]:
                played = play(
                    self.mushrooms(), self.agent(name), known[name][1], rounds=self.rounds, pulls=PULLS, forced_pulls=self.forced, seed=seed
                )  # fmt: skip
                return {"regret": played.regret.tolist(), "chosen": float(played.chosen[-1])}

            settings = {key: value for key, value in self.to_dict().items() if key not in ("name", "seeds")}
            return at.part(["regret", name, settings, seed], make, f"{name}, play {seed + 1} of {self.seeds}")

        rows = {name: [of(name, seed) for seed in range(self.seeds)] for name in known}
        curves = {name: np.array([row["regret"] for row in found]) for name, found in rows.items()}
        last = {name: Measured.of(each[:, -1]) for name, each in curves.items()}
        claims = [self._better(curves[BEST][:, -1], each[:, -1], name) for name, each in curves.items() if name != BEST]
        numbers = {name: {"regret": each.value, "se": each.se} for name, each in last.items()}
        table = [f"{name}: regret {each} after {self.rounds:,} rounds" for name, each in last.items()]
        return Found(claims, numbers, lambda: self._figure(curves), table)

    def mushrooms(self) -> Mushrooms:
        table = read_mushrooms(FILE)
        return Mushrooms(one_number_each(table) if self.columns == "features" else table)

    def agent(self, name: str) -> SampledNets:
        """With the settings of this study in place of the paper's."""
        make, _ = agents(self.version)[name]
        given: dict[str, Any] = {
            "hidden": (self.width, self.width),
            "capacity": self.capacity,
            "batch_size": self.batch_size,
        }
        usual = make()
        given["steps"] = self.steps * (4 if usual.chains == 1 else 1)
        faster = self.faster_sgd if usual.sampler.name == "SGLD" else self.faster
        return make(step_size=faster * usual.sampler.step_size / 2, **given)  # type: ignore[attr-defined]

    def _better(self, best: np.ndarray, other: np.ndarray, name: str) -> Claim:
        """Seed by seed, since all agents meet the same luck."""
        gap = Measured.of(best - other)
        judged = less(f"{BEST} has less regret than {name}", ("difference", gap), ("none", Measured(0.0)))
        return Claim(judged.text, judged.holds, f"{Measured.of(best)} against {Measured.of(other)}, difference {gap}")

    def _figure(self, found: Mapping[str, np.ndarray]) -> Any:
        from llc_core.plots.kinds import curves

        some = np.unique(np.linspace(0, self.rounds - 1, POINTS).round().astype(int))
        named = {}
        for name, each in found.items():
            mean, se = each.mean(axis=0)[some], each.std(axis=0, ddof=1)[some] / self.seeds**0.5
            named[name] = (some + 1, mean, np.stack([mean - se, mean + se]))
        return curves(named, xlabel="rounds", ylabel="regret", legend_position="top_left")
