"""What a module or a loss does with its weights: changed in place, stored, or not read at all."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

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


class Checkpointed(Net):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.reentrant = reentrant

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = checkpoint(self.b, torch.tanh(self.a(x)), use_reentrant=self.reentrant)
        return output


@pytest.mark.parametrize("reentrant", [True, False])
def test_parts_that_are_called_again_in_the_backward_pass_have_their_weights(reentrant):
    problem = make(Checkpointed(reentrant), method="loop")
    plain, delta = make(Net(), method="vmap"), 0.3 * torch.randn(2, problem.dim)
    for found, wanted in zip(problem.excess_loss_and_grad(delta), plain.excess_loss_and_grad(delta), strict=True):
        assert torch.allclose(found, wanted, atol=1e-6)


class Merging(Net):
    """An adapter that eval() adds to the weights, as loralib's."""

    def __init__(self) -> None:
        super().__init__()
        self.requires_grad_(False)
        self.left, self.right = nn.Parameter(torch.randn(5, 2)), nn.Parameter(torch.randn(2, 4))
        self.merged = False

    def train(self, mode: bool = True) -> Merging:
        super().train(mode)
        if mode == self.merged:
            self.a.weight.data += (-1 if mode else 1) * (self.left @ self.right)
            self.merged = not mode
        return self

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        weight = self.a.weight if self.merged else self.a.weight + self.left @ self.right
        logits = self.b(torch.tanh(F.linear(x, weight, self.a.bias)))
        return {"logits": logits} if labels is None else {"logits": logits, "loss": F.cross_entropy(logits, labels)}


def test_adapters_that_eval_would_merge_move_and_the_module_is_left_as_it_was():
    net = Merging()
    before = net.a.weight.clone()
    problem = NetworkPotential(net, data={"x": X, "labels": Y})
    assert net.training and not net.merged and torch.equal(net.a.weight, before)
    wanted = F.cross_entropy(net(X)["logits"], Y)
    assert problem.dim == 18 and abs(problem.baseline_loss - float(wanted.detach())) < 1e-6
    wanted.backward()
    grad = problem.excess_loss_and_grad(torch.zeros(1, 18))[1][0]
    assert torch.allclose(grad, torch.cat([net.left.grad.flatten(), net.right.grad.flatten()]), atol=1e-6)
    with pytest.raises(ValueError, match="stored before"):
        NetworkPotential(net.eval(), "cross_entropy", (X, Y))


class Silenced(Net):
    """eval() that does more than to set a flag, but computes nothing."""

    noise = 1.0

    def train(self, mode: bool = True) -> Silenced:
        self.noise = float(mode)
        super().train(mode)
        return self

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x + self.noise * torch.randn_like(x))


def test_an_eval_of_the_modules_own_is_called():
    assert make(Silenced()).module.noise == 0


class Padded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.embed, self.layers, self.out = nn.Embedding(5, 8), nn.TransformerEncoder(layer, 2), nn.Linear(8, 3)

    def forward(self, tokens: Tensor, padding: Tensor) -> Tensor:
        later = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
        return self.out(self.layers(self.embed(tokens), mask=later, src_key_padding_mask=padding)[:, -1])


@pytest.mark.parametrize("method", ["loop", "vmap"])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors", "ignore:enable_nested_tensor")
def test_attention_has_no_shortcut_whose_masked_rows_are_nan(method):
    tokens, padding = torch.randint(0, 5, (20, 6)), torch.arange(6) < torch.randint(0, 4, (20, 1))
    net = Padded()
    wanted = F.cross_entropy(net.eval()(tokens, padding), Y)
    problem = NetworkPotential(net, "cross_entropy", (tokens, padding, Y), method=method)
    assert abs(problem.baseline_loss - float(wanted.detach())) < 1e-5
    wanted.backward()
    grad = problem.excess_loss_and_grad(torch.zeros(1, problem.dim))[1][0]
    exact = torch.cat([w.grad.flatten() for w in net.parameters()])
    assert torch.allclose(grad, exact, atol=1e-5)
