"""The descent to a minimum: exact on quadratics, several rows at once, and honest where it does not arrive."""

from __future__ import annotations

import pytest
import torch

from llc_core.compute.descent import descend


def quadratic(condition: float, rows: int, dim: int, seed: int):
    """½(x − m)ᵀH(x − m) with its own H and m in every row, [rows, dim]."""
    stream = torch.Generator().manual_seed(seed)
    turn = torch.linalg.qr(torch.randn(rows, dim, dim, generator=stream, dtype=torch.float64))[0]
    scales = torch.logspace(0, torch.tensor(condition).log10().item(), dim, dtype=torch.float64)
    hessian = turn * scales @ turn.transpose(1, 2)
    minimum = torch.randn(rows, dim, generator=stream, dtype=torch.float64)

    def evaluate(at: torch.Tensor):
        grad = torch.einsum("rij,rj->ri", hessian, at - minimum)
        return ((at - minimum) * grad).sum(dim=1) / 2, grad

    return evaluate, minimum


@pytest.mark.parametrize("seed", [0, 1])
def test_a_quadratic_ends_where_no_more_than_was_asked_is_left(seed):
    evaluate, minimum = quadratic(1e3, rows=3, dim=12, seed=seed)
    found = descend(evaluate, torch.zeros(3, 12, dtype=torch.float64), 400, 1e-6)
    assert bool(found.settled.all()) and found.calls < 400
    # The value is what is left above the minimum, which the model underrates by its curvature's error: a factor of 100 is ample.
    assert float(found.value.max()) < 1e-4
    assert float(evaluate(found.place)[0].sub(found.value).abs().max()) == 0


def test_rows_do_not_touch_one_another():
    evaluate, _ = quadratic(1e2, rows=2, dim=5, seed=3)
    start = torch.zeros(2, 5, dtype=torch.float64)
    both = descend(evaluate, start, 60, 1e-12)
    start[1] += 7.0
    other = descend(evaluate, start, 60, 1e-12)
    assert torch.equal(both.place[0], other.place[0]), "the first row began at the same place"


def test_values_never_rise_and_few_calls_say_so():
    evaluate, _ = quadratic(1e6, rows=1, dim=30, seed=4)
    start = torch.zeros(1, 30, dtype=torch.float64)
    values = [float(descend(evaluate, start, calls, 1e-9).value) for calls in (1, 4, 8, 16, 32)]
    assert values == sorted(values, reverse=True) and values[-1] < values[0]
    assert not bool(descend(evaluate, start, 8, 1e-9).settled)


def test_a_wall_of_infinity_is_a_step_too_far():
    def evaluate(at: torch.Tensor):
        inside = at[:, 0] < 1.0
        return torch.where(inside, -torch.log1p(-at[:, 0].clamp(max=0.999999)) - 3 * at[:, 0], torch.inf), torch.stack(
            [1 / (1 - at[:, 0].clamp(max=0.999999)) - 3], dim=1
        )

    found = descend(evaluate, torch.zeros(1, 1, dtype=torch.float64), 100, 1e-10)
    assert float(found.place) == pytest.approx(2 / 3, abs=1e-4), "the minimum of −log(1 − x) − 3x"
