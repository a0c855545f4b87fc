"""Directions that a network's form makes flat: the loss stays, far from w0 as well, and in random directions it does not."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from llc_core import NetworkPotential
from llc_core.networks import build_model, head_masks, synthetic_text
from llc_core.networks.rescaling import beside, displacement, rescalings

FACTORS = (0.25, 0.8, 3.0)
EPS = torch.finfo(torch.float64).eps


def dense(parameters=None) -> tuple[nn.Module, NetworkPotential]:
    model = build_model({"kind": "mlp", "widths": [5, 4, 3, 2]}, 1)
    random = torch.Generator().manual_seed(2)
    rows = torch.randn(40, 5, generator=random), torch.randint(2, (40,), generator=random)
    return model, NetworkPotential(model, "cross_entropy", rows, parameters=parameters)


def attention(parameters=None) -> tuple[nn.Module, NetworkPotential]:
    model = build_model({"kind": "transformer", "vocabulary": 5, "length": 6, "dim": 8, "layers": 2, "heads": 2}, 1)
    data = synthetic_text(sequences=20, length=6, vocabulary=5)
    return model, NetworkPotential(model, "cross_entropy", data.pair, parameters=parameters)


@pytest.mark.parametrize(("make", "count"), [(dense, 4 + 3), (attention, 2 * 2)])
def test_the_loss_stays_along_each_and_rises_beside_it(make, count):
    model, problem = make()
    found = rescalings(model)
    assert len(found) == count
    for rescaling in found:
        for factor in FACTORS:
            delta = displacement(problem, model.state_dict(), rescaling, factor)
            seen = beside(problem, delta)
            assert seen.length == pytest.approx(float(delta.norm())) and seen.length > 0
            # What rounding makes of as many products as the network has parameters.
            assert abs(seen.along) <= EPS * problem.dim
            assert seen.across_se > 0 and abs(seen.across) > 1e3 * abs(seen.along)
        assert rescaling.strength(model.state_dict()) > 0


def test_parts_that_are_held_are_not_rescaled():
    model, problem = dense("2.*")
    assert not any(each.moves_in(problem) for each in rescalings(model))
    with pytest.raises(ValueError, match="unit 1 behind layer 0 cannot be rescaled, since a part of it is kept still"):
        displacement(problem, model.state_dict(), rescalings(model)[0], 2.0)
    for factor in (0.0, -1.0, math.inf):
        with pytest.raises(ValueError, match="must be a positive number"):
            displacement(dense()[1], model.state_dict(), rescalings(model)[0], factor)


def test_a_head_that_moves_alone_has_one():
    model = attention()[0]
    _, problem = attention(head_masks(model, 1, 0))
    moving = [each for each in rescalings(model) if each.moves_in(problem)]
    assert [each.name for each in moving] == ["the query of head 1 in blocks.1.attention"]
    delta = displacement(problem, model.state_dict(), moving[0], 2.0)
    assert delta.shape == (problem.dim,) and abs(beside(problem, delta).along) <= EPS * problem.dim


def test_of_other_networks_none_is_known():
    assert rescalings(nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))) == []
    assert rescalings(build_model("small_cnn")) == []
