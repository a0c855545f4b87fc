"""What two things save in a step of a deep linear network on a CPU: the cut at the narrowest layer, and the compiled loop.

`python -m lab.benchmarks.speed.deep_linear.linear_step [--size-class 10K] [--problems 12] [--blas numpy torch] [--samplers …]`. The same step with and without
them, in turn, one thread, best of the rounds: a full gradient of all chains whole and cut (`llc_core.potentials.deep_linear.cut`), and
a whole step with update and noise by torch's operations and in one loop (`llc_core.engine.stepping.compiled`), the gradient cut in both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from lab.benchmarks.command import option, read_options
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.engine.run import Run
from llc_core.engine.stepping import compiled as one_loop
from llc_core.potentials.deep_linear.cut import cut_of

CHAINS, STEP_SIZE = 20, 1e-10
SAMPLERS = ("SGLD", "RMSPropSGLD", "AdamSGLD", "SGHMC", "SGNHT")


def main() -> None:
    options = read_options(
        globals(),
        {"size_class": "1K", "problems": 1, "rounds": 1, "samplers": ["SGLD"]},
        one_thread=True,
        size_class="10K",
        problems=12,
        samplers=option(list(SAMPLERS), "none: gradients alone", nargs="*", choices=SAMPLERS),
        rounds=7,
        blas=option(["numpy", "torch"], choices=("numpy", "torch")),
    )
    if len(options.blas) > 1:  # the choice is made once in a process
        for library in options.blas:
            more = [
                "--size-class",
                options.size_class,
                "--problems",
                str(options.problems),
                "--rounds",
                str(options.rounds),
            ]
            subprocess.run(
                [sys.executable, "-m", "lab.benchmarks.speed.deep_linear.linear_step", *more, "--blas", library],
                check=True,
            )
        return
    os.environ["LLC_LAB_BLAS"] = options.blas[0]
    networks = [DeepLinearNetwork.random(options.size_class, "equal", seed=seed) for seed in range(options.problems)]
    gradients(networks, options.blas[0], options.rounds)
    for sampler in options.samplers:
        steps(networks, sampler, options.blas[0], options.rounds)


def gradients(networks: list[DeepLinearNetwork], library: str, rounds: int) -> None:
    totals, ratios = [0.0, 0.0], []
    for network in networks:
        delta = 1e-3 * torch.randn(CHAINS, network.dim, generator=torch.Generator().manual_seed(0))
        whole = DeepLinearNetwork(network.weights, n=network.n, noise_std=network.noise_std, seed=network.seed)
        whole._tensors(delta).cut = 0
        sides = [lambda on=on, delta=delta: on.excess_loss_and_grad(delta) for on in (whole, network)]
        seconds = in_turn(sides, rounds)
        totals = [total + mine for total, mine in zip(totals, seconds, strict=True)]
        ratios.append(seconds[0] / seconds[1])
    cuts = sum(cut_of(network.widths) > 0 for network in networks)
    print(
        f"gradient, products by {library}: {cuts} of {len(networks)} networks cut; all together {totals[0] / totals[1]:.2f} × "
        f"less time, each {min(ratios):.2f} to {max(ratios):.2f} ×",
        flush=True,
    )


def steps(networks: list[DeepLinearNetwork], sampler: str, library: str, rounds: int) -> None:
    totals = [0.0, 0.0]
    for network in networks:
        config = RunConfig(
            sampler={"name": sampler, "step_size": STEP_SIZE},
            gradient="full",
            chains=CHAINS,
            steps=10**6,
            dtype="float32",
        )
        sides = []
        for worth in (2**62, 1):
            before, one_loop.WORTH = one_loop.WORTH, worth
            run = Run(config, network)
            one_loop.WORTH = before
            run.advance(5)
            sides.append(lambda run=run: run.advance(40))
        totals = [total + mine for total, mine in zip(totals, in_turn(sides, rounds), strict=True)]
    print(
        f"step of {sampler}, products by {library}: {totals[0] / totals[1]:.2f} × less time in one loop "
        f"({totals[1] / 40 / len(networks) * 1000:.2f} ms on average, {CHAINS} chains)",
        flush=True,
    )


def in_turn(sides: list[Callable[[], object]], rounds: int) -> list[float]:
    """The least processor seconds of each side."""
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        for index, side in enumerate(sides):
            start = time.process_time()
            side()
            best[index] = min(best[index], time.process_time() - start)
    return best


if __name__ == "__main__":
    main()
