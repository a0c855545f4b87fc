"""What deep linear networks should show at finite n: against closed forms, brute quadrature, descent, and the exact sampler."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import special

from llc_core import DeepLinearNetwork, estimate, gibbs_reference
from llc_core.theory.reduced_rank import has_largest_rank
from llc_core.theory.width_one import width_one_llc

S = 100 / 3


def bessel(n_beta: float, localization: float) -> float:
    """Two factors at 0 without noise: Z ∝ (nβ)^−½ e^x K₀(x) with x = γ²/(8nβs), so λ̂ = −∂log Z/∂log nβ = ½ + x(1 − K₁(x)/K₀(x))."""
    x = localization**2 / (8 * n_beta * S)
    return 0.5 + x * (1 - special.kve(1, x) / special.kve(0, x))


def brute(w0: list[float], t: float, n_beta: float) -> float:
    """Three factors at γ = 1: the last by hand as a normal integral, two by a grid that is fine at 0 and at w0."""
    grid = np.sinh(np.linspace(-24, 24, 2401)) * 1e-9
    grid = grid[np.abs(grid) < 15]
    spacing = np.gradient(grid)
    first, second = (np.exp(-((grid - w) ** 2) / 2) * spacing for w in w0[:2])
    q = grid[:, None] * grid[None, :]
    ahead = q * w0[2] - math.prod(w0)
    precision = 2 * n_beta * S * q * q + 1
    delta = 2 * n_beta * q * (t - S * ahead) / precision
    log = precision * delta**2 / 2 - np.log(precision) / 2 - n_beta * (S * ahead**2 - 2 * t * ahead)
    error = ahead + q * delta
    weight = np.exp(log - log.max()) * first[:, None] * second[None, :]
    return float((weight * n_beta * (S * (error**2 + q * q / precision) - 2 * t * error)).sum() / weight.sum())


@pytest.mark.parametrize("n_beta", [1e2, 1e3, 1e5])
@pytest.mark.parametrize("localization", [0.1, 1.0, 30.0])
def test_two_factors_at_zero_have_a_closed_form(n_beta, localization):
    found = width_one_llc([0.0, 0.0], S, 0.0, n_beta, localization)
    assert found == pytest.approx(bessel(n_beta, localization), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "w0, t", [([0.0, 0.0, 0.0], 0.0), ([0.0, 0.0, 0.0], 0.1), ([1.0, 0.0, 0.0], 0.1), ([1.0, 0.5, 2.0], 0.3)]
)
def test_three_factors_against_a_grid(w0, t):
    """The grid's spacing is 2% of its points, so the rule's error is far below 1e-6; the two rules share nothing but the last factor."""
    assert width_one_llc(w0, S, t, 1000.0, 1.0) == pytest.approx(brute(w0, t, 1000.0), rel=1e-6)


@pytest.mark.parametrize("w0", [[0.0] * 4, [2.0, 0.0, 0.0, 1.0], [10.0, 0.0, 3.0], [-1.0, 1.0, 0.0, 0.0, 0.0], [0.3]])
def test_a_finer_grid_changes_nothing(w0):
    coarse, fine = (width_one_llc(w0, S, 0.05, 2000.0, 1.0, refine=r) for r in (1, 2))
    assert coarse == pytest.approx(fine, rel=1e-9)
    assert width_one_llc([-w0[0], *w0[1:]], S, -0.05, 2000.0, 1.0) == pytest.approx(coarse, rel=1e-9), "a symmetry"


def test_a_grid_that_would_be_too_fine_is_not_made():
    assert width_one_llc([1e4, 1e4, 1e4], S, 0.0, 1000.0, 1.0) is None


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 3])
def test_width_one_is_what_the_exact_sampler_shows(depth):
    network = DeepLinearNetwork([np.zeros((1, 1))] * depth, n=10_000, noise_std=0.5, seed=2)
    assert network.local_learning_coefficient.multiplicity == depth
    found = gibbs_reference(network, chains=128, sweeps=1000)  # a sweep costs the same with many chains
    assert found.expected == network.expected_llc_of_data()
    assert abs(found.llc - found.expected) < 4 * found.llc_se < 0.1 * found.expected
    first_term = 0.5 * (1 - 2 * network.n_beta / network.n * 0.25) - (depth - 1) / math.log(network.n_beta)
    assert abs(found.llc - first_term) > 4 * found.llc_se, "the asymptotic value is refuted"


def test_the_mean_over_data_sets_of_width_one():
    """400 data sets; the inputs' second moment varies by 0.9% between them, far less than the noise's moment."""
    networks = [DeepLinearNetwork([np.zeros((1, 1))] * 2, n=1000, noise_std=2.0, seed=seed) for seed in range(400)]
    values = np.array([network.expected_llc_of_data() for network in networks])
    assert abs(values.mean() - networks[0].expected_llc()) < 4 * values.std() / math.sqrt(len(values))


# -- products of the largest rank ----------------------------------------------------------------------------------

SHAPES = [([6, 4, 6], None), ([5, 3, 4, 6], None), ([4, 4, 4], None), ([3, 5, 2], [3, 2]), ([3, 4], None)]


def network(widths, layer_ranks=None, n=10_000, noise_std=2.0, seed=3) -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=widths, layer_ranks=layer_ranks, n=n, noise_std=noise_std, seed=seed)


@pytest.mark.parametrize("widths, layer_ranks", SHAPES)
def test_the_noise_that_is_fitted_is_what_descent_finds(widths, layer_ranks):
    """Newton's method on the product's factors from w0; the minimum is flat along the fibre, so the pseudo-inverse is used."""
    problem = network(widths, layer_ranks)
    delta = torch.zeros(1, problem.dim, dtype=torch.float64)
    for _ in range(60):
        loss, grad = problem.excess_loss_and_grad(delta)
        eye = torch.eye(problem.dim, dtype=torch.float64)
        hessian = problem.hvp(delta.expand(problem.dim, -1).contiguous(), eye)
        values, vectors = torch.linalg.eigh((hessian + hessian.T) / 2)
        inverse = torch.where(values.abs() > 1e-6 * values.max(), 1 / values.abs(), 0.0)
        delta = delta - (grad @ vectors * inverse) @ vectors.T
    assert float(grad.norm()) < 1e-9
    assert problem.expected_llc_of_data() == pytest.approx(
        float(problem.local_learning_coefficient) + problem.n_beta * float(loss), abs=1e-8
    )
    assert not problem.expected_note


@pytest.mark.parametrize("widths, layer_ranks", [([4, 3, 3, 4], [3, 2, 3]), ([4, 4, 4], [2, 3])])
def test_elsewhere_it_is_not_known(widths, layer_ranks):
    problem = network(widths, layer_ranks)
    assert not has_largest_rank(problem.rank_table) and problem.expected_llc_of_data() is None
    assert "asymptotic" in problem.expected_note and "gibbs_reference" in problem.expected_note


@pytest.mark.slow
@pytest.mark.parametrize("widths, layer_ranks", SHAPES)
def test_of_one_data_set_it_is_what_the_exact_sampler_shows(widths, layer_ranks):
    """At nβ = 20·n/log n, where terms of order 1/nβ are below the sampler's error; the noise's share is large."""
    problem = network(widths, layer_ranks, n=100_000, seed=4)
    n_beta = 20 * problem.n_beta
    found = gibbs_reference(problem, chains=8, sweeps=600, n_beta=n_beta)
    exact = problem.expected_llc_of_data(n_beta)
    assert found.expected == exact
    assert abs(found.llc - exact) < 5 * found.llc_se, (found.llc, exact)
    assert abs(exact - problem.expected_llc(n_beta)) > 10 * found.llc_se, "the mean over data sets is far off"


def test_its_mean_over_data_sets_is_the_known_one():
    problems = [DeepLinearNetwork(network([6, 4, 6]).weights, n=2000, noise_std=1.0, seed=seed) for seed in range(200)]
    values = np.array([each.expected_llc_of_data() for each in problems])
    assert abs(values.mean() - problems[0].expected_llc()) < 4 * values.std() / math.sqrt(len(values))


def test_the_result_says_where_the_value_is_asymptotic():
    torch.manual_seed(0)
    singular = network([4, 4, 4], [2, 3], noise_std=0.1)
    assert "asymptotic" in repr(estimate(singular, steps=40, burn_in=20))
    assert "asymptotic" not in repr(estimate(network([4, 4, 4]), steps=40, burn_in=20))
