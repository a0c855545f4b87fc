"""Directions that the loss does not depend on are found, and none that only looks flat near w0."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import llc_core
import llc_core.engine.spreading as searching
from llc_core import DeepLinearNetwork, NetworkPotential
from llc_core.engine.run import Run
from llc_core.engine.spreading import search
from llc_core.potentials.base import Potential
from llc_core.samplers import SGLD

torch.set_num_threads(1)


class Made(Potential):
    """A loss of a few numbers, by autograd; nobody knows its answer."""

    kind = "made"
    n = 1000

    def __init__(self, loss, dim: int):
        self.loss, self.dim = loss, dim

    def to_dict(self):
        return {"kind": "object"}

    def excess_loss_and_grad(self, delta, batch=None):
        with torch.enable_grad():
            at = delta.detach().requires_grad_(True)
            loss = self.loss(at)
            return loss.detach(), torch.autograd.grad(loss.sum(), at)[0]

    def hvp(self, delta, vector):
        with torch.enable_grad():
            at = delta.detach().requires_grad_(True)
            slope = torch.autograd.grad(self.loss(at).sum(), at, create_graph=True)[0]
            return torch.autograd.grad((slope * vector).sum(), at)[0]


TURN = torch.linalg.qr(torch.randn(24, 24, generator=torch.Generator().manual_seed(5)))[0]
CURVED = torch.linspace(1, 5, 8)


def turned(delta):
    """Eight directions of 24 are curved, none of them along an axis."""
    return 0.5 * ((delta @ TURN[:, :8]).square() * CURVED).sum(1)


def walled(delta):
    """Flat near w0 along sixteen directions, and not beyond a distance that γ = 1 lets a third of the draws pass."""
    return 0.5 * (delta[:, :8].square() * CURVED).sum(1) + (delta[:, 8:].abs() - 1).relu().square().sum(1)


def crossing(delta):
    """No curvature at w0 along half of the directions, which narrow the others farther out."""
    return 0.5 * (delta[:, :8].square() * (1 + delta[:, 8:16].square())).sum(1)


def product(delta):
    """Nothing is curved at w0, and everything is farther out."""
    return 0.5 * (delta[:, :8] * delta[:, 8:16]).square().sum(1)


def bent(delta):
    return 0.5 * (delta[:, :8] + delta[:, 8:16].square()).square().sum(1)


def nearly(delta):
    """Sixteen directions of 24 that add 16·½·nβh/γ to λ̂."""
    return 0.5 * (delta[:, :8].square() * CURVED).sum(1) + 0.5 * (1e-6 * delta[:, 8:].square()).sum(1)


def steps_of(problem: Potential, steps: int = 600, **options) -> Run:
    settings = {"n_beta": 1000.0, "localization": 1.0, "chains": 4, "steps": steps, "seed": 3, **options}
    made = Run(llc_core.RunConfig(problem=problem.to_dict(), sampler=SGLD().to_dict(), **settings), problem)
    made.advance(steps)
    return made


def found(problem: Potential, llc: float = 4.0) -> int:
    """How many directions are idle from where chains are after 600 steps."""
    made = steps_of(problem)
    with torch.no_grad():
        slopes = search(made._setup, torch.as_tensor(made.displacements, dtype=torch.float32), 1000.0, 1.0, 100, llc)
    return 0 if slopes is None else slopes.left


def network(*, inputs: torch.Tensor, activation=nn.Tanh, asleep: int = 0, bias: float = 0.0) -> NetworkPotential:
    """Two units of four inputs, at the minimum; further inputs have no weight, and units that sleep have this bias."""
    torch.manual_seed(1)
    made = nn.Sequential(nn.Linear(inputs.shape[1], 2 + asleep), activation(), nn.Linear(2 + asleep, 2))
    with torch.no_grad():
        made[0].weight[:, 4:], made[0].weight[2:], made[0].bias[2:], made[2].weight[:, 2:] = 0.0, 0.0, bias, 0.0
    return NetworkPotential(made, "mse", (inputs, made(inputs).detach()))


X = torch.randn(60, 4, generator=torch.Generator().manual_seed(2))
ZEROS = torch.zeros(60, 5)


@pytest.mark.parametrize(
    "problem, many",
    [
        (Made(turned, 24), 16),
        (Made(nearly, 24), 16),
        (network(inputs=X), 0),
        (network(inputs=torch.cat([X, ZEROS], 1)), 10),
        (network(inputs=torch.cat([X, X], 1)), 8),
    ],
    ids=["turned", "nearly flat", "no idle input", "inputs that are 0", "inputs twice"],
)
def test_directions_that_the_loss_does_not_depend_on_are_counted(problem, many):
    assert found(problem) == many


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem",
    [
        Made(walled, 24),
        Made(crossing, 16),
        Made(product, 16),
        Made(bent, 16),
        DeepLinearNetwork([np.zeros((3, 3))] * 2, noise_std=0),
        DeepLinearNetwork([np.zeros((5, 5))] * 3, noise_std=0),
        DeepLinearNetwork.random(widths=[8, 3, 5], layer_ranks=[3, 3], n=10**4, seed=402),
    ],
    ids=["walls", "crossing", "product", "bent", "3-3-3 at zero", "5-5-5-5 at zero", "8-3-5"],
)
def test_none_is_found_where_they_matter_farther_out(problem):
    assert found(problem) == 0


def test_units_that_sleep_near_w0_wake_farther_out():
    """Seven parameters each; what is left of them is idle only while the chains have not spread along the others."""
    assert found(network(inputs=X, activation=nn.ReLU, asleep=3, bias=-4.0)) < 21 / 2


def test_a_small_slope_along_many_directions_is_not_nothing():
    """16 directions that would add .8 of λ̂: no single draw of 25 rounds shows much, their mean does."""
    assert found(Made(lambda d: nearly(d) + 2e-5 * d[:, 8:].cos().sum(1), 24), llc=1.0) == 0


@pytest.mark.slow
def test_chains_that_have_not_spread_along_idle_directions_are_trusted(monkeypatch):
    made = steps_of(Made(turned, 24), 8000, n_beta=20_000.0)
    seen = made.estimates()[0]
    assert seen.converged and seen.diagnostics["idle"] == 16 and "does not depend on 16 of 24" in seen.converged.reason
    assert abs(seen.llc - 4.0) < max(0.05 * 4.0, 3 * seen.llc_se), "eight directions, ½ each"
    assert abs(seen.diagnostics["unspread"] - 16) < 0.5, "which is what was measured"
    for name, value in (("CHANGE", -1.0), ("SHARE", 0.006)):
        with monkeypatch.context() as less:
            less.setattr(searching, name, value)
            without = made.estimates()[0]
        assert not without.converged and "not spread along about" in without.converged.reason
        assert "idle" not in without.diagnostics and without.llc == seen.llc


@pytest.mark.slow
def test_directions_that_have_half_spread_are_told_from_others():
    """At the places of each look, since γ‖δ‖² along idle directions is as large as chance has it."""
    seen = steps_of(Made(turned, 24), 8000, n_beta=400.0).estimates()[0]
    assert 3 < seen.diagnostics["unspread"] < 13 and seen.converged and seen.diagnostics["idle"] == 16


@pytest.mark.slow
def test_chains_that_have_not_spread_where_it_may_matter_are_refused_still():
    seen = steps_of(Made(walled, 24), 8000, n_beta=20_000.0).estimates()[0]
    assert "not spread along about 16 of 24" in seen.converged.reason and "idle" not in seen.diagnostics
