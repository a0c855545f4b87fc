"""The toy model of superposition: its loss by closed form, its polygons, and their λ by another way."""

from __future__ import annotations

import pytest
import torch

from llc_core import estimate
from llc_core.networks.superposition import (
    Superposition,
    _error,
    polygon,
    polygon_coefficient,
    superposition,
)

CASES = [(5, "silent"), (5, "mean"), (6, "silent")]


def simulated(module: Superposition, points: int) -> float:
    """The loss over all data by the midpoint rule, through the network itself. Off by at most a constant over points²."""
    with torch.no_grad():
        size = (torch.arange(points, dtype=torch.float64) + 0.5) / points
        losses = []
        for row in torch.eye(len(module.bias), dtype=torch.float64):
            x = size[:, None] * row
            out = torch.relu(x @ module.weight.T @ module.weight + module.bias)
            losses.append((x - out).square().sum(dim=1).mean())
        return float(torch.stack(losses).mean())


def whole_loss(flat: torch.Tensor, features: int) -> torch.Tensor:
    weight, bias = flat[: 2 * features].view(2, features), flat[2 * features :]
    overlap = weight.mT @ weight
    return _error(overlap, bias.expand_as(overlap), torch.eye(features, dtype=flat.dtype)).sum(dim=1).mean()


@pytest.mark.parametrize("seed", range(6))
def test_the_loss_is_that_of_the_network_anywhere(seed):
    random = torch.Generator().manual_seed(seed)
    weight, bias = (torch.randn(shape, generator=random, dtype=torch.float64) for shape in ((2, 6), (6,)))
    if seed == 0:
        weight[:, 2], bias[2] = 0.0, 0.3  # no slope at all
    module = Superposition(weight, bias)
    with torch.no_grad():
        loss = float(module(torch.eye(6, dtype=torch.float64)).mean())
    assert loss == pytest.approx(simulated(module, 4000), abs=1e-5)


@pytest.mark.parametrize(("sides", "loss"), [(4, 0.11111), (5, 0.06874), (6, 0.04819)])
def test_polygons_have_the_published_losses(sides, loss):
    """Chen et al. 2023, to the five digits that are printed."""
    with torch.no_grad():
        assert float(polygon(sides)(torch.eye(6, dtype=torch.float64)).mean()) == pytest.approx(loss, abs=5e-6)


@pytest.mark.parametrize(("sides", "left_out"), CASES)
def test_lambda_is_half_the_rank_of_the_hessian(sides, left_out):
    """A polygon is a minimum whose flat directions are those of a smooth family, so that λ is half of what is left."""
    module = polygon(sides, left_out=left_out)
    flat = torch.cat([module.weight.detach().flatten(), module.bias.detach()])
    slope = torch.func.grad(whole_loss)(flat, 6)
    values = torch.linalg.eigvalsh(torch.func.hessian(whole_loss)(flat, 6))
    assert slope.abs().max() < 1e-12
    assert values.min() > -1e-12
    assert int((values > 1e-6).sum()) == 2 * float(polygon_coefficient(sides, left_out=left_out))


@pytest.mark.slow
@pytest.mark.parametrize(("sides", "left_out"), CASES)
def test_chains_read_it(sides, left_out):
    """Within five percent and three standard errors, at nβ = 5·10⁴: what the quartic parts of the loss still add there is below that."""
    problem = superposition(sides, left_out=left_out)
    run = {"chains": 8, "steps": 4000, "n_beta": 5e4, "localization": 1.0, "seed": sides}
    found = estimate(problem, "UnderdampedLangevin", **run, progress=False)
    exact = float(polygon_coefficient(sides, left_out=left_out))
    assert found.converged
    assert abs(found.llc - exact) < 0.05 * exact + 3 * found.llc_se
    assert found.llc_se < 0.03 * exact


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: polygon(3), "sides is 3"),
        (lambda: polygon(7), "sides is 7"),
        (lambda: polygon(5, left_out="loud"), "left_out is 'loud'"),
        (lambda: polygon_coefficient(4), "sides is 4"),
    ],
)
def test_other_polygons_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
