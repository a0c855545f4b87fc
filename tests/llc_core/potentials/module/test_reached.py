"""What a module or a loss does with its weights: changed in place, stored, or not read at all."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from llc_core import NetworkPotential

torch.manual_seed(3)
X, Y = torch.randn(20, 4), torch.randint(0, 3, (20,))


class Net(nn.Module):
    """Two layers, which other cases here change."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(4, 5), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.tanh(self.a(x)))


class Clamped(Net):
    def forward(self, x: Tensor) -> Tensor:
        self.b.weight.data.clamp_(min=0)
        return super().forward(x)


def make(net: nn.Module, loss: object = "cross_entropy", **more: object) -> NetworkPotential:
    return NetworkPotential(net, loss, (X, Y), **more)


def losses(net: nn.Module, problem: NetworkPotential, delta: Tensor) -> Tensor:
    """Mean loss of the module at w0 + δ [D]."""
    named = dict(net.named_parameters())
    with torch.no_grad():
        for piece in problem.pieces:
            named[piece.name].view(-1).add_(delta[piece.start : piece.stop])
        return F.cross_entropy(net(X), Y)


def test_a_forward_that_writes_to_its_weights_leaves_w0():
    net = Clamped()
    before = net.b.weight.detach().clone()
    problem = make(net)
    assert float(before.min()) < 0 and torch.equal(problem._numbers["b.weight"], before)


def test_a_clamped_layer_is_no_plain_stack():
    for low in (None, 0.0):
        net = Clamped()
        with torch.no_grad():
            if low is not None:  # so far from 0 that small steps stay above it
                net.b.weight.abs_().add_(3)
        problem = make(net)
        assert problem.method != "dense"
        delta = -4 * torch.rand(problem.dim)
        change = problem.excess_loss(delta[None])[0] + problem.baseline_loss
        assert torch.allclose(change, losses(net, problem, delta), rtol=1e-4)
