"""Agents at τ = 0: nets that SGD or RMSProp trains, with a rate that falls, and with units left out."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from llc_core.decisions import LinearBandit, Memory, SampledNets, const_sgd, dropout, eps_greedy, picsgld
from llc_core.decisions.nets import Nets, chosen_loss
from llc_core.networks.models import mlp
from llc_core.samplers import SGLD

SMALL = {"hidden": (7, 5), "capacity": 64, "batch_size": 32, "steps": 3, "chains": 1}


def begun(agent: SampledNets, count: int = 40) -> SampledNets:
    """With `count` pulls in its memory, before its first step."""
    bandit = LinearBandit()
    agent.begin(bandit, 10, seed=3)
    random = torch.Generator().manual_seed(0)
    seen = bandit.draw(random, count)
    actions = torch.randint(seen.rewards.shape[1], (count,), generator=random)
    agent.learn(Memory(seen.contexts, actions, seen.rewards.gather(1, actions[:, None]).squeeze(1)), trains=False)
    return agent


def by_hand(agent: SampledNets, move, steps: int) -> torch.Tensor:
    """The weights after so many steps of `move`, a function of weights and gradient of U, on the agent's own batches."""
    w, widths = agent.state["delta"].clone(), [layer.inputs for layer in agent.nets.layers]
    module = mlp([*widths, agent.nets.layers[-1].outputs])
    for _ in range(steps):
        inputs, target = agent._batch()
        nn.utils.vector_to_parameters(w[0], module.parameters())
        loss = agent.capacity * chosen_loss(module(inputs[0]), target[0]).mean()
        slope = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(module.parameters()))])
        w = move(w, slope + agent.decay * w)
    return w


def test_const_sgd_is_sgd():
    agent, other = (begun(const_sgd(1e-4, **SMALL)) for _ in range(2))
    wanted = by_hand(other, lambda w, slope: w - 1e-4 * slope, 3)
    for _ in range(3):
        agent._move()
    assert torch.allclose(agent.state["delta"], wanted, rtol=1e-4, atol=1e-6)
    assert (agent.state["delta"] - other.state["delta"]).abs().max() > 1e-3


@pytest.mark.parametrize("factors", [{"step_factor": 0.5}, {"step_factor": 1.0, "round_factor": 0.5}], ids=str)
def test_eps_greedy_is_rmsprop_whose_rate_falls_at_every_step_or_once_a_round(factors):
    agent, other = (begun(eps_greedy(1e-3, **SMALL, **factors)) for _ in range(2))
    square, scale = torch.ones_like(other.state["delta"]), 1 / SMALL["batch_size"]
    rates = iter([5e-4, 2.5e-4, 1.25e-4] if "round_factor" not in factors else [5e-4] * 3)

    def move(w, slope):
        nonlocal square
        of_loss = (slope - other.decay * w) * scale
        square = 0.99 * square + 0.01 * of_loss**2
        return w - next(rates) * slope / (0.001 + square.sqrt())

    wanted = by_hand(other, move, 3)
    agent.learn(Memory.empty(agent.memory.contexts.shape[1]), trains=True)
    assert torch.allclose(agent.state["delta"], wanted, rtol=1e-3, atol=1e-6)
    assert next(rates, None) is None


def test_units_are_left_out_without_a_bias():
    """The last layer is linear, so that the mean over draws is the output with every unit, and the spread has a known size."""
    full, some = Nets([6, 20, 3]), Nets([6, 20, 3], dropout=0.5, samples=4)
    random = torch.Generator().manual_seed(0)
    w, x = full.start(2, 0), torch.randn(1, 6, generator=random).expand(4000, 6)
    exact, drawn = full.outputs(w, x[:1]), some.outputs(w, x, random)
    error = drawn.std(dim=1) / 4000**0.5
    assert ((drawn.mean(dim=1) - exact[:, 0]).abs() < 4.5 * error).all()
    parts = [w[:, : 6 * 20].view(2, 20, 6), w[:, 120:140], w[:, 140:200].view(2, 3, 20)]
    hidden = (torch.einsum("chi,i->ch", parts[0], x[0]) + parts[1]).relu()
    spread = ((hidden[:, None] * parts[2]) ** 2).sum(dim=2) / 4  # p/(1 − p) of each unit's share, over four draws
    assert torch.allclose(drawn.var(dim=1), spread, rtol=0.15)


def test_the_gradient_with_units_left_out_is_that_of_the_loss():
    nets = Nets([4, 6, 2], dropout=0.5, samples=3)
    random = torch.Generator().manual_seed(1)
    w, x = nets.start(2, 1), torch.randn(2, 9, 4, generator=random)
    target = torch.stack(
        [torch.randint(2, (2, 9), generator=random).float(), torch.randn(2, 9, generator=random)], dim=2
    )

    def loss(at, slope=False):
        found = nets.losses_and_grad(at, x, target, torch.Generator().manual_seed(5))
        return found[1] if slope else found[0]

    slope, along = loss(w, slope=True), torch.randn(w.shape, generator=random)
    change = (loss(w + 1e-3 * along) - loss(w - 1e-3 * along)) / 2e-3
    assert torch.allclose(change, (slope * along).sum(dim=1), rtol=2e-2, atol=1e-3)


def test_dropout_acts_in_learning_and_in_deciding():
    agent = begun(dropout(1e-4, **SMALL))
    x = torch.ones(50, agent.memory.contexts.shape[1])
    assert agent.mean(x).std(dim=0).min() > 0, "the same context, another answer each time"
    assert begun(const_sgd(1e-4, **SMALL)).mean(x).std(dim=0).max() < 1e-6


def test_what_cannot_be_is_one_sentence():
    with pytest.raises(ValueError, match="temperature is 0.*interaction"):
        SampledNets(SGLD(step_size=1e-6), "Contour", temperature=0)
    with pytest.raises(ValueError, match="temperature"):
        picsgld(temperature=0)
    with pytest.raises(ValueError, match="dropout"):
        dropout(1e-4, dropout=1.0)
