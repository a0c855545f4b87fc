"""Exact answers about functions: evidence, the finite width against chains and brute force, and what must not pass for it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

from llc_core import (
    BayesianNetwork,
    RunConfig,
    finite_width,
    kernel_stein_discrepancy,
    nngp_posterior,
)
from llc_core.engine.run import Run
from llc_core.references.functions.finite_width import FiniteWidth

INPUTS = np.array([-2.0, -1.0, 0.0, 0.5, 1.2, 1.8])
WIDE_NOISE = BayesianNetwork((1, 8, 8, 1), noise_variance=1.0)


def brute_force(problem, inputs, draws=200_000):
    """Posterior mean, its error, and log evidence, from whole networks drawn from the prior and weighted by their likelihood."""
    random = torch.Generator().manual_seed(5)
    logs, values = [], []
    for _ in range(draws // 10_000):
        w = problem.prior_draws(10_000, random)
        logs.append(-problem.per_sample_loss(w, 0, problem.n).sum(dim=1).numpy())
        values.append(problem.predict(w, inputs).numpy())
    log, f = np.concatenate(logs), np.concatenate(values)
    share = np.exp(log - logsumexp(log))
    mean = share @ f
    error = np.sqrt(np.square(share[:, None] * (f - mean)).sum(axis=0))
    size = 1 / np.square(share).sum()
    return mean, error, logsumexp(log) - math.log(len(log)), math.sqrt(1 / size)


def test_evidence_of_the_infinitely_wide_network():
    assert nngp_posterior(BayesianNetwork(), INPUTS).log_evidence == pytest.approx(-45.74466, abs=1e-4)
    assert nngp_posterior(BayesianNetwork((1, 5, 5, 5, 1)), INPUTS).log_evidence == pytest.approx(-45.45657, abs=1e-4)


@pytest.mark.slow
@pytest.mark.long
def test_the_mixture_agrees_with_brute_force_and_with_chains():
    exact = finite_width(WIDE_NOISE, INPUTS, 10_000, method="importance")
    mean, error, evidence, evidence_error = brute_force(WIDE_NOISE, INPUTS)
    members = exact.sd / math.sqrt(exact.ess)
    assert (np.abs(exact.mean - mean) < 4.5 * np.hypot(error, members)).all()
    assert abs(exact.log_evidence - evidence) < 4.5 * math.hypot(evidence_error, exact.log_evidence_se)
    chains = finite_width(WIDE_NOISE, INPUTS, method="chains", moves=600)
    spread = np.hypot(exact.sd / math.sqrt(exact.ess), exact.sd / math.sqrt(chains.ess))
    assert (np.abs(exact.mean - chains.mean) < 4.5 * spread).all()
    assert (np.abs(chains.sd / exact.sd - 1) < 4.5 * np.sqrt(1 / exact.ess + 1 / chains.ess)).all()


@pytest.mark.slow
def test_quantiles_draws_and_score_belong_to_the_mixture():
    # Few members will do: what is asked is whether these four belong to them, and the score takes time for each.
    exact = finite_width(WIDE_NOISE, INPUTS[:3], 1_000, method="importance")
    draws = exact.sample(20_000)
    for share in (0.1, 0.9):
        below = (draws < exact.quantile(share)).mean(axis=0)
        assert (np.abs(below - share) < 4.5 * math.sqrt(share * (1 - share) / len(draws))).all()
    covariance = np.cov(draws.T)
    assert np.abs(covariance - exact.covariance).max() < 4.5 * np.abs(exact.covariance).max() * math.sqrt(
        3 / len(draws)
    )
    # The score integrates to zero, and score·(f − mean) to −1 (Stein).
    score = exact.score(draws)
    assert (np.abs(score.mean(axis=0)) < 4.5 * score.std(axis=0) / math.sqrt(len(draws))).all()
    product = score * (draws - exact.mean)
    assert (np.abs(product.mean(axis=0) + 1) < 4.5 * product.std(axis=0) / math.sqrt(len(draws))).all()


def test_importance_is_refused_where_it_would_be_wrong():
    with pytest.raises(ValueError, match="are worth only"):
        finite_width(BayesianNetwork((1, 10, 10, 1)), INPUTS, 2_000, method="importance")
    with pytest.raises(ValueError, match="known for 'gaussian' alone"):
        nngp_posterior(BayesianNetwork(likelihood="laplace"), INPUTS)
    with pytest.raises(ValueError, match="inputs has the shape"):
        finite_width(BayesianNetwork(), [[1.0, 2.0]])


@pytest.mark.slow
def test_chains_that_do_not_agree_are_refused_and_carry_their_doubt():
    problem = BayesianNetwork((1, 20, 20, 1))
    with pytest.raises(ValueError, match=r"do not agree \(R-hat [1-9.]+\); give more moves"):
        finite_width(problem, INPUTS, method="chains", moves=120)
    with pytest.raises(ValueError, match="are too few to be compared"):
        finite_width(problem, INPUTS, method="chains", moves=8)
    work = FiniteWidth(problem, INPUTS, method="chains", moves=120)
    while not work.finished:
        work.advance()
    assert "do not agree" in work.mixture().doubt


@pytest.mark.slow
def test_chains_meet_their_own_width_and_not_the_infinite_one():
    """H = 20: HMC agrees with the exact answer within 0.25 sd and 0.85–1.15 in width at six inputs (few draws: the error of a
    mean is 0.06 sd); the same test calls the Gaussian process wrong."""
    problem = BayesianNetwork((1, 20, 20, 1))
    run = Run(RunConfig(sampler={"name": "SplitHMC"}, chains=32, steps=120, burn_in=0.4, seed=1), problem)
    draws = []
    run.advance(48)
    while not run.finished:
        run.advance(1)
        draws.append(problem.predict(torch.from_numpy(run.displacements), INPUTS).numpy())
    f = np.concatenate(draws)

    def agrees(mean, sd):
        return (np.abs(f.mean(axis=0) - mean) < 0.25 * sd).all() and (np.abs(f.std(axis=0) / sd - 1) < 0.15).all()

    exact = finite_width(problem, INPUTS, method="chains", moves=1_000)
    assert agrees(exact.mean, exact.sd)
    infinite = nngp_posterior(problem, INPUTS)
    assert not agrees(infinite.mean, infinite.sd)


def test_stein_discrepancy_tells_exact_draws_from_the_prior():
    problem = BayesianNetwork((1, 80, 80, 1), {"name": "wave", "n": 3})
    inputs = np.append(problem.data.x[:, 0], 0.25)
    exact = finite_width(problem, inputs, 1_500, method="importance")
    draws = exact.sample(500)
    good = kernel_stein_discrepancy(draws, exact.score(draws), exact.covariance)
    assert good.root < 0.16 and good.p > 0.01
    w = problem.prior_draws(500, torch.Generator().manual_seed(0))
    prior = problem.predict(w, inputs).numpy()
    bad = kernel_stein_discrepancy(prior, exact.score(prior), exact.covariance)
    assert bad.root > 4 and bad.p == 0


def test_stein_discrepancy_on_a_normal_law():
    """U has mean 0 under the distribution; a shift of the mean is seen. Shapes that do not fit are refused."""
    draws = np.random.default_rng(0).standard_normal((800, 2))
    fair = kernel_stein_discrepancy(draws, -draws)
    assert abs(fair.u) < 0.01 and fair.p > 0.01
    assert kernel_stein_discrepancy(draws + 0.3, -draws - 0.3).p == 0.0
    stretched = kernel_stein_discrepancy(2 * draws, -draws / 2, 4 * np.eye(2))
    assert stretched.v == pytest.approx(fair.v, rel=1e-9)
    with pytest.raises(ValueError, match="give both"):
        kernel_stein_discrepancy(draws, draws[:5])
