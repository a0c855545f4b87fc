"""Blocked Gibbs sampling as a sampler of the engine: exact where the answer is known, from both starts, and the default."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llc_core import DeepLinearNetwork, RunConfig, estimate, landscape
from llc_core.engine.resolve import resolve
from llc_core.engine.run import Run
from llc_core.potentials.deep_linear.blocked_gibbs import BlockedGibbs
from llc_core.references.gibbs import gibbs_reference

ZEROS = DeepLinearNetwork([np.zeros((3, 3))] * 2, noise_std=0)
"""Its λ̂ at n = 10⁶, nβ = n / log n and γ = 1 is 3.4215, by quadrature over the singular values of both layers."""
EXACT = 3.4215
SMALL = DeepLinearNetwork.random(widths=[4, 3, 4], layer_ranks=[2, 2], seed=5)


def near(found: float, exact: float, error: float) -> bool:
    return abs(found - exact) < 4 * error


@pytest.mark.slow
def test_the_zero_network_is_read_as_quadrature_says_from_both_starts():
    found = estimate(ZEROS, "Gibbs", chains=12, steps=500, burn_in=100, progress=False)
    assert found.llc_se < 0.02 * EXACT, "too few draws for this test to mean anything"
    assert near(found.llc, EXACT, found.llc_se) and found.converged
    assert found.config.dtype == "float64" and np.isnan(found.diagnostics["step_size"])
    at_w0, far = found.trace[0, ::2], found.trace[0, 1::2]
    assert (at_w0 == 0).all() and (far > 100 * EXACT).all(), "every second chain begins at a draw of the localisation"
    for half in (found.per_chain[::2], found.per_chain[1::2]):
        assert near(half.mean(), EXACT, half.std(ddof=1) / len(half) ** 0.5)


@pytest.mark.slow
def test_draws_obey_the_identity_of_stein():
    """E[δ·∇U] = D for any distribution exp(−U) (integration by parts). At w0 = 0 the loss of two layers is homogeneous of degree 4,
    so that δ·∇U is 4·nβ·ΔL + γ‖δ‖²."""
    chains, burn_in, steps = 24, 40, 200
    run = Run(
        RunConfig(chains=chains, steps=burn_in + steps, burn_in=burn_in, sampler={"name": "Gibbs"}, seed=2), ZEROS
    )
    run.advance(burn_in)
    sums = np.zeros(chains)
    for _ in range(steps):
        square = np.square(run.displacements).sum(axis=1)
        sums += (4 * ZEROS.n_beta * run.advance(1).excess_loss[-1] + square) / steps
    error = sums.std(ddof=1) / chains**0.5
    assert error < 0.02 * ZEROS.dim and near(sums.mean(), ZEROS.dim, error)


def test_the_recorded_loss_is_that_of_the_place(monkeypatch):
    def last_difference() -> float:
        run = Run(RunConfig(chains=4, steps=6, burn_in=0, sampler={"name": "Gibbs"}), SMALL)
        worst = 0.0
        for _ in range(5):
            there = SMALL.excess_loss_and_grad(torch.from_numpy(run.displacements))[0].numpy()
            recorded = run.advance(1).excess_loss[-1]
            worst = max(worst, float(np.abs(recorded - there).max() / max(np.abs(there).max(), 1e-12)))
        return worst

    # ΔL is a sum of some 10² products of float64 numbers, a hundred times larger than itself at most.
    assert last_difference() < 1e4 * np.finfo(float).eps
    monkeypatch.setattr(BlockedGibbs, "_excess_loss", lambda self: 2 * torch.ones(self.chains, dtype=torch.float64))
    assert last_difference() > 1


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("field, values", [("localization", [0.5, 20.0]), ("n_beta", [200.0, 5000.0])])
def test_every_setting_of_a_grid_is_the_reference_at_that_setting(field, values):
    found = estimate(SMALL, "Gibbs", chains=24, steps=150, burn_in=50, grid={field: values}, progress=False)
    for one, value in zip(found, values, strict=True):
        exact = gibbs_reference(SMALL, chains=48, sweeps=150, burn_in=50, seed=7, **{field: value})
        assert near(one.llc, exact.llc, np.hypot(one.llc_se, exact.llc_se))


@pytest.mark.slow
def test_a_run_goes_on_and_its_observables_see_it():
    run = Run(RunConfig(chains=4, steps=60, sampler={"name": "Gibbs"}, functional_variance=5), SMALL)
    list(run)
    run.go_on()
    list(run)
    (found,) = run.estimates()
    assert found.steps == 120 and found.burn_in == 60
    assert np.isfinite(found.singular_fluctuation) and found.singular_fluctuation > 0


@pytest.mark.parametrize(
    "asked, chosen",
    [
        ({}, "Gibbs"),
        ({"localization": 3.0, "grid": {"n_beta": [10.0, 20.0]}}, "Gibbs"),
        ({"steps": 500}, "UnderdampedLangevin"),
        ({"localization": 0.0}, "UnderdampedLangevin"),
        ({"dtype": "float32"}, "UnderdampedLangevin"),
        ({"grid": {"step_size": [0.1]}}, "UnderdampedLangevin"),
        ({"gradient": "minibatch"}, "SGLD"),
    ],
)
def test_exact_draws_are_the_default_where_they_can_be_made_and_steps_are_left_open(asked, chosen):
    assert resolve(RunConfig(**asked), SMALL).sampler.name == chosen


@pytest.mark.parametrize(
    "asked, words",
    [
        ({"gradient": "minibatch"}, ["gradient='full'"]),
        ({"localization": 0.0}, ["localization", "0"]),
        ({"dtype": "float32"}, ["dtype", "float64"]),
        ({"grid": {"step_size": [0.1]}}, ["grid", "step_size"]),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(asked, words):
    with pytest.raises(ValueError) as said:
        resolve(RunConfig(sampler={"name": "Gibbs"}, **asked), SMALL)
    assert all(word in str(said.value) for word in words) and "\n" not in str(said.value)


def test_a_problem_without_such_laws_is_refused():
    with pytest.raises(ValueError, match="exact conditional distributions.*UnderdampedLangevin"):
        resolve(RunConfig(sampler={"name": "Gibbs"}), landscape("quartic"))


@pytest.mark.slow
def test_chains_of_a_deep_network_begin_where_rounding_lets_them_come_home(monkeypatch):
    """At draws of the localising Gaussian its loss is so large that the next sweeps would leave nothing finite."""
    rng = np.random.default_rng(0)
    deep = DeepLinearNetwork([rng.standard_normal((40, 40)) / np.sqrt(40) for _ in range(22)], seed=1, n=1000)
    config = RunConfig(chains=4, steps=6, burn_in=0, sampler={"name": "Gibbs"})
    run = Run(config, deep)
    run.advance(6)
    losses = run._stepper._loss.numpy()
    assert (losses > 0).all() and losses.max() < 1.5 * losses.min()  # those from far away are where the others are
    monkeypatch.setattr("llc_core.engine.stepping.exact_draws.FARTHEST", 1e7)
    with pytest.raises(ValueError, match="overflow"):
        Run(config, deep).advance(6)
