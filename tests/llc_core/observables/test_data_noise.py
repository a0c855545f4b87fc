"""The error of λ̂ over data sets: against derivatives by quadrature at a singular point, and 0 on a quadratic."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from llc_core import NetworkPotential, estimate, polish
from llc_core.observables.law_bias import SLICES, SampleLosses, _slices, data_noise

SIZE, N_BETA = 40, 20.0
LOOKS, CHAINS = 3000, 8
GRID = np.linspace(-6, 6, 40_001)
OUTPUTS = {"w": GRID, "w²": GRID**2}


def law(output: np.ndarray, y: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of ℓ_i = (y_i − f(w))², with w0 at the minimum of the loss as it is: probabilities [W], ΔL [W], and Δℓ_i [W, n]."""
    lowest = np.argmin(((y[:, None] - output) ** 2).mean(axis=0))
    each = (y[:, None] - output).T ** 2
    each = each - each[lowest]
    loss = each @ counts / len(y)
    weight = np.exp(-N_BETA * loss - GRID**2 / 2 * 1e-3)
    return weight / weight.sum(), loss, each


@pytest.mark.parametrize("name", OUTPUTS)
def test_it_is_the_sum_of_squared_derivatives(name):
    output, y = OUTPUTS[name], np.random.default_rng(1).normal(0.1, 1.0, SIZE)

    def llc(counts: np.ndarray) -> float:
        chance, loss, _ = law(output, y, counts)
        return N_BETA * float(chance @ loss)

    ones, h = np.ones(SIZE), 1e-4
    influence = np.array([(llc(ones + h * unit) - llc(ones - h * unit)) / (2 * h) for unit in np.eye(SIZE)])
    known = float(((influence - influence.mean()) ** 2).sum())

    chance, loss, each = law(output, y, ones)
    draws = np.random.default_rng(2).choice(len(GRID), (LOOKS, CHAINS), p=chance)
    found = data_noise(each[draws], N_BETA * loss[draws], N_BETA, SIZE)
    assert abs(found.square - known) < 4 * found.square_se
    if name == "w":  # λ̂ = ½ whatever the data, but for the pull of 1e-3
        assert known < 1e-4
        parts = [
            data_noise(each[draws[:, k : k + 1]], N_BETA * loss[draws[:, k : k + 1]], N_BETA, SIZE) for k in (0, 1)
        ]
        assert all(abs(part.square) < 4 * part.square_se for part in parts), "one chain is cut into parts"
    else:
        assert known > 10 * found.square_se, "a test that could not tell it from 0 says nothing"


def test_chance_of_the_same_part_would_show(monkeypatch):
    """The planted bug: products of a part with itself are counted, so that chance reads as noise of the data.

    Exact draws of a linear regression in 20 dimensions, with w0 at the minimum: λ̂ is 10 whatever the data.
    """
    random, dim = np.random.default_rng(2), 20
    x, y = random.normal(size=(SIZE, dim)), random.normal(size=SIZE)
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    spread = np.linalg.cholesky(np.linalg.inv(2 * N_BETA * x.T @ x / SIZE))
    draws = random.normal(size=(200, CHAINS, dim)) @ spread.T
    each = (y - (best + draws) @ x.T) ** 2 - (y - x @ best) ** 2
    loss = N_BETA * each.mean(axis=2)
    assert abs(loss.mean() - dim / 2) < 0.5
    sound = data_noise(each, loss, N_BETA, SIZE)
    monkeypatch.setattr(np, "trace", lambda product: 0.0)
    wrong = data_noise(each, loss, N_BETA, SIZE)
    assert abs(sound.square) < 4 * sound.square_se < wrong.square


def test_a_sample_of_the_samples_lies_over_all_of_them():
    assert _slices(100, 1024) == [(0, 100)]
    found = _slices(50_000, 1024)
    assert len(found) == SLICES and found[0][0] == 0 and found[-1][1] == 50_000
    assert {stop - start for start, stop in found} == {64}


def test_what_is_too_short_or_not_finite_is_not_known():
    each, loss = np.random.default_rng(0).normal(size=(2, 4, 10)), np.zeros((2, 4))
    assert math.isnan(data_noise(each, loss, 1.0, 10).square)
    each = np.full((50, 4, 10), np.inf)
    assert math.isnan(data_noise(each, np.zeros((50, 4)), 1.0, 10).square)


class Unit(nn.Module):
    """a·tanh(b·x), whose λ at 0 is ½."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.full((1,), 0.3)), nn.Parameter(torch.tensor([0.3, 0, 0]))

    def forward(self, x):
        return self.a * torch.tanh(x @ self.b).unsqueeze(1)


@pytest.mark.slow
def test_a_singular_unit_on_noisy_data_is_refused_and_a_lower_n_beta_helps():
    """A unit that is hardly seen in the noise: λ̂ at the minimum of these data is neither ½ nor known."""
    torch.manual_seed(0)
    x = torch.randn(1000, 3)
    y = math.sqrt(0.5) * torch.randn(1000, 1) + 0.06 * torch.tanh(x[:, :1])
    problem = polish(NetworkPotential(Unit(), "squared_error", (x, y))).problem
    hot = estimate(problem, steps=3000, chains=4, localization=1.0, seed=1)
    assert not hot.converged and "hangs on these data" in hot.converged.reason, hot.converged
    lower = estimate(problem, steps=3000, chains=4, localization=1.0, seed=1, **dict(hot.converged.change))
    assert lower.diagnostics["data_se"] < hot.diagnostics["data_se"] / 2
    assert abs(lower.llc - 0.5) < 3 * lower.llc_se + 2 * lower.diagnostics["data_se"]


def test_the_losses_kept_are_those_of_the_samples():
    torch.manual_seed(0)
    x, y = torch.randn(30, 2), torch.randn(30, 1)
    problem = NetworkPotential(nn.Linear(2, 1), "squared_error", (x, y))
    delta = torch.randn(4, problem.dim)
    kept = SampleLosses(problem, 3, delta)
    kept.look(delta)
    own, w0 = (problem.per_sample_loss(each, 0, 30) for each in (delta, torch.zeros_like(delta)))
    torch.testing.assert_close(kept._kept[0], own - w0)
