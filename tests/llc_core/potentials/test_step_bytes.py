"""What a step of all chains holds beside their states is said beforehand, and is never less than what it holds then."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest
import torch
from torch import nn

from lab.benchmarks.speed.memory import Alive
from llc_core import DeepLinearNetwork, NetworkPotential, Potential
from llc_core.potentials import build

CHAINS = 12
COPIES = 4
"""Arrays of the size of the chains' states that an evaluation makes; `llc_core.engine.machine` counts more than these."""
NETWORKS = [
    {"widths": [8, 6, 8]},
    {"widths": [100, 1, 1, 1, 1, 1]},
    {"widths": [1, 1, 1, 1, 100]},
    {"widths": [60, 4, 60]},
    {"widths": [300, 2, 2, 300]},
    {"widths": [220, 220]},
    {"widths": [3] * 40},
]


def peak(problem: Potential, gradient: str, batch_size: int, dtype: torch.dtype) -> tuple[int, int]:
    """Bytes at the highest point of drawing and evaluating for all chains; and those of their displacements."""
    generator = torch.Generator().manual_seed(0)
    delta = 1e-3 * torch.randn(CHAINS, problem.dim, generator=generator, dtype=dtype)

    def step(moves: torch.Tensor) -> Any:
        batch = None
        if gradient != "full":
            batch = problem.draw(generator, len(moves), batch_size, gradient, dtype)
        found = problem.excess_loss_and_grad(moves, batch)
        problem.rounding(moves)
        return batch, found

    step(delta[:2])
    # What is made once, and kept, has its own price: rows, which the line above has made, and moments of batches.
    if gradient != "full" and isinstance(problem, DeepLinearNetwork):
        kept = problem.data.kept(generator.device, dtype, batch_size)
        if kept is not None:
            kept._learn(range(kept.count))
    alive = Alive([*OLDER, *tensors()])  # its list of what is there grows with the process, and is no part of the step
    tracemalloc.start()
    try:
        with alive:
            step(delta)
        return alive.peak + tracemalloc.get_traced_memory()[1], delta.nbytes
    finally:
        tracemalloc.stop()


OLDER: list[torch.Tensor] = []
"""Tensors that were there before this file's tests."""


def tensors() -> list[torch.Tensor]:
    # By the type, since isinstance asks weak proxies of what is gone, which raises.
    return [thing for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor)]


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Libraries that the first evaluation of a process imports are not of its step.

    What other tests have left in the process is looked through once, and then kept out of the collector's sight: millions of
    objects took a second for each of the cases here.
    """
    unmade = torch.nn.LazyLinear(2)  # another test of this process may have left one: it has no storage to look at
    peak(build({"kind": "dln", "widths": [2, 2], "n": 100}), "full", 1, torch.float32)
    OLDER.extend(tensors())
    gc.freeze()
    yield
    gc.unfreeze()
    OLDER.clear()
    del unmade


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(
    ("gradient", "batch_size"), [("full", 1), ("minibatch", 20), ("minibatch", 150), ("control_variate", 20)]
)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: str(network)[:40])
def test_linear_networks(network, gradient, batch_size, dtype):
    problem = build({"kind": "dln", **network, "n": 3000})
    problem.prepare(torch.empty(0, dtype=dtype))
    held, states = peak(problem, gradient, batch_size, dtype)
    size = torch.empty(0, dtype=dtype).element_size()
    said = problem.step_bytes(CHAINS, gradient, batch_size, size)
    assert held <= said + COPIES * 8 * states / size + 100_000


@pytest.mark.parametrize(("gradient", "batch_size"), [("full", 1), ("minibatch", 50)])
@pytest.mark.parametrize("method", ["auto", "vmap", "loop"])
def test_networks_of_torch(gradient, batch_size, method):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(20, 200), nn.Tanh(), nn.Linear(200, 3))
    data = torch.randn(400, 20), torch.randint(0, 3, (400,))
    problem = NetworkPotential(module, "cross_entropy", data, method=method)
    held, states = peak(problem, gradient, batch_size, torch.float32)
    assert held <= problem.step_bytes(CHAINS, gradient, batch_size, 4) + COPIES * 2 * states + 100_000


def test_what_is_said_grows_with_chains_and_is_of_the_right_size():
    """A bound far above what is held would refuse what there is room for. All chains are evaluated at once here, by any library."""
    problem = build({"kind": "dln", "widths": [40, 1, 1, 1, 1, 1], "n": 3000})
    problem.prepare(torch.empty(0))
    held, _ = peak(problem, "full", 1, torch.float32)
    said = problem.step_bytes(CHAINS, "full", 1, 4)
    assert said == CHAINS * problem.step_bytes(1, "full", 1, 4)
    assert said <= 4 * held
