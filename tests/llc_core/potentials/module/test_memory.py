"""A large network's run holds at most chains + 4 tensors of its parameters' size, beside one chunk's activations."""

from __future__ import annotations

import pytest
import torch
from cases import few
from torch import nn

from lab.benchmarks.speed.memory import Alive, mlp
from llc_core import SGLD, NetworkPotential, estimate
from llc_core.compute.philox_layout import GROUP
from llc_core.potentials.module.network import BY_CHAIN

WIDTHS = (200, 300, 100, 3)


def run(module: nn.Module, data, sampler, gradient: str = "minibatch", **more):
    problem = NetworkPotential(module, "cross_entropy", data, chunk=8, shuffle=False)
    return estimate(problem, sampler, gradient=gradient, chains=4, steps=12, batch_size=16, localization=100.0, **more)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setitem(BY_CHAIN, "cpu", 100)
    monkeypatch.setattr("llc_core.engine.stepping.chain_by_chain.BLOCK", GROUP)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [SGLD(step_size=1e-6), SGLD()], ids=["given step", "automatic step"])
def test_tensors_alive_at_once(small_blocks, monkeypatch, sampler):
    torch.manual_seed(0)
    module, data = mlp(WIDTHS), (torch.randn(24, 200), torch.randint(0, 3, (24,)))
    size = 4 * sum(p.numel() for p in module.parameters())
    known = 2 * data[0].nbytes + 8 * 4 * (3 * sum(WIDTHS[1:]) + WIDTHS[0])
    peaks = []
    for threshold in (100, 10**9):  # the second, all chains at once, must fail
        monkeypatch.setitem(BY_CHAIN, "cpu", threshold)
        with Alive([*module.parameters(), *data]) as alive:
            run(module, data, sampler)
        peaks.append((alive.peak - known) / size)
    assert peaks[0] <= 8 < peaks[1], peaks


@pytest.mark.slow
@pytest.mark.parametrize("gradient", few(["control_variate", "full", "minibatch"], 1))
def test_chain_by_chain_is_the_same_law(small_blocks, monkeypatch, gradient):
    """Other random numbers, so compared by their error bars; without noise it would be the same path."""
    torch.manual_seed(0)
    module, data = mlp((4, 3, 2)), (torch.randn(200, 4), torch.randint(0, 2, (200,)))
    results = []
    for threshold in (1, 10**9):
        monkeypatch.setitem(BY_CHAIN, "cpu", threshold)
        problem = NetworkPotential(module, "cross_entropy", data)
        assert problem.by_chain == (threshold == 1)
        results.append(estimate(problem, SGLD(), gradient=gradient, chains=6, steps=1500, batch_size=50))
    one, other = results
    assert abs(one.llc - other.llc) < 4 * (one.llc_se**2 + other.llc_se**2) ** 0.5
    assert max(one.llc_se, other.llc_se) < 0.5
    for name in ("stability_limit", "noise_inflation", "step_bias"):
        assert one.diagnostics[name] == pytest.approx(other.diagnostics[name], rel=0.6, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SGLD", "SGHMC", "SGNHT", "RMSPropSGLD", "AdamSGLD", "UnderdampedLangevin"])
def test_blocks_of_parameters_change_nothing(small_blocks, monkeypatch, name):
    """Noise belongs to a place: an update in blocks is the update of all parameters at once."""
    torch.manual_seed(0)
    module, data = mlp((200, 40, 3)), (torch.randn(64, 200), torch.randint(0, 3, (64,)))
    losses = []
    for block in (GROUP, 10**9):
        monkeypatch.setattr("llc_core.engine.stepping.chain_by_chain.BLOCK", block)
        losses.append(run(module, data, {"name": name, "step_size": 1e-5}, "full", dtype="float64").trace)
    assert abs(losses[0][-1]).max() > 0
    assert losses[0] == pytest.approx(losses[1], rel=1e-9, abs=1e-14)
