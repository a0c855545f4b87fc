"""The toy model of superposition: its loss by closed form, its polygons, and their λ by another way."""

from __future__ import annotations

import math

import pytest
import torch
from cases import few

from llc_core import estimate
from llc_core.potentials.polygons import (
    MOST,
    MOST_FEATURES,
    Superposition,
    _error,
    even_samples,
    polygon,
    polygon_coefficient,
)

CASES = [
    (5, 6, "silent"),
    (5, 6, "mean"),
    (6, 6, "silent"),
    (9, 9, "silent"),
    (9, MOST_FEATURES, "mean"),
    (8, 11, "silent"),
]


def simulated(weight: torch.Tensor, bias: torch.Tensor, points: int) -> float:
    """The loss over all data by the midpoint rule, through the network itself. Off by at most a constant over points²."""
    size = (torch.arange(points, dtype=torch.float64) + 0.5) / points
    losses = []
    for row in torch.eye(len(bias), dtype=torch.float64):
        x = size[:, None] * row
        out = torch.relu(x @ weight.T @ weight + bias)
        losses.append((x - out).square().sum(dim=1).mean())
    return float(torch.stack(losses).mean())


def whole_loss(flat: torch.Tensor, features: int) -> torch.Tensor:
    weight, bias = flat[: 2 * features].view(2, features), flat[2 * features :]
    overlap = weight.mT @ weight
    return _error(overlap, bias.expand_as(overlap), torch.eye(features, dtype=flat.dtype)).sum(dim=1).mean()


@pytest.mark.parametrize("seed", range(6))
def test_the_loss_is_that_of_the_network_anywhere(seed):
    random = torch.Generator().manual_seed(seed)
    problem = Superposition(5, 6, "mean" if seed % 2 else "silent")
    weight, bias = (torch.randn(shape, generator=random, dtype=torch.float64) for shape in ((2, 6), (6,)))
    if seed == 0:
        weight[:, 2], bias[2] = 0.0, 0.3  # no slope at all
    delta = torch.cat([weight.flatten(), bias]) - problem.w0
    loss = problem.baseline_loss + float(problem.excess_loss_and_grad(delta[None])[0])
    assert loss == pytest.approx(simulated(weight, bias, 4000), abs=1e-5)


@pytest.mark.parametrize(("sides", "loss"), [(4, 0.11111), (5, 0.06874), (6, 0.04819)])
def test_polygons_have_the_published_losses(sides, loss):
    """Chen et al. 2023, to the five digits that are printed."""
    flat = torch.cat([part.flatten() for part in polygon(sides)])
    assert float(whole_loss(flat, 6)) == pytest.approx(loss, abs=5e-6)


@pytest.mark.parametrize(("sides", "features", "left_out"), CASES)
def test_lambda_is_half_the_rank_of_the_hessian(sides, features, left_out):
    """A polygon is a minimum whose flat directions are those of a smooth family, so that λ is half of what is left."""
    flat = Superposition(sides, features, left_out).w0
    slope = torch.func.grad(whole_loss)(flat, features)
    values = torch.linalg.eigvalsh(torch.func.hessian(whole_loss)(flat, features))
    assert slope.abs().max() < 1e-12
    assert values.min() > -1e-12
    assert int((values > 1e-6).sum()) == 2 * float(polygon_coefficient(sides, features, left_out))


def test_ten_corners_are_a_saddle_and_are_refused():
    flat = torch.cat([part.flatten() for part in polygon(MOST + 1, MOST + 1)])
    assert float(torch.linalg.eigvalsh(torch.func.hessian(whole_loss)(flat, MOST + 1)).min()) < -1e-4
    with pytest.raises(ValueError, match="sides is 10"):
        polygon_coefficient(MOST + 1, MOST + 1)


def test_from_how_many_samples_on_the_hexagon_is_preferred():
    """Where both lines of n·L + λ·log n cross, asked of the two of six features, whose λ is 7 and 8.5."""
    five, six = Superposition(5), Superposition(6)
    n = even_samples(five, six)
    assert n is not None and n == even_samples(six, five)
    assert n * (five.baseline_loss - six.baseline_loss) == pytest.approx(1.5 * math.log(n), rel=1e-9)
    assert even_samples(six, six) is None


@pytest.mark.slow
@pytest.mark.parametrize(("sides", "features", "left_out"), few(CASES[:4], 2, unpack=True))
def test_chains_read_it(sides, features, left_out):
    """Within one percent and three standard errors of what the quadratic part gives at the potential's own γ, which keeps silent
    features silent; and that is within six percent of λ."""
    problem = Superposition(sides, features, left_out)
    expected = problem.expected_llc()
    assert expected is not None and abs(expected - float(problem.local_learning_coefficient)) < 0.06 * expected
    found = estimate(problem, "UnderdampedLangevin", chains=8, steps=4000, seed=sides, progress=False)
    assert found.config.localization == problem.localization == 100
    assert abs(found.llc - expected) < 0.01 * expected + 3 * found.llc_se
    assert found.llc_se < 0.03 * expected
