"""Data made where they are used against rows kept in memory: time of a minibatch step, and of the moments over all data.

    python -m lab.benchmarks.speed.deep_linear.virtual_data [--device cuda]

SGLD, four chains, batches of 500 of n = 10⁶ rows. "fresh": without kept moments of batches. Both ways in turn, processor time
on a CPU; medians over the rounds. On a GPU runs of so many steps are compiled by default, their rows too; with LLC_LAB_GPU=plain
neither is.
"""

from __future__ import annotations

import statistics

import torch

from lab.benchmarks.command import read_options
from lab.benchmarks.machine import clock
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run
from llc_core.potentials.deep_linear import data as dln_data

WIDTHS = ([10, 8, 10], [100, 80, 120, 60, 100], [400] * 7, [600, 300, 600])
ROUNDS, SECONDS, WARM_UP = 5, 2.0, 5


def prepared(problem: DeepLinearNetwork, device: str) -> tuple[Run, float]:
    """A run after its first steps, and the seconds of its moments."""
    started = clock(device)
    problem.data.work_on(torch.device(device))
    problem.data.sxx  # noqa: B018  made when first asked for
    making = clock(device) - started
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 1e-10}, gradient="minibatch", steps=10**6, device=device, burn_in=0
    )
    run = Run(config, problem)
    run.advance(WARM_UP)
    return run, making


def main() -> None:
    device = read_options(
        globals(),
        {"WIDTHS": lambda widths: widths[:1], "ROUNDS": 1, "SECONDS": 0.02, "WARM_UP": 1},
        one_thread=True,
        device="cpu",
    ).device
    usual = dln_data.KEPT_NUMBERS, dln_data.GPU_KEPT_NUMBERS
    for widths in WIDTHS:
        for name, most in (("kept moments", usual), ("fresh", (0, 0))):
            dln_data.KEPT_NUMBERS, dln_data.GPU_KEPT_NUMBERS = most
            problems = [DeepLinearNetwork.random(widths=widths, seed=0, virtual=virtual) for virtual in (False, True)]
            data = problems[0].data
            if name != "fresh" and not all(problem.data.kept_count(500, device != "cpu") for problem in problems):
                continue
            runs, making = zip(*(prepared(problem, device) for problem in problems), strict=True)
            steps = 20
            while (taken := _seconds(runs[0], steps, device)) < SECONDS / ROUNDS and steps < 20_000:
                steps = max(steps + 1, int(steps * min(10.0, SECONDS / ROUNDS / max(taken, 1e-3))))
            each = [[_seconds(run, steps, device) / steps for run in runs] for _ in range(ROUNDS)]
            pool, virtual = (statistics.median(row[i] for row in each) for i in (0, 1))
            ratio = statistics.median(row[1] / row[0] for row in each)
            print(
                f"{widths}, {name}: {pool * 1e6:,.0f} µs with {data.rows:,} rows in memory, {virtual * 1e6:,.0f} µs virtual, "
                f"{ratio:.2f} times as long; moments {making[0]:.1f} and {making[1]:.1f} s",
                flush=True,
            )
    dln_data.KEPT_NUMBERS, dln_data.GPU_KEPT_NUMBERS = usual


def _seconds(run: Run, steps: int, device: str) -> float:
    started = clock(device)
    run.advance(steps)
    return clock(device) - started


if __name__ == "__main__":
    main()
