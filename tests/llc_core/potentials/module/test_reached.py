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


class Stored(Net):
    """Keeps what it makes of a weight from its first call on.  all_of_it: whether nothing else moves."""

    def __init__(self, all_of_it: bool) -> None:
        super().__init__()
        self.kernel: Tensor | None = None
        if all_of_it:
            self.b.requires_grad_(False)
            self.a.bias.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        if self.kernel is None:
            self.kernel = 2 * self.a.weight
        return self.b(torch.tanh(F.linear(x, self.kernel, self.a.bias)))


class Listed(Net):
    """Functions of itself, which a copy keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = [lambda x: self.a(x), lambda x: self.b(torch.tanh(x))]

    def forward(self, x: Tensor) -> Tensor:
        for step in self.steps:
            x = step(x)
        return x


class Expert(Net):
    """One layer for all rows, and another one for few."""

    def forward(self, x: Tensor) -> Tensor:
        few = x[:, 0] > 5
        return torch.cat([self.b(torch.tanh(self.a(x[few]))), x[~few, :3]]) if bool(few.any()) else x[:, :3]


def test_a_loss_that_uses_another_module_is_refused():
    net = Net()
    with pytest.raises(ValueError, match=r"does not depend .*a.weight, a.bias, b.weight and 1 more.*passed in"):
        NetworkPotential(net, data=(X, Y), loss_fn=lambda m, b: F.cross_entropy(net(b[0]), b[1]))
    with pytest.raises(ValueError, match="does not depend"):
        make(Listed())
    with pytest.raises(ValueError, match="does not depend"):
        make(net, parameters="a.*", loss=lambda o, t: o.detach().logsumexp(1))
    assert all(w.grad is None for w in net.parameters())


@pytest.mark.parametrize("all_of_it", [True, False])
def test_weights_that_are_stored_in_the_first_call_are_refused(all_of_it):
    with pytest.raises(ValueError, match=r"stores what it makes of a\.weight in its first call"):
        make(Stored(all_of_it))


def test_a_loss_that_uses_the_module_itself_too_is_told():
    net = Net()

    def decayed(output: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(output, target, reduction="none") + net.a.weight.square().sum()

    with pytest.warns(UserWarning, match=r"also depends on a\.weight of the module that was given"):
        make(net, decayed)


class Aside(Net):
    def __init__(self) -> None:
        super().__init__()
        self.aux = nn.Linear(2, 2)


def test_parameters_outside_of_a_stack():
    with pytest.raises(ValueError, match=r"does not depend .*aux\.weight, aux\.bias\)"):
        make(Aside(), parameters="aux.*")
    assert make(Aside()).method == "dense"


def test_experts_that_the_first_rows_do_not_ask_are_no_fault():
    rows = X.clone()
    rows[NetworkPotential(Net(), "cross_entropy", (X, Y)).data.order[-1], 0] = 9
    assert NetworkPotential(Expert(), "cross_entropy", (rows, Y), method="loop").dim == 43
