"""Laplace likelihoods by mixtures of normal ones: the distribution is that of brute force, and of other noise it is not."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

from llc_core import BayesianNetwork, finite_width
from llc_core.diagnostics.convergence import ess
from llc_core.references.functions.laplace import LaplaceChains, nngp_laplace, nngp_laplace_mixture, variances_given
from llc_core.theory.nngp import nngp_kernel

INPUTS = np.array([-2.0, 0.0, 1.8])
NARROW = BayesianNetwork((1, 8, 8, 1), likelihood="laplace", noise_variance=1.0)


def by_weights(f: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean, sd, and effective size of draws f [S, P] of the prior that are weighted by exp(−losses)."""
    share = np.exp(-losses - logsumexp(-losses))
    mean = share @ f
    return mean, np.sqrt(share @ (f - mean) ** 2), 1 / np.square(share).sum()


def test_a_variance_drawn_with_its_residual_has_the_law_of_both():
    """Under the Laplace distribution of r, τ drawn given r is exponential with mean 2b²."""
    random = np.random.default_rng(0)
    tau = variances_given(random.laplace(0, 0.5, 200_000), 0.5, random)
    assert abs(tau.mean() - 0.5) < 4.5 * 0.5 / math.sqrt(len(tau))
    assert abs((tau < 0.5 * math.log(2)).mean() - 0.5) < 4.5 * 0.5 / math.sqrt(len(tau))


@pytest.mark.slow
def test_chains_of_the_hidden_layers_meet_brute_force():
    random = torch.Generator().manual_seed(5)
    w = NARROW.prior_draws(60_000, random)
    losses = NARROW.per_sample_loss(w, 0, NARROW.n).sum(dim=1).numpy()
    mean, sd, size = by_weights(NARROW.predict(w, INPUTS).numpy(), losses)
    chains, kept = LaplaceChains(NARROW, 32, seed=1), []
    for move in range(600):
        chains.move(adapt=move < 150)
        if move >= 150 and move % 3 == 0:
            kept.append(NARROW.predict(chains.delta, INPUTS).numpy())
    trace = np.stack(kept)
    drawn = np.array([ess(trace[:, :, p]) for p in range(len(INPUTS))])
    f = trace.reshape(-1, len(INPUTS))
    assert (np.abs(f.mean(axis=0) - mean) < 4.5 * sd * np.sqrt(1 / size + 1 / drawn)).all()
    assert (np.abs(f.std(axis=0) / sd - 1) < 4.5 * np.sqrt(1 / size + 1 / drawn)).all()
    gaussian = BayesianNetwork((1, 8, 8, 1), noise_variance=1.0).per_sample_loss(w, 0, NARROW.n).sum(dim=1).numpy()
    other, _, other_size = by_weights(NARROW.predict(w, INPUTS).numpy(), gaussian)
    off = np.abs(f.mean(axis=0) - other) / (sd * np.sqrt(1 / other_size + 1 / drawn))
    assert off.max() > 4.5, "a Gaussian likelihood passes too"


def test_the_infinitely_wide_network_meets_brute_force():
    draws = nngp_laplace(NARROW, INPUTS, draws=3_000, seed=1)
    both = np.concatenate([NARROW.data.x[:, 0], INPUTS])
    root = np.linalg.cholesky(nngp_kernel("selu", both, 2) + 1e-9 * np.eye(len(both)))
    prior = np.random.default_rng(4).standard_normal((200_000, len(both))) @ root.T
    scale = math.sqrt(0.5)
    losses = np.abs(prior[:, : NARROW.n] - NARROW.data.y).sum(axis=1) / scale
    mean, sd, size = by_weights(prior[:, NARROW.n :], losses)
    drawn = np.array([ess(draws[:, p].reshape(4, -1).T) for p in range(len(INPUTS))])
    error = np.sqrt(1 / size + 1 / drawn)
    assert (np.abs(draws.mean(axis=0) - mean) < 4.5 * sd * error).all()
    assert (np.abs(draws.std(axis=0) / sd - 1) < 4.5 * error).all()


@pytest.mark.slow
def test_mixtures_have_the_law_of_the_draws():
    """Of a finite width by `finite_width`, and of an infinite one."""
    chains, kept = LaplaceChains(NARROW, 64, seed=2), []
    for move in range(600):
        chains.move(adapt=move < 150)
        if move >= 150 and move % 3 == 0:
            kept.append(NARROW.predict(chains.delta, INPUTS).numpy())
    pairs = [
        (finite_width(NARROW, INPUTS, moves=600, seed=1), np.stack(kept)),
        (
            nngp_laplace_mixture(NARROW, INPUTS, seed=2),
            nngp_laplace(NARROW, INPUTS, draws=3_000, seed=1).reshape(4, -1, 3).transpose(1, 0, 2),
        ),
    ]
    for found, trace in pairs:
        drawn = np.array([ess(trace[:, :, p]) for p in range(len(INPUTS))])
        f, error = trace.reshape(-1, len(INPUTS)), np.sqrt(1 / found.ess + 1 / drawn)
        assert found.ess > 100 and math.isnan(found.log_evidence)
        assert (np.abs(f.mean(axis=0) - found.mean) < 4.5 * found.sd * error).all()
        assert (np.abs(f.std(axis=0) / found.sd - 1) < 4.5 * error).all()
        inside = (f < found.quantile(0.9)).mean(axis=0)
        assert (np.abs(inside - 0.9) < 4.5 * 0.5 * error).all()


def test_there_is_no_importance_under_a_laplace_likelihood():
    with pytest.raises(ValueError, match="likelihood is 'laplace'; choose 'chains'"):
        finite_width(NARROW, INPUTS, method="importance")


def test_another_likelihood_is_refused():
    for call in (lambda: nngp_laplace(BayesianNetwork(), INPUTS), lambda: LaplaceChains(BayesianNetwork(), 2, 0)):
        with pytest.raises(ValueError, match="give a BayesianNetwork with likelihood='laplace'"):
            call()
