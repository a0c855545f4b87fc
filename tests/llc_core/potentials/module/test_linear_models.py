"""Networks that are linear in what moves: their exact answers, against chains and closed forms, and where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from llc_core import NetworkPotential, estimate
from llc_core.diagnostics.confirmation import drawn_value, exact_value
from llc_core.potentials.module.linear_models import linear_in_what_moves

torch.set_num_threads(1)


def data(inputs: int, outputs: int, rows: int = 60) -> tuple[torch.Tensor, torch.Tensor]:
    stream = torch.Generator().manual_seed(1)
    return torch.randn(rows, inputs, generator=stream), torch.randn(rows, outputs, generator=stream)


def sampled(module: nn.Module, inputs: int, rows: int = 150) -> tuple[torch.Tensor, torch.Tensor]:
    """Classes that the module itself draws, so that w0 is near the minimum."""
    x = data(inputs, 1, rows)[0]
    chances = torch.softmax(module(x).detach(), 1)
    return x, torch.multinomial(chances, 1, generator=torch.Generator().manual_seed(2)).squeeze(1)


def seeded(*layers: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    for layer in layers:
        if isinstance(layer, nn.Linear):
            layer.reset_parameters()
    return nn.Sequential(*layers)


@pytest.mark.parametrize("loss, outputs", [("mse", 2), ("squared_error", 2)])
def test_a_linear_regression_has_the_mean_of_its_normal_law(loss, outputs):
    """Against the covariance and the mean of the least squares posterior, written down from the data."""
    layer, (x, y) = seeded(nn.Linear(3, outputs, bias=False)), data(3, outputs)
    problem, n_beta, gamma = NetworkPotential(layer, loss, (x, y)), 40.0, 2.0
    scale = 1 / outputs if loss == "mse" else 1.0
    second = (x.T @ x).double().numpy() / len(x)
    w0 = layer[0].weight.detach().double().numpy()
    slope = 2 * scale * (w0 @ second - (y.T @ x).double().numpy() / len(x))
    hessian = 2 * scale * np.kron(np.eye(outputs), second)
    covariance = np.linalg.inv(n_beta * hessian + gamma * np.eye(len(hessian)))
    mean = -n_beta * covariance @ slope.ravel()
    exact = n_beta * (np.trace(hessian @ covariance) / 2 + mean @ hessian @ mean / 2 + slope.ravel() @ mean)
    assert exact_value(problem, n_beta, gamma) == pytest.approx(exact, rel=1e-6)


def test_a_direction_that_nothing_holds_has_no_answer():
    x, y = data(2, 1)
    x[:, 1] = 0
    problem = NetworkPotential(seeded(nn.Linear(2, 1, bias=False)), "mse", (x, y))
    assert math.isnan(exact_value(problem, 10.0, 0.0)) and math.isfinite(exact_value(problem, 10.0, 1.0))


@pytest.mark.slow
def test_the_last_layer_alone_is_linear():
    module, (x, noise) = seeded(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), data(3, 2)
    last = NetworkPotential(module, "mse", (x, module(x).detach() + 0.1 * noise), parameters="2.*")
    assert linear_in_what_moves(last)
    chains = estimate(last, "HMC", chains=4, steps=400, progress=False)
    assert abs(chains.llc - chains.reference) < 4 * chains.llc_se and chains.confirmed is not None


@pytest.mark.parametrize("parameters", ["0.*", None, ["2.bias", "0.bias"]])
def test_what_is_not_linear_has_no_answer(parameters):
    module, rows = seeded(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), data(3, 2)
    problem = NetworkPotential(module, "mse", rows, parameters=parameters)
    assert not linear_in_what_moves(problem) and math.isnan(exact_value(problem, 10.0, 1.0))
    two = NetworkPotential(seeded(nn.Linear(3, 4), nn.Linear(4, 2)), "mse", rows)
    assert not linear_in_what_moves(two), "a product of two layers is not linear in both"
    bent = NetworkPotential(seeded(nn.Linear(3, 2), nn.ReLU()), "mse", rows)
    assert not linear_in_what_moves(bent)


def test_a_loss_of_ones_own_has_no_answer():
    problem = NetworkPotential(seeded(nn.Linear(3, 2)), lambda out, y: (out - y).abs().sum(1), data(3, 2))
    assert math.isnan(exact_value(problem, 10.0, 1.0)) and math.isnan(drawn_value(problem, 10.0, 1.0)[0])


def test_a_logistic_regression_on_the_plane_has_the_mean_of_its_quadrature():
    """Two weights: the posterior's mean over a fine grid, which takes in six deviations of the localisation's Gaussian."""
    layer = seeded(nn.Linear(1, 2, bias=False))
    problem, n_beta, gamma = NetworkPotential(layer, "cross_entropy", sampled(layer, 1)), 50.0, 1.0
    axis = torch.linspace(-6, 6, 121, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    losses = n_beta * problem.excess_loss_and_grad(grid)[0]
    weights = torch.softmax(-losses - gamma / 2 * grid.square().sum(1), 0)
    exact = float((weights * losses).sum())
    value, error = drawn_value(problem, n_beta, gamma)
    assert 0 < error < 0.03 * exact and abs(value - exact) < 4 * error
    assert drawn_value(problem, n_beta, gamma) == (value, error)
    assert math.isnan(drawn_value(problem, n_beta, 0.0)[0]), "without localisation there is no proper law"


@pytest.mark.slow
def test_a_logistic_regression_has_a_reference_and_a_network_has_none():
    layer = seeded(nn.Linear(4, 2))
    rows = sampled(layer, 4)
    problem = NetworkPotential(layer, "cross_entropy", rows)
    found = estimate(problem, "HMC", chains=4, steps=600, progress=False)
    value, error = drawn_value(problem, problem.n_beta, problem.localization)
    assert abs(found.llc - value) < 4 * math.hypot(found.llc_se, error)
    network = NetworkPotential(seeded(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), "cross_entropy", rows)
    assert math.isnan(drawn_value(network, 20.0, 1.0)[0])


def test_more_parameters_than_can_be_weighed_have_no_answer():
    layer = seeded(nn.Linear(40, 2))
    problem = NetworkPotential(layer, "cross_entropy", sampled(layer, 40))
    assert problem.dim > 64 and math.isnan(drawn_value(problem, 20.0, 1.0)[0])
