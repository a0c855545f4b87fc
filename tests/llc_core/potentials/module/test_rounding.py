"""What single precision shifts the loss of a network by: as much as double precision says, and the verdict refuses what it spoils."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from llc_core import NetworkPotential, estimate, polish
from llc_core.potentials.module.rounding import rounding_of
from llc_core.verdicts import Kind


def own(output: Tensor, target: Tensor) -> Tensor:
    """No loss that is known by name, so that no exact answer stands beside."""
    return (output - target).square().sum(1)


def linear(size: float, rows: int = 1000, seed: int = 2) -> NetworkPotential:
    torch.manual_seed(seed)
    x, layer = torch.randn(rows, 6), nn.Linear(6, 1)
    y = 2 * size + size * layer(x) + size * torch.randn(rows, 1)
    return NetworkPotential(layer, own, (x, y.detach()))


def test_on_all_rows_it_is_the_difference_of_both_precisions():
    potential = linear(1000.0)
    delta = torch.randn(3, potential.dim, generator=torch.Generator().manual_seed(0))
    exact = potential.excess_loss_and_grad(delta.double())[0]
    plain = potential.excess_loss_and_grad(delta)[0].double()
    found = potential.rounding(delta)
    summed = 1000 * torch.finfo(torch.float32).eps * exact.abs()  # what adding 1,000 rows up may round besides
    assert ((found - (plain - exact).abs()).abs() <= summed).all() and (found > 0).all()
    assert float(found.mean()) > 100 * float(linear(1.0).rounding(delta).mean())


def test_some_rows_speak_for_all_of_them():
    """Errors of rows that are independent: their mean over 1,000 rows is within four of its standard deviations, on any processor."""
    potential = linear(1000.0, 4000)
    delta = torch.randn(4, potential.dim, generator=torch.Generator().manual_seed(0))
    found = rounding_of(potential, delta, 1000)
    plain, exact = (potential.per_sample_loss(at, 0, 4000) for at in (delta, delta.double()))
    home, at_home = (potential.per_sample_loss(torch.zeros_like(at[:1]), 0, 4000) for at in (delta, delta.double()))
    spread = ((plain - home).double() - (exact - at_home)).std(1) / 4000**0.5
    assert (found > 0.7 * spread).all() and (found < (1 + 4 * (4**2 - 1)) ** 0.5 * 1.3 * spread).all()


def test_chains_that_are_not_looked_at_have_the_mean():
    potential = linear(1000.0)
    delta = torch.randn(6, potential.dim, generator=torch.Generator().manual_seed(0))
    found = potential.rounding(delta)
    torch.testing.assert_close(found[1], found[[0, 2, 4]].mean())


class SingleAlone(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) @ torch.ones(1, 1, dtype=torch.float32)


def test_where_it_is_not_known():
    potential = linear(1.0)
    assert potential.rounding(torch.zeros(2, potential.dim, dtype=torch.float64)) is None
    torch.manual_seed(0)
    alone = NetworkPotential(SingleAlone(6, 1), own, (torch.randn(20, 6), torch.randn(20, 1)))
    assert alone.rounding(torch.zeros(2, alone.dim)) is None
    assert estimate(alone, steps=20, progress=False).evidence.rounding == 0


@pytest.mark.parametrize("dtype, refused", [(None, True), ("float64", False)])
def test_targets_of_a_thousand_are_refused_in_single_precision(dtype, refused):
    """Exact: 3.488. Single precision gives 4.19 ± .05, whose mean and variance agree."""
    found = estimate(polish(linear(1000.0)).problem, steps=1000, seed=2, progress=False, dtype=dtype)
    assert (found.converged.kind is Kind.ROUNDING) == refused
