"""λ̂ of regressions as modules, against the exact posterior mean at the same n, nβ and γ."""

from __future__ import annotations

import math

import pytest

from lab.benchmarks.networks.regressions import linear_problem, logistic_problem
from llc_core import SGLD, UnderdampedLangevin, estimate


@pytest.mark.slow
@pytest.mark.parametrize("dim", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_linear_regression(dim):
    problem, exact = linear_problem(dim)
    result = estimate(problem, chains=16, steps=2500)
    assert result.llc_se < 0.015 * exact
    assert abs(result.llc - exact) < 0.03 * exact and abs(result.llc - exact) < 4 * result.llc_se
    assert abs(result.llc - dim / 2) < 0.05 * dim / 2
    assert result.converged, str(result.converged)


@pytest.mark.slow
def test_logistic_regression():
    problem, exact, error = logistic_problem(5)
    assert error < 0.01 * exact
    result = estimate(problem, chains=16, steps=2500)
    assert abs(result.llc - exact) < 0.03 * exact
    assert abs(result.llc - exact) < 4 * math.hypot(result.llc_se, error)
    assert abs(result.llc - 2.5) < 0.05 * 2.5


@pytest.mark.slow
@pytest.mark.parametrize("gradient", ["control_variate", "minibatch"])
def test_sampled_gradients_of_a_linear_regression(gradient):
    """SGLD's own bias is corrected for to first order; what is left must be small."""
    problem, exact = linear_problem(5, batch_size=100)
    result = estimate(problem, SGLD(), gradient=gradient, chains=16, steps=4000)
    bias = result.diagnostics["step_bias"] + result.diagnostics["noise_inflation"]
    assert abs(result.llc - bias - exact) < 4 * result.llc_se + 0.03 * exact


@pytest.mark.slow
def test_a_planted_fault_is_seen():
    """A gradient that is 10% too large must fail the same test."""
    problem, exact = linear_problem(5)
    evaluate = problem.excess_loss_and_grad

    def faulty(delta, batch=None):
        loss, grad = evaluate(delta, batch)
        return loss, 1.1 * grad

    problem.excess_loss_and_grad = faulty
    result = estimate(problem, UnderdampedLangevin(), chains=16, steps=2500)
    assert abs(result.llc - exact) > 0.03 * exact and abs(result.llc - exact) > 4 * result.llc_se
