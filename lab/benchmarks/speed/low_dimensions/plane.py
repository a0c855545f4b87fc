"""How fast do interacting chains walk on the plane? ICSGLD with five chains, and its neighbours, compiled, on one core.

    python -m lab.benchmarks.speed.low_dimensions.plane

A step of one chain is one evaluation of the 25 modes with noise on energy and gradient, the update, and what the chains share. Seconds are
those of the processor, so that other programs matter less; the least of the rounds. The goal is 2 million steps of ICSGLD a second.
"""

from __future__ import annotations

import time

from lab.benchmarks.command import read_options
from llc_core import SGLD, Contour, Cyclical, ReplicaExchange, surface
from llc_core.interactions import Interaction
from llc_core.plane import PlaneRun

STEPS = 80_000
STARTS = ((0.0, -1.0), (0.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 0.0))
"""Where the five chains begin: the mode in the middle and its neighbours."""
ROWS: tuple[tuple[str, Interaction | None], ...] = (
    ("SGLD", None),
    ("ICSGLD", Contour(low=-1, high=11.4945, pilot=4000)),
    ("cyclical", Cyclical(length=8000)),
    ("replica exchange", ReplicaExchange(temperatures=(1, 1.9, 3.5, 6.5, 12), step_power=1)),
)


def seconds(interaction: Interaction | None, trials: int, steps: int) -> float:
    """Of the processor, for five chains of every trial, after a first piece that compiles."""
    more = {} if isinstance(interaction, ReplicaExchange) else {"chains": 5, "starts": STARTS}
    run = PlaneRun(SGLD(step_size=3e-3), surface(noise=0.25), interaction, steps=steps + 100, trials=trials, **more)
    run.advance(100)
    began = time.process_time()
    run.advance(steps)
    return time.process_time() - began


def main() -> None:
    options = read_options(globals(), {"rounds": 1, "trials": 1, "STEPS": 2000}, rounds=5, trials=4)
    print("| five chains | million chain-steps/s | s for 80,000 steps |")
    print("|---|---|---|")
    for name, interaction in ROWS:
        least = min(seconds(interaction, options.trials, STEPS) for _ in range(options.rounds)) / options.trials
        print(f"| {name} | {5 * STEPS / least / 1e6:.1f} | {least:.3f} |", flush=True)


if __name__ == "__main__":
    main()
