"""Under a Laplace likelihood proposals follow a smooth slope: the distribution stays exact, and more of them are accepted."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

from llc_core import BayesianNetwork, RunConfig
from llc_core.diagnostics.convergence import ess
from llc_core.engine.run import Run
from llc_core.potentials.bayesian.likelihoods import LIKELIHOODS, ROUNDED, laplace_scale

INPUTS = np.array([-2.0, 0.0, 1.8])


def test_the_smooth_slope_is_the_slope_but_for_small_residuals():
    scale, laplace = laplace_scale(0.05), LIKELIHOODS["laplace"]
    residual = scale * torch.tensor([-3.0, -0.31, -0.15, 0.0, 0.03, 0.31, 2.0], dtype=torch.float64)
    smooth = laplace.smooth(residual, 0.05) * scale
    torch.testing.assert_close(smooth, torch.tensor([-1.0, -1.0, -0.5, 0.0, 0.03 / ROUNDED, 1.0, 1.0]).double())
    assert LIKELIHOODS["gaussian"].smooth is None


def test_only_samplers_that_reject_follow_it_and_losses_are_the_same():
    problem = BayesianNetwork((1, 6, 1), likelihood="laplace", noise_variance=20.0)
    found = {}
    for name in ("SplitHMC", "MALA", "SGLD"):
        run = Run(RunConfig(sampler={"name": name, "step_size": 1e-4}, chains=4, steps=10, gradient="full"), problem)
        target = run._stepper.target
        at = target.position(problem.prior_draws(4, torch.Generator().manual_seed(1)))
        found[name] = target.evaluate(at, None)
    loss, grad = problem.excess_loss_and_grad(found["SGLD"].delta)
    for energy in found.values():
        torch.testing.assert_close(energy.excess_loss, loss, rtol=1e-12, atol=1e-12)
    assert torch.equal(found["SGLD"].loss_grad, grad)
    assert not torch.allclose(found["MALA"].loss_grad, grad) and not torch.allclose(found["SplitHMC"].loss_grad, grad)
    smooth = BayesianNetwork((1, 6, 1))
    assert smooth.for_proposals() is smooth


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [{"name": "SplitHMC", "leapfrog_steps": 10}, {"name": "MALA"}])
def test_chains_meet_brute_force(sampler):
    """Draws of the prior, weighted by the likelihood, have the distribution of the posterior without a gradient."""
    problem = BayesianNetwork((1, 4, 1), likelihood="laplace", noise_variance=1.0)
    w = problem.prior_draws(60_000, torch.Generator().manual_seed(5))
    losses = problem.per_sample_loss(w, 0, problem.n).sum(dim=1).numpy()
    share, f = np.exp(-losses - logsumexp(-losses)), problem.predict(w, INPUTS).numpy()
    mean = share @ f
    sd = np.sqrt(share @ (f - mean) ** 2)
    run, kept = Run(RunConfig(sampler=sampler, chains=32, steps=400, burn_in=200, seed=3), problem), []
    while not run.finished:
        run.advance(10)
        if run.steps_done > 200:
            kept.append(problem.predict(torch.from_numpy(run.displacements), INPUTS).numpy())
    trace = np.stack(kept)
    drawn = np.array([ess(trace[:, :, p]) for p in range(len(INPUTS))])
    found = trace.reshape(-1, len(INPUTS))
    error = np.sqrt(np.square(share).sum() + 1 / drawn)
    assert (np.abs(found.mean(axis=0) - mean) < 4.5 * sd * error).all()
    assert (np.abs(found.std(axis=0) / sd - 1) < 4.5 * error).all()


@pytest.mark.slow
def test_trajectories_with_the_smooth_slope_are_accepted_more_often(monkeypatch):
    """The same step and the same random numbers, and 4.5 standard errors by the spread over 64 chains."""

    def accepted() -> np.ndarray:
        problem = BayesianNetwork((1, 10, 10, 1), {"name": "wave", "n": 40}, likelihood="laplace")
        sampler = {"name": "SplitHMC", "step_size": 0.01, "leapfrog_steps": 10}
        run = Run(RunConfig(sampler=sampler, chains=64, steps=40, burn_in=20, seed=1), problem)
        run.advance(20)
        before = run.state["accepted"]
        run.advance(20)
        return (2 * run.state["accepted"] - before).numpy()

    smooth = accepted()
    monkeypatch.setattr(BayesianNetwork, "for_proposals", lambda self: self)
    rough = accepted()
    error = np.hypot(smooth.std(), rough.std()) / 8
    assert smooth.mean() - rough.mean() > 4.5 * error
