"""Who eats the right mushrooms? Regret of nets that samplers move, beside exact linear regression (Deng et al., paper 002, 5.3).

    python -m lab.benchmarks.networks.bandits
    python -m lab.benchmarks.networks.bandits --on made --seeds 10 --rounds 400 --small --agents all
    python -m lab.benchmarks.networks.bandits --agents "linear;linear, Thompson" --seeds 10 --on wheel

Every play has a process of its own, two at a time. All agents meet the same mushrooms and the same luck, so differences to the
first agent are seed by seed. The forced random phase, which no agent can help, stands apart. Beside the regret of the rewards got stands
the expected one, for which the optimum is exactly 0. `--out` adds the figures to a file of JSON, by environment and size of the nets.
`--keep FILE` writes each play there as soon as it is over, so that a long table can be made in pieces.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from llc_core.decisions import (
    Agent,
    BayesianLinear,
    Environment,
    EpsilonGreedy,
    LinearBandit,
    Mushrooms,
    Played,
    Policy,
    PosteriorMean,
    RegretCurve,
    Thompson,
    WheelBandit,
    const_sgd,
    difference,
    dropout,
    eps_greedy,
    made_mushrooms,
    pcsgld,
    picsgld,
    play,
    psgld,
    regret_curve,
)
from llc_core.studies.keeping import Kept

REAL = Path(__file__).resolve().parents[2] / "data/mushroom.csv"
ON: Mapping[str, Callable[[], Environment]] = {
    "real": lambda: Mushrooms(REAL),
    "made": Mushrooms,
    "exclusive": lambda: Mushrooms(made_mushrooms(rule="exclusive")),
    "linear": LinearBandit,
    "wheel": WheelBandit,
}
MEAN, DRAW, NOW_AND_THEN = PosteriorMean(), Thompson(), EpsilonGreedy()
AGENTS: Mapping[str, tuple[str, Policy]] = {
    "pSGLD": ("pSGLD", MEAN),
    "pSGLD, Thompson": ("pSGLD", DRAW),
    "pSGLD, ε-greedy": ("pSGLD", NOW_AND_THEN),
    "pICSGLD": ("pICSGLD", MEAN),
    "pICSGLD, Thompson": ("pICSGLD", DRAW),
    "pICSGLD, ε-greedy": ("pICSGLD", NOW_AND_THEN),
    "pCSGLD": ("pCSGLD", MEAN),
    "ConstSGD": ("ConstSGD", MEAN),
    "Dropout": ("Dropout", MEAN),
    "EpsGreedy": ("EpsGreedy", NOW_AND_THEN),
    "linear": ("linear", MEAN),
    "linear, Thompson": ("linear", DRAW),
    "linear, ε-greedy": ("linear", NOW_AND_THEN),
}
PAPER: Mapping[str, Callable[..., Agent]] = {
    "pSGLD": psgld,
    "pICSGLD": picsgld,
    "pCSGLD": pcsgld,
    "ConstSGD": const_sgd,
    "Dropout": dropout,
    "EpsGreedy": eps_greedy,
    "linear": BayesianLinear,
}
DEFAULT = "pSGLD;pICSGLD;linear;linear, Thompson"
FIELDS = ("agent", "policy", "environment", "seed", "pulls", "forced_pulls")
ARRAYS = ("regret", "expected_regret", "forced", "seconds")
REPORTED = ("heat", "first_heated")
SMALL_STEP, SMALL_STEP_SGD, SMALL_FORCED = 1.2e-5, 1e-5, 400
PLAIN, SIZES = ("ConstSGD", "Dropout"), ("hidden", "capacity", "batch_size", "steps")
"""Agents of SGD, which keeps no squares, and what of SMALL they take."""
SMALL: Mapping[str, Any] = {
    "hidden": (32, 32),
    "capacity": 1024,
    "batch_size": 128,
    "steps": 8,
    "statistics_scale": 8.0,
    "first_square": 1.0,
    "weight_floor": 1e-3,
}
"""Small nets that learn within 400 rounds: those of the page "Decisions", whose step is 40 times the paper's."""


