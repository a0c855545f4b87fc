"""Ways of polishing that are long: along a valley of the loss, for ever, or to another place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from llc_core import NetworkPotential, polish
from llc_core.potentials.module.losses import as_loss
from llc_core.potentials.module.meant import falls_for_ever

TOLERANCE = 0.01
"""Of `polish` itself, in units of λ̂."""
Data = tuple[nn.Linear, Tensor, Tensor]


def _polynomial(degree: int, seed: int) -> Data:
    """Powers of one input, which are nearly parallel: the valley of the loss is long, and its minimum lies far away in it."""
    torch.manual_seed(seed)
    u = torch.rand(2000) * 2 - 1
    x, module = torch.stack([u**k for k in range(degree + 1)], 1), nn.Linear(degree + 1, 1, bias=False)
    with torch.no_grad():
        module.weight.normal_(0, 0.5)
    return module, x, module(x).detach() + 0.5**0.5 * torch.randn(2000, 1)


def _squares(output: Tensor, target: Tensor) -> Tensor:
    return (output - target).square().sum(1)


@pytest.mark.parametrize("loss", ["squared_error", _squares], ids=["named", "own"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_least_squares_of_ill_conditioned_inputs_are_reached(seed: int, loss: str | Callable[..., Tensor]) -> None:
    """The way is longer than w0, as on separable classes, but it comes to rest."""
    module, x, y = _polynomial(7, seed)
    problem = NetworkPotential(module, loss, (x, y))
    found = polish(problem)
    best = torch.linalg.lstsq(x.double(), y.double()).solution
    left = problem.baseline_loss - found.fall - float((x.double() @ best - y).square().mean())
    assert found.converged and problem.n_beta * left < 5 * TOLERANCE, found
    assert "no minimum" not in found.sentence.lower()


def test_a_squared_error_that_still_falls_far_away_is_said_to_do_so_and_not_to_have_no_minimum() -> None:
    """A step that tanh makes ever better as its weight grows: w0 goes on as long as there are passes."""
    x = torch.linspace(-1, 1, 400).unsqueeze(1)
    module = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Tanh())
    nn.init.ones_(module[0].weight)
    problem = NetworkPotential(module, "squared_error", (x, x.sign()))
    found = polish(problem, passes=20)
    assert found.distance > 1 and found.fall > 0 and "separable" not in found.sentence
    own = polish(NetworkPotential(module, _squares, (x, x.sign())))
    assert own.distance == 0 and own.sentence.startswith("No minimum was found")
    assert "If it falls for ever, as a cross entropy of separable classes does, add weight decay" in own.sentence


@pytest.mark.parametrize(
    ("loss", "known"),
    [
        ("cross_entropy", True),
        (nn.CrossEntropyLoss(reduction="none"), True),
        ("mse", False),
        (nn.functional.mse_loss, False),
        (_squares, None),
    ],
)
def test_the_form_of_a_loss_says_whether_it_may_fall_for_ever(loss: object, known: bool | None) -> None:
    assert falls_for_ever(as_loss(loss)) is known


def test_a_way_that_is_long_is_named_though_the_loss_hardly_falls() -> None:
    """Noise explains the fall; the place is another one all the same."""
    long, short = _polynomial(7, 1), _polynomial(1, 0)
    found, near = (polish(NetworkPotential(module, "squared_error", (x, y))) for module, x, y in (long, short))
    assert found.relative > 1 and "another network" not in found.sentence
    assert "λ̂ speaks of the place so far away, not of the one that was given" in found.sentence
    assert near.relative < 1 and "speaks of the place" not in near.sentence
    x = torch.linspace(-2, 2, 500).unsqueeze(1)
    module = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Tanh(), nn.Linear(1, 1, bias=False))
    for weight in module.parameters():
        nn.init.zeros_(weight)  # which have no length
    out = polish(NetworkPotential(module, "squared_error", (x, 1.2 * torch.tanh(0.9 * x))))
    assert out.distance > 1.4 and "it is another network" in out.sentence and "nearly as low" not in out.sentence
