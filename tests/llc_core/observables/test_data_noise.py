"""The error of λ̂ over data sets: against derivatives by quadrature at a singular point, and 0 on a quadratic."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from cases import few
from torch import nn

from llc_core import NetworkPotential, estimate, polish
from llc_core.observables import data_noise as module
from llc_core.observables.data_noise import SLICES, Influences, SampleLosses, _slices, influences

SIZE, N_BETA = 40, 20.0
LOOKS, CHAINS = 3000, 8
GRID = np.linspace(-6, 6, 40_001)
OUTPUTS = {"w": GRID, "w²": GRID**2}


def data_noise(each: np.ndarray, loss: np.ndarray, n_beta: float, size: int) -> module.DataNoise:
    found = influences(each, loss, n_beta, size)
    return module.DataNoise() if found is None else found.noise()


def law(output: np.ndarray, y: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of ℓ_i = (y_i − f(w))², with w0 at the minimum of the loss as it is: probabilities [W], ΔL [W], and Δℓ_i [W, n]."""
    lowest = np.argmin(((y[:, None] - output) ** 2).mean(axis=0))
    each = (y[:, None] - output).T ** 2
    each = each - each[lowest]
    loss = each @ counts / len(y)
    weight = np.exp(-N_BETA * loss - GRID**2 / 2 * 1e-3)
    return weight / weight.sum(), loss, each


@pytest.mark.parametrize("name", few(OUTPUTS, 1, rare=False))
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


def test_chance_of_the_same_part_would_show():
    """The planted bug: products of a part with itself are counted, so that chance reads as noise of the data.

    Exact draws of a linear regression in 60 dimensions, with w0 at the minimum: λ̂ is 30 whatever the data.
    """
    random, dim, size = np.random.default_rng(2), 60, 120
    x, y = random.normal(size=(size, dim)), random.normal(size=size)
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    spread = np.linalg.cholesky(np.linalg.inv(2 * N_BETA * x.T @ x / size))
    draws = random.normal(size=(200, CHAINS, dim)) @ spread.T
    each = (y - (best + draws) @ x.T) ** 2 - (y - x @ best) ** 2
    loss = N_BETA * each.mean(axis=2)
    assert abs(loss.mean() - dim / 2) < 0.5
    found = influences(each, loss, N_BETA, size)
    sound = found.noise()
    with_themselves = float((found.parts**2).sum()) / len(found.parts) ** 2
    assert abs(sound.square) < 3 * sound.square_se < with_themselves


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
    assert influences(np.zeros((50, 0, 10)), np.zeros((50, 0)), 1.0, 10) is None, "no chain lives"


def test_what_a_baseline_does_drops_out_of_a_slope():
    """Two levels whose influences differ by their nβ alone: a slope counts them with opposite signs."""
    part = np.random.default_rng(3).normal(size=(8, 30))
    cold, hot = (Influences(scale * part, np.arange(8), 1.0) for scale in (2.0, 1.0))
    left = hot._replace(parts=1.0 * hot.parts - 0.5 * cold.parts).noise()
    assert left.square == pytest.approx(0) and hot.noise().square != pytest.approx(0)


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
    slope = estimate(problem, steps=3000, chains=4, localization=1.0, seed=1, temperatures=(1, 0.25)).from_temperatures
    # Whether other data would change the slope is seen in some runs and not in others; what it says is ½ in all of them.
    assert slope is not None and abs(slope.llc - 0.5) < 4 * slope.llc_se


def test_the_losses_kept_are_those_of_the_samples():
    torch.manual_seed(0)
    x, y = torch.randn(30, 2), torch.randn(30, 1)
    problem = NetworkPotential(nn.Linear(2, 1), "squared_error", (x, y))
    delta = torch.randn(4, problem.dim)
    kept = SampleLosses(problem, 3, delta)
    kept.look(delta)
    own, w0 = (problem.per_sample_loss(each, 0, 30) for each in (delta, torch.zeros_like(delta)))
    torch.testing.assert_close(kept._kept[0], own - w0)
