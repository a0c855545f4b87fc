"""Regret of six agents that decide which mushrooms to eat, and their settings (Deng et al. 2022, Figure 4 and Table 2). Long,
since the table plays what the figure does, and says what its agents are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
from llc_core.fields import hyper, short
from llc_core.interactions.contour import Contour
from llc_core.studies.papers.claims import Claim, Measured, less
from llc_core.studies.papers.study import STUDIES, Cost, Found, Place, Study, register
from llc_core.studies.papers.tables import aligned

FILE = Path(__file__).resolve().parents[4] / "lab" / "data" / "mushroom.csv"
PRINTED, RELEASED = VERSIONS = ("printed", "released")
SAMPLERS = {("SGLD", True): "SGLD", ("SGLD", False): "SGD", ("PSGLD", True): "pSGLD", ("PSGLD", False): "RMSProp"}
"""How the paper calls a sampler with noise and without."""
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


def read_fields(label: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{label} is {short(value)}; give a table of settings of Regrets.")
    return dict(value)


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


@register
@dataclass(frozen=True)
class BanditTable(Study):
    """The settings of all agents, as printed and as released, and what both play.

    printed: fields of `Regrets` for the printed ones.  released: those in which the released ones' plays differ from that.
    """

    printed: Mapping[str, Any] = hyper(dict, read=read_fields)
    released: Mapping[str, Any] = hyper(dict, read=read_fields)

    def agree(self) -> None:
        for version in VERSIONS:
            self.plays(version)

    def plays(self, version: str) -> Regrets:
        """ValueError for fields that `Regrets` does not have."""
        own = self.released if version == RELEASED else {}
        found = STUDIES.build({"name": "Regrets", **self.printed, **own, "version": version})
        assert isinstance(found, Regrets)
        return found

    def cost(self) -> Cost:
        one, other = (self.plays(version).cost() for version in VERSIONS)
        words = f"{one.words}; and {other.words}"
        return Cost(one.seconds + other.seconds, max(one.megabytes, other.megabytes), words)

    def run(self, at: Place) -> Found:
        both = {version: self.plays(version) for version in VERSIONS}
        found = {version: each.run(at) for version, each in both.items()}
        settings = {version: settings_of(each) for version, each in both.items()}
        table = [*settings_lines(settings), *self._sizes(), "", *self._regret_lines(found)]
        claims = [
            replace(claim, text=f"as {version}: {claim.text}")
            for version, each in found.items()
            for claim in each.claims
        ]
        numbers = {
            version: {name: {**settings[version][name], **row} for name, row in each.numbers.items()}
            for version, each in found.items()
        }
        return Found(claims, numbers, lambda: self._figure(found), table)

    def _sizes(self) -> list[str]:
        """What all agents of a version have in common, and what runs here."""
        usual = picsgld()
        lines = [
            f"What is left out is as printed. All: nets of {usual.hidden[0]} and {usual.hidden[1]} units, a memory of {usual.capacity:,}; "
            f"θ acts after {usual.begin_share:.0%} of the rounds."
        ]
        for version in VERSIONS:
            here = self.plays(version)
            lines.append(
                f"Here, as {version}: {here.seeds} plays with {COLUMNS[here.columns]} columns, nets of {here.width} and {here.width} units, "
                f"memory {here.capacity:,}, steps {here.steps} ({4 * here.steps} of one chain), batch {here.batch_size}."
            )
        return lines

    def _regret_lines(self, found: Mapping[str, Found]) -> list[str]:
        heads = [f"as {version}, {self.plays(version).rounds:,} rounds" for version in VERSIONS]
        lines = [f"{'regret':10}" + "".join(f"{head:>28}" for head in heads)]
        for name in agents(PRINTED):
            each = [
                Measured(row["regret"], row["se"]) for row in (found[version].numbers[name] for version in VERSIONS)
            ]
            lines.append(f"{name:10}" + "".join(f"{one!s:>28}" for one in each))
        return lines

    def _figure(self, found: Mapping[str, Found]) -> Any:
        from llc_core.plots.style import beside_each_other

        drawn = [each.draw().opts(title=f"as {version}") for version, each in found.items() if each.draw]
        return beside_each_other(*drawn, columns=1)


def settings_of(study: Regrets) -> dict[str, dict[str, str]]:
    """Of every agent, what its version says, in words by column. ε is of w ← w − ε∇U + √(2ετ)·N(0, 1); "ε here" is the study's."""
    found = {}
    for name, (make, policy) in agents(study.version).items():
        own, contour = make(), make().interaction
        falls = [f"{by:g} a {each}" for by, each in ((own.step_factor, "step"), (own.round_factor, "round")) if by != 1]
        acts = policy.name.removeprefix("one-draw ").removesuffix(" sampling")
        epsilons = [f"{each.sampler.step_size / 2:.3g}" for each in (own, study.agent(name))]  # type: ignore[attr-defined]
        found[name] = {
            "sampler": SAMPLERS[own.sampler.name, own.temperature > 0]
            + (f", drops {own.dropout:g}" if own.dropout else ""),
            "ε": epsilons[0],
            "ε here": epsilons[1],
            "ε times": "".join(falls) or "–",
            "τ": f"{own.temperature:g}",
            "decay": f"{own.decay:g}",
            "chains": f"{own.chains}",
            "steps": f"{own.steps}",
            "batch": f"{own.batch_size}",
            "acts by": f"{policy.epsilon:g}-greedy" if isinstance(policy, EpsilonGreedy) else acts,
            "ω; ζ; bins of θ": "–"
            if not isinstance(contour, Contour)
            else f"{contour.rate:g}; {contour.zeta:g}; {contour.bins} × {contour.width * own.temperature:g}",
        }
    return found


def settings_lines(found: Mapping[str, Mapping[str, Mapping[str, str]]]) -> list[str]:
    """A table of `settings_of` by version: a line for each agent and version; what is as in print is left out below it."""
    one, other = (found[version] for version in VERSIONS)
    rows = [["agent", "as", *next(iter(one.values()))]]
    for name, cells in one.items():
        rows.append([name, PRINTED, *cells.values()])
        rows.append(
            ["", RELEASED, *("" if other[name][key] == cell else other[name][key] for key, cell in cells.items())]
        )
    return aligned(rows)