def small_agent(kind: str) -> Agent:
    """The same kinds as PAPER; pCSGLD makes four times the steps, each a sixth as long, as there."""
    if kind == "linear":
        return BayesianLinear()
    steps = {"pCSGLD": SMALL_STEP / 6, "ConstSGD": SMALL_STEP_SGD, "Dropout": SMALL_STEP_SGD}
    given = {name: value for name, value in SMALL.items() if kind not in PLAIN or name in SIZES}
    longer = {"steps": 4 * SMALL["steps"]} if kind == "pCSGLD" else {}
    return PAPER[kind](step_size=steps.get(kind, SMALL_STEP), **given | longer)


def one(work: tuple[str, str, int, int, bool]) -> tuple[Played, float]:
    """A play and the seconds of processor that it took. work: environment, agent, rounds, seed, whether nets are small."""
    on, name, rounds, seed, small = work
    torch.set_num_threads(1)
    kind, policy = AGENTS[name]
    agent = small_agent(kind) if small else PAPER[kind]()
    forced = {"forced_pulls": SMALL_FORCED} if small else {}
    began = time.process_time()
    return play(ON[on](), agent, policy, rounds=rounds, seed=seed, **forced), time.process_time() - began


def main() -> None:
    options = read_options(
        globals(),
        {"agents": "linear", "rounds": 3, "seeds": 1, "processes": 1},
        on=option("real", choices=list(ON)),
        agents=option(DEFAULT, f"all, or names with ; between them, of: {'; '.join(AGENTS)}"),
        rounds=2000,
        seeds=1,
        small=option(False, "the page's nets of 32 and 32 units, and 400 forced pulls in place of 1,024"),
        processes=2,
        out=option(None, "a file of JSON to which the figures are added", type=Path),
        keep=option(None, "a file for finished plays, with which the command goes on later", type=Path),
    )
    names = list(AGENTS) if options.agents == "all" else [name.strip() for name in options.agents.split(";")]
    for name in names:
        if name not in AGENTS:
            raise SystemExit(f"--agents has {name!r}; choose from {'; '.join(AGENTS)}.")
    began = time.perf_counter()
    works = [(options.on, name, options.rounds, seed, options.small) for seed in range(options.seeds) for name in names]
    kept = Kept(options.keep)
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        running = {pool.submit(one, work): work for work in works if list(work) not in kept}
        for each in as_completed(running):
            kept.add(list(running[each]), as_row(*each.result()))
    done = [of_row(kept[list(work)]) for work in works]
    wall = time.perf_counter() - began
    print(
        f"{ON[options.on]().name}, {options.rounds} rounds, {options.seeds} seeds: {wall:.0f} s ({len(running)} plays, {options.processes} processes)"
    )
    plays = {name: [p for (p, _), w in zip(done, works, strict=True) if w[1] == name] for name in names}
    seconds = {name: np.mean([s for (_, s), w in zip(done, works, strict=True) if w[1] == name]) for name in names}
    show(options.on, plays, seconds, looks(options.rounds))
    if options.out is not None:
        keep(options, plays, seconds, looks(options.rounds))


def as_row(played: Played, seconds: float) -> dict[str, Any]:
    """As JSON, without the single actions."""
    arrays = {name: getattr(played, name).tolist() for name in ARRAYS}
    report = {name: np.asarray(value).tolist() for name, value in played.report.items() if name in REPORTED}
    return {name: getattr(played, name) for name in FIELDS} | arrays | {"report": report, "spent": seconds}


def of_row(row: Mapping[str, Any]) -> tuple[Played, float]:
    arrays = {name: np.array(row[name]) for name in ARRAYS}
    report = {name: np.array(value) for name, value in row["report"].items()}
    plain = {name: row[name] for name in FIELDS}
    return Played(**plain, **arrays, actions=np.empty((0, 0), int), report=report), row["spent"]


def looks(rounds: int) -> list[int]:
    """Rounds after which the regret is printed."""
    return sorted({min(rounds, each) for each in (100, 260, 520, 1000, rounds)})


