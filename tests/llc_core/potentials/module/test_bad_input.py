"""Awkward modules, losses, data and choices: one clear sentence, or the right result."""

from __future__ import annotations

import math

import pytest
import torch
from sentences import tells
from small_networks import gradient_by_difference, moved
from torch import Tensor, nn
from torch.nn import functional as F

from llc_core import SGLD, NetworkPotential, estimate

X, Y = torch.randn(20, 4), torch.randint(0, 3, (20,))
HOLED = X.clone()
HOLED[3, 1] = math.nan


def module(**more) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3, **more))


def make(net=None, loss="cross_entropy", data=(X, Y), **more) -> NetworkPotential:
    return NetworkPotential(module() if net is None else net, loss, data, **more)


def frozen() -> nn.Module:
    return module().requires_grad_(False)


class Functional(nn.Module):
    """Dropout that eval mode does not switch off."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(F.dropout(x, 0.5))


class Named(nn.Module):
    """Outputs by name."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"score": self.out(x)}


def per_row(output: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(output.flatten(0, -2), target.flatten(), reduction="none").reshape(target.shape)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: make(net="mlp"), ["module", "str", "torch.nn.Module"]),
        (lambda: make(net=nn.Flatten()), ["no parameters"]),
        (lambda: make(loss="hinge"), ["loss", "hinge", "cross_entropy"]),
        (lambda: make(loss=3), ["loss", "int", "function"]),
        (lambda: make(loss=F.cross_entropy), ["loss", "one value per sample", "reduction='none'"]),
        (lambda: make(loss=nn.MSELoss(), data=(X, torch.randn(20, 3))), ["one value per sample", "reduction"]),
        (lambda: make(loss=lambda o, t: 3.0), ["loss", "float", "per sample"]),
        (lambda: make(net=Named(), loss="mse"), ["loss", "output dict", "give a function loss(output, target)"]),
        (lambda: make(loss=per_row, data=[(X, Y)] * 3), ["one value per sample", "whole batch", "DataLoader"]),
        (lambda: make(data=(X, torch.randn(20, 2)), loss="mse"), ["loss", "(2, 2)"]),
        (lambda: make(data=(X, Y.float())), ["targets", "torch.float32", "whole numbers"]),
        (lambda: make(data=(X, Y + 1)), ["targets", "3", "0 to 2"]),
        (lambda: make(data=(X, Y[:7])), ["data[1]", "7 rows", "20"]),
        (lambda: make(data=(HOLED, Y)), ["data[0]", "nan", "row 3", "remove"]),
        (lambda: make(data=(X * math.inf, Y)), ["data[0]", "infinity"]),
        (lambda: make(data=X), ["data", "Tensor", "(inputs, targets)"]),
        (lambda: make(data=[]), ["data", "empty"]),
        (lambda: make(data=[1, 2, 3]), ["data", "int", "pair"]),
        (lambda: make(data=[(X[0], 1), (X[0, :2], 1)]), ["data", "different shapes"]),
        (lambda: make(data=(X[:0], Y[:0])), ["data[0]", "rows"]),
        (lambda: make(data=(torch.randn(20, 9), Y)), ["module", "(2, 9)"]),
        (lambda: make(data=(X.int(), Y)), ["module", "int32"]),
        (lambda: make(parameters="blocks.*"), ["blocks.*", "matches nothing", "0.weight", "2.bias"]),
        (lambda: make(parameters=[]), ["parameters", "empty", "0.weight"]),
        (lambda: make(parameters=7), ["parameters", "int", "pattern"]),
        (lambda: make(parameters={"a": True}), ["'a'", "does not exist", "0.weight"]),
        (lambda: make(parameters={"0.weight": torch.ones(5, 4)}), ["0.weight", "float32", "boolean"]),
        (lambda: make(parameters={"0.weight": [True]}), ["0.weight", "(1,)", "(5, 4)"]),
        (lambda: make(parameters={"0.weight": torch.zeros(5, 4) > 1}), ["parameters", "False everywhere"]),
        (lambda: make(net=frozen()), ["frozen", "requires_grad", "parameters='*'"]),
        (lambda: make(net=nn.Sequential(nn.LazyLinear(3))), ["no shape", "run the module once"]),
        (lambda: make(batch_size=21), ["batch_size", "21", "20 rows"]),
        (lambda: make(batch_size=0), ["batch_size", "0"]),
        (lambda: make(chunk=0), ["chunk", "0"]),
        (lambda: make(n=2), ["n is 2", "at least 3"]),
        (lambda: make(data=(X[:2], Y[:2])), ["n is 2", "at least 3"]),
        (lambda: make(method="fast"), ["method", "fast", "vmap"]),
        (lambda: make(net=nn.Sequential(nn.Linear(4, 3), nn.Softmax(1)), method="dense"), ["dense", "auto"]),
        (lambda: estimate(make(), gradient="minibatch", batch_size=50), ["batch_size", "50", "20 samples"]),
        (lambda: make(net=Functional()), ["random", "dropout"]),
        (
            lambda: make(net=nn.Sequential(nn.BatchNorm1d(4, track_running_stats=False), nn.Linear(4, 3))),
            ["batch norm"],
        ),
        (lambda: make(net=module(dtype=torch.complex64)), ["complex"]),
    ],
)
def test_one_sentence(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_dropout_is_off_and_the_module_keeps_its_mode():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5), nn.Linear(5, 3)).train()
    problem = make(net)
    delta = moved(problem)
    assert torch.equal(problem.excess_loss_and_grad(delta)[0], problem.excess_loss_and_grad(delta)[0])
    assert net.training and not problem.module.training


def test_frozen_parameters_stay_unless_named():
    net = module()
    net[0].weight.requires_grad_(False)
    assert make(net).dim == 5 + 15 + 3 and make(net, parameters="0.weight").dim == 20


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_half_precision_is_raised(half):
    net = module().to(half)
    problem, same = make(net), make(module().to(half).float())
    delta = moved(problem)
    assert torch.equal(problem.excess_loss_and_grad(delta)[1], same.excess_loss_and_grad(delta)[1])
    assert estimate(problem, SGLD(), steps=40).diverged == 0 and net[0].weight.dtype == half


@pytest.mark.parametrize("whole", [torch.uint8, torch.int32, torch.int64])
def test_whole_numbers_as_inputs(whole):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(6, 3), nn.Flatten(), nn.Linear(12, 3))
    tokens = torch.randint(0, 6, (20, 4)).to(whole)
    if whole == torch.uint8:
        with pytest.raises(ValueError, match="uint8"):
            make(net, data=(tokens, Y))
        return
    problem = make(net, data=(tokens, Y))
    delta = moved(problem, 1)
    assert torch.allclose(
        problem.excess_loss_and_grad(delta)[1], gradient_by_difference(problem, delta, None), atol=1e-8
    )


def test_w0_that_is_no_minimum_runs_and_says_so():
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    x = torch.randn(500, 4)
    problem = make(net, "mse", (x, 5 + x[:, :1]))
    result = estimate(problem, steps=800, localization=1.0)
    assert result.llc < 0 and result.diverged == 0
    assert not result.converged and "minimum" in str(result.converged)


def test_module_that_overflows_at_w0():
    net = module()
    with torch.no_grad():
        net[2].bias.fill_(math.inf)
    with pytest.raises(ValueError, match="not finite") as caught:
        make(net).baseline_loss  # noqa: B018
    tells(caught.value)
