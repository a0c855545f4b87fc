"""L-BFGS finds minima that are known, past kinks and places without a value."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from llc_core.compute.descent import Descent

START = torch.tensor([-1.2, 1.0], dtype=torch.float64)


def _with_gradient(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], tuple[float, Tensor]]:
    def evaluate(at: Tensor) -> tuple[float, Tensor]:
        leaf = at.clone().requires_grad_()
        loss = function(leaf)
        return float(loss.detach()), torch.autograd.grad(loss, leaf)[0]

    return evaluate


def _down(function: Callable[[Tensor], Tensor], start: Tensor, most: int) -> Descent:
    search = Descent(_with_gradient(function), start, 0.01)
    for _ in range(most):
        if not search.step():
            break
    return search


def test_rosenbrocks_valley() -> None:
    search = _down(lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, START, 100)
    assert float((search.here.at - 1).norm()) < 1e-6 and search.here.loss < 1e-12


@pytest.mark.parametrize("seed", [0, 1])
def test_a_steep_quadratic_and_what_is_still_to_gain(seed: int) -> None:
    stream = torch.Generator().manual_seed(seed)
    curvature = torch.logspace(0, 4, 12, dtype=torch.float64)
    start = torch.randn(12, generator=stream, dtype=torch.float64)
    search = Descent(_with_gradient(lambda x: (curvature * x.square()).sum() / 2), start, 0.01)
    assert math.isinf(search.gain)  # nothing is known of the curvature
    for _ in range(12):
        search.step()
    assert 0 < search.gain < 3 * search.here.loss  # of what is left, as far as is known from these steps
    for _ in range(300):
        if not search.step():
            break
    assert search.here.loss < 1e-9 and search.gain < 1e-9


def test_every_step_goes_down_and_none_is_taken_where_nothing_is_lower() -> None:
    search = Descent(_with_gradient(lambda x: x.square().sum() ** 2), START, 0.01)
    levels = [search.here.loss]
    while len(levels) < 12 and search.step():
        levels.append(search.here.loss)
    assert all(b < a for a, b in zip(levels, levels[1:], strict=False))
    rest = Descent(_with_gradient(lambda x: x.square().sum()), torch.zeros(2, dtype=torch.float64), 0.01)
    assert not rest.step() and rest.gain == 0


def test_a_kink_and_a_place_without_a_value() -> None:
    kinked = _down(lambda x: x[0].abs() + 10 * (x[1] - 0.5).square(), START, 60)
    assert kinked.here.loss < 1e-6
    # −log x + x has its minimum at 1 and is nan below 0, where the first long step leads.
    barrier = _down(lambda x: (x - x.log()).sum(), torch.tensor([1e-3], dtype=torch.float64), 60)
    assert abs(float(barrier.here.at) - 1) < 1e-6
