"""Modules and losses that go into an autocast of their own: λ̂ is that of full precision, and a warning says so with numbers."""

from __future__ import annotations

import warnings

import pytest
import torch
from sentences import tells
from small_networks import moved
from torch import Tensor, nn
from torch.nn import functional as F

from llc_core import NetworkPotential, estimate

ROWS = 40
torch.manual_seed(0)
X, Y = torch.randn(ROWS, 6), torch.randint(0, 3, (ROWS,))


class Net(nn.Module):
    """cast: whether it computes under autocast. The product of two outputs is no stack of layers, which would be known."""

    def __init__(self, cast: bool) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.a, self.b, self.cast = nn.Linear(6, 8), nn.Linear(8, 3), cast

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.cast):
            h = self.a(x)
            return self.b(h.tanh() * h)


def cast_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return F.cross_entropy(model(batch[0]), batch[1], reduction="none")


def plain_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1], reduction="none")


def cast_output(output: Tensor, target: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return F.cross_entropy(output @ torch.eye(3, dtype=output.dtype), target, reduction="none")


def plain_output(output: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(output, target, reduction="none")


WAYS = {
    "the module": ({"module": Net(True), "loss": "cross_entropy"}, {"module": Net(False), "loss": "cross_entropy"}),
    "a loss_fn": ({"module": Net(False), "loss_fn": cast_loss}, {"module": Net(False), "loss_fn": plain_loss}),
    "a loss": ({"module": Net(False), "loss": cast_output}, {"module": Net(False), "loss": plain_output}),
}


def pair(way: str, method: str) -> tuple[NetworkPotential, NetworkPotential]:
    with pytest.warns(UserWarning, match="autocast"):
        cast = NetworkPotential(**WAYS[way][0], data=(X, Y), method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return cast, NetworkPotential(**WAYS[way][1], data=(X, Y), method=method)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["vmap", "loop"])
def test_losses_and_gradients_are_those_of_full_precision(way, method):
    cast, plain = pair(way, method)
    delta = moved(plain, 3, size=1e-3).float()
    (loss, grad), (same, slope) = cast.excess_loss_and_grad(delta), plain.excess_loss_and_grad(delta)
    assert float(same.abs().min()) > 1e-6
    assert torch.allclose(loss, same, rtol=1e-5, atol=1e-8) and torch.allclose(grad, slope, rtol=1e-5, atol=1e-7)
    assert cast.baseline_loss == pytest.approx(plain.baseline_loss, rel=1e-6)


def test_under_autocast_the_same_step_would_be_lost():
    """What the warning is about: half of it, or all, is rounding."""
    model, step = Net(True), moved(NetworkPotential(Net(False), "cross_entropy", (X, Y)), 1, size=1e-4)[0].float()
    found = []
    for cast in (True, False):
        model = Net(cast)
        with torch.no_grad():
            before = F.cross_entropy(model(X).float(), Y)
            nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(model.parameters()) + step, model.parameters())
            found.append(float(F.cross_entropy(model(X).float(), Y) - before))
    assert abs(found[0] - found[1]) > 0.5 * abs(found[1]) > 0


def test_the_sentence_has_both_numbers():
    with pytest.warns(UserWarning, match="autocast") as caught:
        NetworkPotential(Net(True), "cross_entropy", (X, Y))
    (said,) = [str(w.message) for w in caught]
    tells(ValueError(said))
    assert "bfloat16" in said and "there, and by" in said and "8 rows" in said


def test_estimates_and_predictions_are_the_same():
    cast, plain = pair("the module", "auto")
    runs = [
        estimate(each, "SGLD", gradient="full", chains=2, steps=50, step_size=1e-4, seed=1) for each in (cast, plain)
    ]
    assert runs[0].llc == pytest.approx(runs[1].llc, rel=1e-5)
    delta = moved(plain, 2).float()
    assert torch.equal(cast.predict(delta, X), plain.predict(delta, X))


def test_the_autocast_of_the_caller_and_its_state_are_left_alone():
    cast, _ = pair("the module", "loop")
    with torch.autocast("cpu", torch.bfloat16):
        cast.excess_loss_and_grad(moved(cast, 1).float())
        assert torch.is_autocast_enabled("cpu") and torch.mm(X, X.T).dtype == torch.bfloat16
    assert not torch.is_autocast_enabled("cpu") and torch.mm(X, X.T).dtype == torch.float32


def test_an_autocast_that_is_off_is_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NetworkPotential(Net(False), "cross_entropy", (X, Y))
