"""A potential with another w0: the same loss on the same data, and only true things about exact answers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from llc_core import BayesianNetwork, DeepLinearNetwork, NetworkPotential, Potential
from llc_core.compute.streams import torch_stream
from llc_core.potentials import build
from llc_core.potentials.deep_linear import data as linear_data

EXACT = {"dtype": torch.float64}


def _network(seed: int, parameters: Any = None) -> NetworkPotential:
    torch.manual_seed(seed)
    module = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    return NetworkPotential(module, "squared_error", (torch.randn(40, 4), torch.randn(40, 2)), parameters=parameters)


def _deep_linear(seed: int) -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=[4, 3, 5], n=500, seed=seed)


CASES = {
    "module": _network,
    "some layers": lambda seed: _network(seed, "2.*"),
    "masked": lambda seed: _network(seed, {"0.weight": torch.arange(20).view(5, 4) % 3 == 0}),
    "deep linear": _deep_linear,
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_losses_are_those_of_the_same_data_seen_from_there(case: str, seed: int) -> None:
    problem = CASES[case](seed)
    stream = torch.Generator().manual_seed(seed)
    shift, more = (0.1 * torch.randn(problem.dim, generator=stream, **EXACT) for _ in range(2))
    other = problem.moved(shift)
    (near, far), grads = problem.excess_loss_and_grad(torch.stack([shift, shift + more]))
    loss, grad = other.excess_loss_and_grad(more.unsqueeze(0))
    assert torch.allclose(loss[0], far - near, rtol=1e-9, atol=1e-12)
    assert torch.allclose(grad[0], grads[1], rtol=1e-9, atol=1e-12)
    assert other.baseline_loss == pytest.approx(problem.baseline_loss + float(near), rel=1e-5)  # float32 rows
    like = torch.empty(0, **EXACT)
    start, there = problem.origin(like), other.origin(like)
    assert start is not None and there is not None and torch.allclose(there, start + shift)
    assert other.to_dict() != problem.to_dict()
    rows = other.per_sample_loss(more.unsqueeze(0), 0, problem.samples).mean()
    assert float(rows) == pytest.approx(problem.baseline_loss + float(far), rel=1e-5)


def test_data_are_not_copied_and_frozen_parts_stay() -> None:
    problem = _network(0, "2.*")
    other = problem.moved(torch.ones(problem.dim, **EXACT))
    assert other.data is problem.data
    for name in ("0.weight", "0.bias"):
        assert torch.equal(other._numbers[name], problem._numbers[name])
    again = _network(0, "2.*")
    assert problem.to_dict() == again.to_dict()  # and the first one is as it was


@pytest.mark.parametrize("pool", [None, 1200])
def test_minibatches_of_linear_data_are_those_of_the_new_w0(pool: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """pool: numbers in memory, fewer than n rows have; the noise of these rows is then shifted already."""
    if pool is not None:
        monkeypatch.setattr(linear_data, "POOL_NUMBERS", pool)
    problem = _deep_linear(2)
    assert (problem.data.rows < problem.n) == (pool is not None)
    shift = 0.1 * torch.randn(problem.dim, generator=torch.Generator().manual_seed(2), **EXACT)
    other = problem.moved(shift)
    zero = torch.zeros(1, problem.dim, **EXACT)
    batch = other.draw(torch_stream(0, "x"), 1, other.data.rows, "minibatch", torch.float64)  # all rows
    loss, grad = other.excess_loss_and_grad(zero + 0.01, batch)
    exact, slope = other.excess_loss_and_grad(zero + 0.01)
    assert torch.allclose(loss, exact, rtol=1e-4)
    assert torch.allclose(grad, slope, rtol=1e-3, atol=1e-3 * float(slope.abs().max()))


def test_what_a_moved_linear_network_says_of_its_answers() -> None:
    """Both coefficients are of the true parameter; the expected value is of these data, with the new baseline, or not known."""
    full, low = _deep_linear(0), DeepLinearNetwork.random(widths=[5, 5, 5], layer_ranks=[2, 3], n=500)
    for problem in (full, low):
        shift = 0.01 * torch.randn(problem.dim, generator=torch.Generator().manual_seed(0), **EXACT)
        other = problem.moved(shift)
        assert other.rank_table == problem.rank_table
        assert other.learning_coefficient == problem.learning_coefficient
        assert other.local_learning_coefficient == problem.local_learning_coefficient
        assert "true parameter from which w0 was moved" in other.local_learning_coefficient.note
    fall = -float(full.excess_loss_and_grad(shift_of(full)[None])[0])
    before, after = full.expected_llc_of_data(100.0), full.moved(shift_of(full)).expected_llc(100.0)
    assert before is not None and after == pytest.approx(before + 100 * fall, rel=1e-9)
    assert low.moved(shift_of(low)).expected_llc() is None
    assert low.moved(shift_of(low)).expected_llc_at(100.0, 1.0) is None
    back = full.moved(shift_of(full)).moved(-shift_of(full))
    assert back.expected_llc(100.0) == pytest.approx(before, rel=1e-9)


def shift_of(problem: Potential) -> torch.Tensor:
    return 0.01 * torch.randn(problem.dim, generator=torch.Generator().manual_seed(0), **EXACT)


@pytest.mark.parametrize(
    "problem",
    [
        build({"kind": "planar", "name": "normal_crossing"}),
        build({"kind": "landscape", "name": "double_well"}),
        BayesianNetwork((1, 3, 1)),
    ],
    ids=lambda problem: problem.kind,
)
def test_others_say_that_their_w0_is_given(problem: Potential) -> None:
    with pytest.raises(ValueError, match="cannot be moved"):
        problem.moved(torch.zeros(problem.dim, **EXACT))


def test_rows_that_are_made_anew_know_one_w0() -> None:
    problem = DeepLinearNetwork.random(widths=[4, 3, 5], n=500, virtual=True)
    with pytest.raises(ValueError, match="use virtual=False"):
        problem.moved(torch.zeros(problem.dim, **EXACT))
