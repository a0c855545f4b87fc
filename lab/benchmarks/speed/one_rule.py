"""Would one scalar rule do for a sampler's update in torch, as the compiled loop has it? Its last bits and its time beside what is written.

    python -m lab.benchmarks.speed.one_rule        a minute of one core

SGLD and RMSProp-SGLD, [chains, parameters] of three sizes; times are ratios of both ways, in turn, in one process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from lab.benchmarks.command import read_options
from llc_core.samplers import SGLD, RMSPropSGLD
from llc_core.types import Energy, Hp, State

SIZES = ((8, 24, 20_000), (4, 1000, 20_000), (4, 100_000, 300))
"""Chains, parameters, and updates of each round."""
N_BETA, GAMMA = 1e4, 1.0


def by_rule(sampler: SGLD | RMSPropSGLD, state: State, gradient: Tensor, noise: Tensor, hp: Hp) -> State:
    """The lines of the sampler's `_step`, on tensors."""
    d = state["delta"]
    if isinstance(sampler, SGLD):
        return {"delta": d - hp.step_size / 2 * (N_BETA * gradient + GAMMA * d) + hp.step_size.sqrt() * noise}
    square = state["square"] + (1 - hp.beta) * (gradient * gradient - state["square"])
    count = state["count"] + 1
    root = 1 / torch.sqrt(torch.sqrt(square / (1 - hp.beta**count) + hp.stability))
    moved = d - hp.step_size / 2 * root * root * (N_BETA * gradient + GAMMA * d) + hp.step_size.sqrt() * root * noise
    return {"delta": moved, "square": square, "count": count}


def as_written(sampler: SGLD | RMSPropSGLD, state: State, gradient: Tensor, noise: Tensor, hp: Hp) -> State:
    zeros = torch.zeros(len(gradient))
    energy = Energy(zeros, gradient, state["delta"], zeros[:, None] + N_BETA, zeros[:, None] + GAMMA)
    return sampler.update(state, energy, noise[None], hp)


def seconds(work: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        work()
    return time.perf_counter() - started


def main() -> None:
    options = read_options(globals(), {"rounds": 1, "SIZES": ((2, 5, 10),)}, one_thread=True, rounds=7)
    for chains, parameters, count in SIZES:
        generator = torch.Generator().manual_seed(0)
        gradient, noise, delta = (torch.randn(chains, parameters, generator=generator) for _ in range(3))
        for sampler in (SGLD(), RMSPropSGLD()):
            column = {"step_size": 1e-6, "beta": 0.99, "stability": 0.1}
            hp = Hp(**{name: torch.full((chains, 1), value) for name, value in column.items()})
            state = sampler.init(delta * 0.01, noise[None], hp)

            given = sampler, state, gradient, noise, hp
            written, ruled = partial(as_written, *given), partial(by_rule, *given)
            one, other = written()["delta"], ruled()["delta"]
            assert torch.allclose(one, other, rtol=1e-4, atol=1e-6), "the two are the same update"
            ratios = [seconds(ruled, count) / seconds(written, count) for _ in range(options.rounds)]
            share = float((one != other).float().mean())
            print(
                f"{sampler.label:13} [{chains}, {parameters}]  {share:.0%} of the numbers differ, time × {statistics.median(ratios):.2f}"
            )


if __name__ == "__main__":
    main()
