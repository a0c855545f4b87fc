"""`Estimate.predictive`: the posterior over functions against exact ones, its bands, its weights, and what it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from targets import Quadratic
from torch import nn

from llc_core import BayesianNetwork, NetworkPotential, Run, RunConfig, estimate, finite_width
from llc_core.diagnostics import convergence
from llc_core.engine.machine import memory_needed

N_BETA, PULL = 30.0, 2.0
AT = [[0.5, -1.0], [2.0, 1.0], [0.0, 0.3]]


def linear(outputs: int = 1, **kwargs) -> NetworkPotential:
    random = torch.Generator().manual_seed(1)
    x = torch.randn(40, 2, generator=random)
    y = x @ torch.randn(2, outputs, generator=random) + 0.3 * torch.randn(40, outputs, generator=random)
    module = nn.Linear(2, outputs)
    with torch.no_grad():
        module.weight.zero_()
        module.bias.zero_()
    return NetworkPotential(module, "squared_error", (x, y), n=40, **kwargs)


def exact_functions(network: NetworkPotential) -> tuple[np.ndarray, np.ndarray]:
    """Mean [P] and covariance [P, P] of f: the posterior of (weights, bias) is Gaussian, with precision 2nβ XᵀX/n + γ."""
    x, y = (field.double().numpy() for field in network.data.fields)
    rows = np.column_stack([x, np.ones(len(x))])
    precision = 2 * N_BETA * rows.T @ rows / len(rows) + PULL * np.eye(3)
    centre = np.linalg.solve(precision, 2 * N_BETA * rows.T @ y[:, 0] / len(rows))
    at = np.column_stack([np.array(AT), np.ones(len(AT))])
    return at @ centre, at @ np.linalg.solve(precision, at.T)


def run_linear(**kwargs):
    config = {"chains": 8, "steps": 700, "burn_in": 100, "n_beta": N_BETA, "localization": PULL, "dtype": "float64"}
    return estimate(linear(), "HMC", predict=AT, seed=3, progress=False, **{**config, **kwargs})


@pytest.fixture(scope="module")
def of_linear():
    return run_linear().predictive


@pytest.mark.slow
def test_a_linear_network_has_its_gaussian_posterior_jointly(of_linear):
    found = of_linear
    mean, covariance = exact_functions(linear())
    sd = np.sqrt(np.diag(covariance))
    assert found.draws.shape == (len(found.steps), 8, 3) and len(found.steps) <= 256
    assert (np.abs(found.mean - mean) < 4 * found.mean_se).all() and (found.mean_se < sd / 5).all()
    # Relative errors of a variance and of a correlation from N independent normal draws: √(2/N) and (1 − ρ²)/√N.
    draws = float(found.ess.min())
    assert draws > 300 and (np.abs(found.sd**2 / sd**2 - 1) < 4 * math.sqrt(2 / draws)).all()
    correlation = covariance / np.outer(sd, sd)
    seen = np.corrcoef(found.draws.reshape(-1, 3).T)
    apart = ~np.eye(3, dtype=bool)
    assert np.abs(correlation[apart]).max() > 0.3, "the inputs are not independent"
    assert (np.abs(seen - correlation)[apart] < 4 / math.sqrt(draws)).all()
    # A quantile's standard error is √(q(1 − q)/N) over the density there.
    low, high = found.band_over_time(0.8)
    error = math.sqrt(0.09 / draws) / 0.1755
    assert (np.abs((low - mean) / sd + 1.2816) < 4 * error).all() and (
        np.abs((high - mean) / sd - 1.2816) < 4 * error
    ).all()
    assert (found.r_hat < 1.02).all() and found.weights_r_hat_max < 1.02 and found.loss_r_hat < 1.02


@pytest.mark.slow
def test_bands_at_an_iteration_are_not_those_over_time(of_linear):
    low, high = of_linear.band_across_chains(0.5, step=of_linear.steps[7] + 1)
    np.testing.assert_allclose(low, np.quantile(of_linear.draws[7], 0.25, axis=0))
    np.testing.assert_allclose(of_linear.band_across_chains(0.5)[1], np.quantile(of_linear.draws[-1], 0.75, axis=0))
    assert not np.allclose(high, of_linear.band_over_time(0.5)[1])
    np.testing.assert_allclose(of_linear.quantile(0.5), np.median(of_linear.draws.reshape(-1, 3), axis=0))
    for wrong in (0, 1, "x"):
        with pytest.raises(ValueError, match="level"):
            of_linear.band_over_time(wrong)


def test_convergence_is_that_of_each_trace():
    found = run_linear(steps=120, burn_in=20).predictive
    for p in range(3):
        assert found.r_hat[p] == convergence.r_hat(found.draws[:, :, p])
        assert found.ess[p] == convergence.ess(found.draws[:, :, p])
    of_weights = [convergence.r_hat(found.weights.values[:, :, p]) for p in range(3)]
    assert found.weights_r_hat_median == np.median(of_weights) and found.weights_r_hat_max == max(of_weights)
    assert "R-hat of f" in repr(found)


@pytest.mark.slow
def test_a_bayesian_network_has_its_exact_posterior_of_this_width():
    problem = BayesianNetwork((1, 12, 1), noise_variance=0.2)
    at = [-1.0, 0.0, 1.3]
    exact = finite_width(problem, at, draws=4000, method="importance")
    found = estimate(problem, "CollapsedPCN", chains=16, steps=900, burn_in=300, predict=at, progress=False).predictive
    error = np.hypot(found.mean_se, exact.sd / math.sqrt(exact.ess))
    assert (np.abs(found.mean - exact.mean) < 4 * error).all() and (error < exact.sd / 4).all()
    draws = min(float(found.ess.min()), exact.ess)
    assert (np.abs(found.sd / exact.sd - 1) < 4 / math.sqrt(draws)).all()
    assert np.abs(exact.mean).max() > 10 * error.max(), "the prior's mean would not do"


def test_the_weights_of_chains_count():
    """Step sizes that decay weigh the draws: by hand, and not as if they weighed the same."""
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 2e-3},
        gradient="full",
        chains=3,
        steps=400,
        burn_in=100,
        step_decay=0.6,
        n_beta=N_BETA,
        localization=PULL,
        dtype="float64",
        observables=[{"name": "Predictions", "inputs": AT}],
    )
    run = Run(config, linear())
    run.advance(400)
    found = run.estimates()[0].predictive
    weights = 1.0 * (found.steps + 101.0) ** -0.6
    by_hand = np.average(found.draws.mean(axis=1), axis=0, weights=weights)
    np.testing.assert_allclose(found.mean, by_hand, rtol=1e-9)
    assert np.abs(found.draws.mean(axis=(0, 1)) - by_hand).max() > 1e-4
    order = np.argsort(found.draws[:, :, 0].ravel())
    below = np.cumsum(np.repeat(weights, 3)[order])
    middle = found.draws[:, :, 0].ravel()[order][np.searchsorted(below, below[-1] / 2)]
    assert found.quantile(0.5)[0] == pytest.approx(middle)
    assert found.weights is None and math.isnan(found.weights_r_hat_max)


def test_particles_that_interact_are_one_draw():
    found = estimate(
        linear(),
        "SGLD",
        gradient="full",
        chains=8,
        steps=200,
        burn_in=100,
        interaction="SteinVariational",
        predict=AT,
        progress=False,
    )
    assert found.predictive.functions.group is not None and np.unique(found.predictive.functions.group).size == 1
    assert np.isnan(found.predictive.r_hat).all(), "one group has nothing to be compared with"


@pytest.mark.parametrize("method", ["dense", "vmap", "loop"])
def test_outputs_are_those_of_the_module(method):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 3))
    network = NetworkPotential(module, "squared_error", (torch.randn(9, 2), torch.randn(9, 3)), method=method, chunk=2)
    delta = 0.1 * torch.randn(4, network.dim, dtype=torch.float64)
    found = network.predict(delta, AT)
    at = torch.tensor(AT, dtype=torch.float64)
    moved = module.double()
    w0 = nn.utils.parameters_to_vector(moved.parameters()).detach().clone()
    for c in range(4):
        nn.utils.vector_to_parameters(w0 + delta[c], moved.parameters())
        torch.testing.assert_close(found[c], moved(at).detach(), rtol=1e-9, atol=1e-12)
    assert found.shape == (4, 3, 3) and not found.requires_grad


def test_several_outputs_and_named_or_weighted_inputs():
    found = estimate(linear(2), "SGLD", gradient="full", chains=2, steps=60, burn_in=30, predict=AT, progress=False)
    assert (
        found.predictive.mean.shape
        == (3, 2)
        == found.predictive.band_over_time()[0].shape
        == found.predictive.r_hat.shape
    )
    weighted = linear(2, sample_weights=torch.ones(40))
    assert weighted.predict(torch.zeros(1, weighted.dim), AT).shape == (1, 3, 2)


def test_nothing_is_said_of_functions_that_were_not_asked_for():
    assert estimate(Quadratic([1.0, 2.0]), "SGLD", steps=60, progress=False).predictive is None


@pytest.mark.slow
def test_dead_chains_are_left_out(of_linear):
    network = linear()
    config = RunConfig.from_dict({**of_config(), "chains": 4})
    run = Run(config, network)
    run.advance(60)
    with run._mode():
        run._state["delta"][1] = math.nan
    run.advance(60)
    found = run.estimates()[0]
    assert found.diverged == 1 and found.predictive.draws.shape[1] == 3 and np.isfinite(found.predictive.draws).all()


def of_config() -> dict:
    return {
        "sampler": {"name": "SGLD", "step_size": 1e-3},
        "gradient": "full",
        "steps": 120,
        "burn_in": 20,
        "observables": [{"name": "Predictions", "inputs": AT, "most": 64}],
    }


def test_memory_is_priced_before_a_run():
    network = linear(2)
    watched = RunConfig.from_dict({**of_config(), "chains": 4})
    grown = watched.replace(observables=[{"name": "Predictions", "inputs": AT * 1000, "most": 64}])
    more = memory_needed(grown, network)[0] - memory_needed(watched, network)[0]
    assert more == 4 * (4 * 64 * 4 * 2 * 3 * 999)  # bytes × (copies · most · chains · outputs · inputs)
    with pytest.raises(ValueError, match="observables out"):
        estimate(
            network,
            "SGLD",
            steps=20,
            observables=[{"name": "Predictions", "inputs": AT * 2000, "most": 99_999}],
            chains=9000,
        )


@pytest.mark.parametrize(
    ("network", "inputs", "said"),
    [
        (lambda: linear(), [1.0, 2.0], "give finite rows"),
        (lambda: linear(), [["a", "b"]], "give rows of numbers"),
        (lambda: linear(), [[math.nan, 1.0]], "only finite numbers"),
        (lambda: with_loss_fn(), AT, "has a loss_fn"),
        (lambda: of_tokens(), [[0.5, 1.0]], "whole numbers"),
        (lambda: of_two(), AT, "takes 2"),
    ],
)
def test_what_cannot_be_predicted_is_one_sentence(network, inputs, said):
    with pytest.raises(ValueError, match=said):
        estimate(network(), "SGLD", steps=20, predict=inputs, progress=False)


def with_loss_fn() -> NetworkPotential:
    x = torch.randn(9, 2)
    return NetworkPotential(
        nn.Linear(2, 1), data=(x, x[:, :1]), loss_fn=lambda model, batch: model(batch[0]).square().mean()
    )


def of_tokens() -> NetworkPotential:
    module = nn.Sequential(nn.Embedding(4, 3), nn.Flatten(), nn.Linear(6, 2))
    return NetworkPotential(module, "cross_entropy", (torch.randint(4, (9, 2)), torch.randint(2, (9,))))


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.of = nn.Linear(2, 1)

    def forward(self, a, b):
        return self.of(a + b)


def of_two() -> NetworkPotential:
    return NetworkPotential(Sum(), "squared_error", (torch.randn(9, 2), torch.randn(9, 2), torch.randn(9, 1)))


def test_tokens_have_outputs_too():
    network = of_tokens()
    assert network.predict(torch.zeros(2, network.dim), [[0, 1], [3, 2], [1, 1]]).shape == (2, 3, 2)
