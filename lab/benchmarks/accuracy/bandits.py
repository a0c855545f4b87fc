"""Who eats the right mushrooms? Regret of nets that samplers move, beside exact linear regression (Deng et al., paper 002, 4.3).

    python -m lab.benchmarks.accuracy.bandits
    python -m lab.benchmarks.accuracy.bandits --on made --seeds 10 --rounds 320 --small
    python -m lab.benchmarks.accuracy.bandits --agents "linear;linear, Thompson" --seeds 10 --on wheel

Every play has a process of its own, two at a time. All agents meet the same mushrooms and the same luck, so differences to the
first agent are seed by seed. The forced random phase, which no agent can help, stands apart. `--out` adds the figures to a file of
JSON, by environment and size of the nets.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lab.benchmarks.machine import machine
from llc_core.decisions import (
    Agent,
    BayesianLinear,
    Curve,
    Environment,
    EpsilonGreedy,
    LinearBandit,
    Mushrooms,
    Played,
    Policy,
    PosteriorMean,
    Thompson,
    WheelBandit,
    difference,
    made_mushrooms,
    pcsgld,
    picsgld,
    play,
    psgld,
    regret_curve,
)

REAL = Path(__file__).resolve().parents[2] / "data/mushroom.csv"
ON: Mapping[str, Callable[[], Environment]] = {
    "real": lambda: Mushrooms(REAL),
    "made": Mushrooms,
    "exclusive": lambda: Mushrooms(made_mushrooms(rule="exclusive")),
    "linear": LinearBandit,
    "wheel": WheelBandit,
}
AGENTS: Mapping[str, tuple[Callable[..., Agent], Policy]] = {
    "pSGLD": (psgld, PosteriorMean()),
    "pICSGLD": (picsgld, PosteriorMean()),
    "pCSGLD": (pcsgld, PosteriorMean()),
    "pSGLD, Thompson": (psgld, Thompson()),
    "pICSGLD, Thompson": (picsgld, Thompson()),
    "pSGLD, ε-greedy": (psgld, EpsilonGreedy()),
    "linear": (BayesianLinear, PosteriorMean()),
    "linear, Thompson": (BayesianLinear, Thompson()),
}
DEFAULT = "pSGLD;pICSGLD;linear;linear, Thompson"


SMALL = {"hidden": (32, 32), "batch_size": 128}


def one(work: tuple[str, str, int, int, bool]) -> tuple[Played, float]:
    """A play and the seconds of processor that it took. work: environment, agent, rounds, seed, whether nets are small."""
    on, name, rounds, seed, small = work
    torch.set_num_threads(1)
    make, policy = AGENTS[name]
    agent = make(**SMALL) if small and make is not BayesianLinear else make()
    began = time.process_time()
    return play(ON[on](), agent, policy, rounds=rounds, seed=seed), time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--on", choices=list(ON), default="real")
    parser.add_argument("--agents", default=DEFAULT, help=f"names with ; between them, of: {'; '.join(AGENTS)}")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument(
        "--small", action="store_true", help="nets of 32 and 32 units in place of 100 and 100, batches of 128"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a file of JSON to which the figures are added")
    options = parser.parse_args()
    names = [name.strip() for name in options.agents.split(";")]
    for name in names:
        if name not in AGENTS:
            parser.error(f"--agents has {name!r}; choose from {'; '.join(AGENTS)}")
    print(machine())
    began = time.perf_counter()
    works = [(options.on, name, options.rounds, seed, options.small) for seed in range(options.seeds) for name in names]
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        done = list(pool.map(one, works))
    wall = time.perf_counter() - began
    print(f"{ON[options.on]().name}, {options.rounds} rounds, {options.seeds} seeds: {wall:.0f} s")
    plays = {name: [p for (p, _), w in zip(done, works, strict=True) if w[1] == name] for name in names}
    seconds = {name: np.mean([s for (_, s), w in zip(done, works, strict=True) if w[1] == name]) for name in names}
    show(plays, seconds, looks(options.rounds))
    if options.out is not None:
        keep(options, plays, seconds, looks(options.rounds))


def looks(rounds: int) -> list[int]:
    """Rounds after which the regret is printed."""
    return sorted({min(rounds, each) for each in (100, 260, 520, 1000, rounds)})


def show(plays: Mapping[str, Sequence[Played]], seconds: Mapping[str, float], rounds: Sequence[int]) -> None:
    forced = regret_curve(next(iter(plays.values())), "forced")
    print(f"forced random phase: {forced.mean[-1]:,.0f} ± {forced.se[-1]:,.0f} of every regret below")
    print(
        f"{'regret after round':22}" + "".join(f"{each:>18,}" for each in rounds) + f"{'processor s':>13}{'heat':>13}"
    )
    for name, mine in plays.items():
        print(f"{name:22}" + _cells(regret_curve(mine), rounds) + f"{seconds[name]:13.1f}{_heat(mine):>13}")
    first, *others = plays
    if len(plays[first]) > 1:
        print(f"less {first}, seed by seed")
        for name in others:
            print(f"{name:22}" + _cells(difference(plays[name], plays[first]), rounds))


def keep(
    options: argparse.Namespace,
    plays: Mapping[str, Sequence[Played]],
    seconds: Mapping[str, float],
    rounds: Sequence[int],
) -> None:
    """Add the figures to the file `options.out`, in place of older ones of the same environment and size."""
    path: Path = options.out
    small = " --small" if options.small else ""
    command = f"python -m lab.benchmarks.accuracy.bandits --on {options.on} --seeds {options.seeds} --rounds {options.rounds}{small}"
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    at = [each - 1 for each in rounds]
    rows: dict[str, Any] = {}
    for name, mine in plays.items():
        curve = regret_curve(mine)
        rows[name] = {"regret": curve.mean[at].round(1).tolist(), "seconds": round(float(seconds[name]), 1)}
        if curve.plays > 1:
            rows[name]["se"] = curve.se[at].round(1).tolist()
        if "heat" in mine[0].report:
            rows[name] |= {"heat": mine[0].report["heat"].round(3).tolist()}
            rows[name] |= {"first_heated": [int(play.report["first_heated"]) for play in mine]}
    first = next(iter(plays.values()))
    kept[options.on + (", small" if options.small else "")] = {
        "command": command,
        "machine": machine(),
        "environment": first[0].environment,
        "rounds": list(rounds),
        "seeds": len(first),
        "forced": round(float(regret_curve(first, "forced").mean[-1]), 1),
        "agents": rows,
    }
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def _cells(curve: Curve, rounds: Sequence[int]) -> str:
    cells = [(curve.mean[each - 1], curve.se[each - 1]) for each in rounds]
    return "".join(f"{f'{mean:,.0f}' + ('' if np.isnan(se) else f' ± {se:,.0f}'):>18}" for mean, se in cells)


def _heat(plays: Sequence[Played]) -> str:
    """Of the first play: least and largest heat."""
    heat = plays[0].report.get("heat")
    return "" if heat is None else f"{heat[0]:.2f} to {heat[1]:.2f}"


if __name__ == "__main__":
    main()
