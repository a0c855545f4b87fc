"""Networks of one shape as one batch against one after the other: how many times faster a step of each is.

    python -m lab.benchmarks.speed.deep_linear.family [--device cuda]

SGLD, two chains a network, one and ten step sizes. Steps of one network and of 4 and 16 together are taken in turn, processor
time on a CPU; medians over the rounds.
"""

from __future__ import annotations

import statistics

import numpy as np

from lab.benchmarks.command import read_options
from lab.benchmarks.machine import clock
from llc_core import DeepLinearFamily, DeepLinearNetwork, Potential, RunConfig
from llc_core.engine.run import Run

WIDTHS = ([10, 8, 10], [12, 9, 7, 12], [20, 12, 8, 16, 20], [30, 20, 25, 30], [60, 40, 60])
TOGETHER = (1, 4, 16)
ROUNDS, STEPS, WARM_UP = 5, 200, 40


def prepared(problem: Potential, step_sizes: int, gradient: str, device: str) -> Run:
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 1e-9},
        grid={"step_size": np.geomspace(1e-10, 1e-8, step_sizes).tolist()} if step_sizes > 1 else {},
        gradient=gradient, chains=2, steps=WARM_UP + ROUNDS * STEPS, device=device,
    )  # fmt: skip
    run = Run(config, problem)
    run.advance(WARM_UP)
    return run


def seconds(run: Run) -> float:
    started = clock(run.device.type)
    run.advance(STEPS)
    return clock(run.device.type) - started


def main() -> None:
    device = read_options(
        globals(),
        {"WIDTHS": lambda widths: widths[:1], "TOGETHER": (1, 2), "ROUNDS": 1, "STEPS": 5, "WARM_UP": 2},
        one_thread=True,
        device="cpu",
    ).device
    for widths in WIDTHS:
        networks = [DeepLinearNetwork.random(widths=widths, ranks="equal", seed=seed) for seed in range(max(TOGETHER))]
        for gradient in ("full", "minibatch"):
            for step_sizes in (1, 10):
                runs = [
                    prepared(
                        DeepLinearFamily(networks[:count]) if count > 1 else networks[0], step_sizes, gradient, device
                    )
                    for count in TOGETHER
                ]
                taken = [
                    [seconds(run) / count for run, count in zip(runs, TOGETHER, strict=True)] for _ in range(ROUNDS)
                ]
                alone = statistics.median(row[0] for row in taken)
                faster = [statistics.median(row[0] / row[i] for row in taken) for i in range(1, len(TOGETHER))]
                words = ", ".join(f"{f:.1f} × with {count}" for f, count in zip(faster, TOGETHER[1:], strict=True))
                print(
                    f"{widths}, {gradient}, {step_sizes} step sizes: {alone / STEPS * 1e6:.0f} µs alone; {words}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