def show(on: str, plays: Mapping[str, Sequence[Played]], seconds: Mapping[str, float], rounds: Sequence[int]) -> None:
    forced = regret_curve(next(iter(plays.values())), "forced")
    print(f"forced random phase: {forced.mean[-1]:,.0f} ± {forced.se[-1]:,.0f} of every regret below")
    print(
        f"{'regret after round':22}" + "".join(f"{each:>18,}" for each in rounds) + f"{'processor s':>13}{'heat':>13}"
    )
    for name, mine in plays.items():
        print(f"{name:22}" + _cells(regret_curve(mine), rounds) + f"{seconds[name]:13.1f}{_heat(mine):>13}")
    first, *others = plays
    bandit, last = ON[on](), rounds[-1]
    decisions = last * plays[first][0].pulls
    print(f"expected regret after round {last:,}; the optimum is 0", end="")
    if bandit.random_regret is not None:
        print(f", chance {bandit.random_regret * decisions:,.0f}", end="")
    if isinstance(bandit, WheelBandit):
        print(f", always the safe action {bandit.safe_regret * decisions:,.0f}", end="")
    print()
    for name, mine in plays.items():
        own, se = own_pull(mine)
        print(
            f"{name:22}"
            + _cells(regret_curve(mine, "expected_regret"), [last])
            + f"   {own:.3f} ± {se:.3f} an own pull"
        )
    if len(plays[first]) > 1:
        print(f"less {first}, seed by seed")
        for name in others:
            print(f"{name:22}" + _cells(difference(plays[name], plays[first]), rounds))


def own_pull(plays: Sequence[Played]) -> tuple[float, float]:
    """Expected regret of a pull that the agent chose itself, of which the optimum has 0: mean over plays and its standard error.

    Rounds after the forced phase count; (nan, nan) where there is none.
    """
    first = -(-plays[0].forced_pulls // plays[0].pulls)
    rounds = len(plays[0].expected_regret) - first
    if rounds < 1:
        return float("nan"), float("nan")
    before = [play.expected_regret[first - 1] if first else 0.0 for play in plays]
    each = np.array([play.expected_regret[-1] for play in plays]) - before
    each /= rounds * plays[0].pulls
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else float("nan")


def keep(
    options: argparse.Namespace,
    plays: Mapping[str, Sequence[Played]],
    seconds: Mapping[str, float],
    rounds: Sequence[int],
) -> None:
    """Add the figures to the file `options.out`, in place of older ones of the same environment and size."""
    path: Path = options.out
    small = " --small" if options.small else ""
    command = (
        f"python -m lab.benchmarks.networks.bandits --on {options.on} --seeds {options.seeds} --rounds {options.rounds}{small}"
        f' --agents "{options.agents}" --out {path}'
    )
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    at = [each - 1 for each in rounds]
    rows: dict[str, Any] = {}
    for name, mine in plays.items():
        curve = regret_curve(mine)
        expected = regret_curve(mine, "expected_regret")
        rows[name] = {"regret": curve.mean[at].round(1).tolist(), "seconds": round(float(seconds[name]), 1)}
        rows[name]["expected"] = expected.mean[at].round(1).tolist()
        own, own_se = own_pull(mine)
        if not np.isnan(own):
            rows[name]["own pull"] = round(own, 4)
        if not np.isnan(own_se):
            rows[name]["own pull se"] = round(own_se, 4)
        if curve.plays > 1:
            rows[name]["se"] = curve.se[at].round(1).tolist()
            rows[name]["expected_se"] = expected.se[at].round(1).tolist()
        if "heat" in mine[0].report:
            rows[name] |= {"heat": mine[0].report["heat"].round(3).tolist()}
            rows[name] |= {"first_heated": [int(play.report["first_heated"]) for play in mine]}
    first, bandit = next(iter(plays.values())), ON[options.on]()
    decisions = options.rounds * first[0].pulls
    chance = None if bandit.random_regret is None else round(bandit.random_regret * decisions, 1)
    kept[options.on + (", small" if options.small else "")] = {
        "command": command,
        "machine": machine(),
        "environment": first[0].environment,
        "rounds": list(rounds),
        "seeds": len(first),
        "forced": round(float(regret_curve(first, "forced").mean[-1]), 1),
        "chance": chance,
        "chance a pull": None if bandit.random_regret is None else round(bandit.random_regret, 4),
        "agents": rows,
    }
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def _cells(curve: RegretCurve, rounds: Sequence[int]) -> str:
    cells = [(curve.mean[each - 1], curve.se[each - 1]) for each in rounds]
    return "".join(f"{f'{mean:,.0f}' + ('' if np.isnan(se) else f' ± {se:,.0f}'):>18}" for mean, se in cells)


def _heat(plays: Sequence[Played]) -> str:
    """Of the first play: least and largest heat."""
    heat = plays[0].report.get("heat")
    return "" if heat is None else f"{heat[0]:.2f} to {heat[1]:.2f}"


if __name__ == "__main__":
    main()
