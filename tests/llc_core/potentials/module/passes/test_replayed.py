"""Passes that are made again from their operations: the numbers of the passes themselves, or the passes themselves."""

from __future__ import annotations

import itertools

import pytest
import torch
from cases import few
from torch import nn

import llc_core.potentials.module.passes.replayed as replayed
from llc_core import NetworkPotential, RunConfig
from llc_core.engine.run import Run

STEPS = 16


class Attending(nn.Module):
    """Tokens, a mask made inside, attention, and a weight that is tied."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.attend = nn.Embedding(7, 8), nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, tokens):
        mask = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
        x = self.norm(self.embed(tokens))
        x = x + self.attend(x, x, x, attn_mask=mask)[0]
        return (x @ self.embed.weight.T).mean(dim=1)


class WritesInside(nn.Module):
    """What it calculates is written into a tensor of its own, part by part."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 6), nn.Linear(4, 6)

    def forward(self, x):
        out = (x @ self.first.weight.T).clone()
        out[..., :3] += (x @ self.second.weight.T)[..., :3]
        out.mul_(2.0)
        return out.tanh() + self.first.bias


def classes(inputs, count=48):
    return inputs, torch.arange(count) % 3


def problem(name):
    torch.manual_seed(0)
    rows = torch.randn(48, 4)
    module, data = {
        "attention": (Attending(), classes(torch.randint(0, 7, (48, 5)))),
        "convolution": (
            nn.Sequential(nn.Conv1d(1, 3, 2), nn.GroupNorm(1, 3), nn.GELU(), nn.Flatten(), nn.Linear(9, 3)),
            classes(rows[:, None]),
        ),
        "writes inside": (WritesInside(), classes(rows)),
    }[name]
    return NetworkPotential(module, "cross_entropy", data, batch_size=8, method="vmap")


def walked(name, gradient="minibatch", seen=4, monkeypatch=None):
    monkeypatch.setattr(replayed, "SEEN", seen)
    config = RunConfig(sampler={"name": "SGLD", "step_size": 1e-3}, gradient=gradient, steps=STEPS, chains=3, seed=1)
    made: list[replayed.Replayed] = []
    begin = replayed.Replayed.__init__

    def kept(self):
        begin(self)
        made.append(self)

    monkeypatch.setattr(replayed.Replayed, "__init__", kept)
    run = Run(config, problem(name))
    for _ in range(STEPS):
        run.advance(1)
    return run, [shape for each in made for shape in each._shapes.values()]


@pytest.mark.parametrize("gradient", few(["minibatch", "control_variate"], 1))
@pytest.mark.parametrize("name", few(["attention", "convolution", "writes inside"], 1))
def test_the_numbers_are_those_of_the_module_to_the_last_bit(name, gradient, monkeypatch):
    plain, _ = walked(name, gradient, 10**9, monkeypatch)
    again, shapes = walked(name, gradient, 4, monkeypatch)
    assert any(shape.checked for shape in shapes), [shape.refused for shape in shapes]
    assert torch.equal(plain.state["delta"], again.state["delta"]) and again.state["delta"].abs().max() > 0
    assert (plain.estimates()[0].trace == again.estimates()[0].trace).all()


def test_what_is_another_function_at_every_other_call_is_asked_each_time():
    call, calls = replayed.Replayed(), itertools.count()
    for k in range(20):
        (found,) = call("a", lambda given: [given[0] * (1.0 + next(calls) % 2)], [torch.ones(2)])
        assert found.sum() == 2 + 2 * (k % 2)
    (shape,) = call._shapes.values()
    assert shape.refused == "its numbers change"


def test_operations_that_are_wrong_are_found_before_one_is_used(monkeypatch):
    plain, _ = walked("convolution", seen=10**9, monkeypatch=monkeypatch)
    made_again = replayed.Written.__call__
    monkeypatch.setattr(replayed.Written, "__call__", lambda self, given: [x + 1e-7 for x in made_again(self, given)])
    again, shapes = walked("convolution", seen=4, monkeypatch=monkeypatch)
    assert not any(shape.checked for shape in shapes)
    assert torch.equal(plain.state["delta"], again.state["delta"])


@pytest.mark.parametrize(
    "function, why",
    [
        (lambda x: [x * torch.rand(3)], "random"),
        (lambda x: [x * 2 if x.sum() > 0 else x], "asks numbers"),
        (lambda x: [x.add_(1.0)], "not its own"),
        (lambda x: [x.repeat(4_000_000).sin()], "large"),
    ],
)
def test_what_operations_alone_do_not_say_is_refused(function, why):
    call = replayed.Replayed()
    for k in range(10):
        x = torch.full((3,), float(k))
        found = call("a", lambda given: function(given[0]), [x.clone()])
        if why != "random":
            assert torch.equal(found[0], function(x)[0])
    (shape,) = call._shapes.values()
    assert why in shape.refused and not shape.checked


def test_inputs_that_shared_memory_once_are_read_apart_later():
    call, base = replayed.Replayed(), torch.arange(12.0)
    for _ in range(8):
        call("a", lambda given: [given[0].sum() + given[1][0] * 2], [base, base.view(3, 4)])
    other = torch.ones(3, 4)
    (found,) = call("a", lambda given: [given[0].sum() + given[1][0] * 2], [base, other])
    assert torch.equal(found, base.sum() + other[0] * 2)


def test_an_operation_that_cannot_be_watched_is_made_as_it_is(monkeypatch):
    call = replayed.Replayed()

    def unwatched(self, func, types, args=(), kwargs=None):
        raise NotImplementedError("no rule")

    monkeypatch.setattr(replayed.Writer, "__torch_dispatch__", unwatched)
    for k in range(8):
        assert call("a", lambda given: [given[0] + 1], [torch.full((2,), float(k))])[0].sum() == 2 * (k + 1)
    (shape,) = call._shapes.values()
    assert shape.refused == "NotImplementedError"


def test_rows_that_lie_within_others_and_results_that_do_not_vary():
    """A slice begins in the middle of its memory; what a constant gives may be written to by who gets it."""
    call, data = replayed.Replayed(), torch.arange(400.0).reshape(40, 10)
    still = torch.ones(2)
    for k in range(20):
        part = data[k : k + 2]
        doubled, flat, two = call(
            "a", lambda given: [given[0].T.T[:, 1:] * 2, given[0].view(-1)[3:7].clone(), still + 1], [part]
        )
        assert torch.equal(doubled, part[:, 1:] * 2) and torch.equal(flat, part.reshape(-1)[3:7])
        assert torch.equal(two, torch.full((2,), 2.0))
        two.zero_()
    (shape,) = call._shapes.values()
    assert shape.checked
