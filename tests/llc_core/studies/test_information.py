"""ν, WBIC, WAIC, temperatures, reweighting and the second loss: against exact normal posteriors and quadrature."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings

import numpy as np
import pytest
import torch

from llc_core import (
    HMC,
    SGLD,
    DeepLinearNetwork,
    RunConfig,
    debiased,
    estimate,
    generalisation,
    gibbs_generalisation,
    planar_landscape,
    posterior,
    reweight,
    reweighted,
    temperature_llc,
    waic,
    wbic,
)
from llc_core.engine.run import Run
from llc_core.observables import Group, Look, RunShape
from llc_core.observables.functional_variance import FunctionalVariance
from llc_core.types import Polish

torch.set_num_threads(1)
POLISHED = Polish(0.1, 0.1, 0.1, 1.0, 1.0, 0.0, 0.0, 9, True, "w0 was moved.")
REGULAR = {"name": "quadratic", "scales": [1.0, 0.5]}


def regular(n_sets: int = 100, **values):
    return planar_landscape(**REGULAR, data_sets=n_sets, **values)


@pytest.fixture(scope="module")
def measured():
    """HMC on 100 data sets at four temperatures: exact up to its standard error."""
    problem = regular()
    n_beta = problem.n_beta
    results = estimate(
        problem,
        HMC(step_size=0.03),
        chains=200,
        steps=400,
        burn_in=100,
        localization=1e-3,
        functional_variance=3,
        grid={"n_beta": [n_beta / 2, n_beta, 2 * n_beta]},
    )
    return problem, results


# -- the distributions ---------------------------------------------------------------------------------------------------------


def exact_losses(beta: float, n: int = 400, sets: int = 60_000, s: float = 0.5) -> np.ndarray:
    """n·(mean over data sets of B_t, G_t, B_g, G_g − L(w0)) of y = w·x + noise with truth 0, all in closed form.

    Given the data the posterior is N(m, v): losses of one sample are averaged over the posterior exactly, and over new or
    the same samples by their moments up to order 1/n.
    """
    rng = np.random.default_rng(0)
    a = rng.chisquare(n, sets) / n  # mean of x²
    b = rng.standard_normal(sets) * np.sqrt(a / n) * s  # mean of x·y given the x
    m, v = b / a, s**2 / (beta * n * a)
    g_t = (a * (m**2 + v) - 2 * b * m) / (2 * s**2)
    g_g = (m**2 + v) / (2 * s**2)
    # −log E_w p = ½log(1 + x²v/s²) + (y − mx)²/(2(s² + x²v)): expanded to first order in v
    r_t, r_g = s**2 + a * m**2 - 2 * b * m, s**2 + m**2
    shrink = v / (2 * s**2)
    b_t = (a * m**2 - 2 * b * m) / (2 * s**2) + shrink * (1 - r_t / s**2)
    b_g = m**2 / (2 * s**2) + shrink * (1 - r_g / s**2)
    return n * np.array([b_t.mean(), g_t.mean(), b_g.mean(), g_g.mean()])


@pytest.mark.parametrize("beta", [1.0, 0.2])
def test_the_four_losses_are_those_of_an_exact_regression(beta):
    law = generalisation(0.5, 0.5, 400, beta)
    told = 400 * np.array([law.bayes_training, law.gibbs_training, law.bayes_generalisation, law.gibbs_generalisation])
    assert told == pytest.approx(exact_losses(beta), abs=0.03)
    wrong = 400 * np.array([0, 0, 0, generalisation(0.5, 0.5, 400, 1.0).gibbs_generalisation])
    if beta != 1:
        assert abs(wrong[3] - exact_losses(beta)[3]) > 1, "the β = 1 form is not that of other temperatures"


def test_the_laws_at_beta_one_have_the_books_form():
    law = generalisation(0.3, 0.7, 100, loss=2.0)
    assert law.bayes_generalisation == pytest.approx(2 + 0.3 / 100)
    assert law.gibbs_generalisation == pytest.approx(2 + (0.3 + 0.7) / 100)
    assert law.bayes_generalisation - law.bayes_training == pytest.approx(2 * 0.7 / 100)
    with pytest.raises(ValueError, match="beta is 0"):
        generalisation(0.3, 0.7, 100, beta=0)


# -- singular fluctuation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_streamed_variance_is_that_of_the_stored_losses(monkeypatch, decay):
    monkeypatch.setattr("llc_core.observables.look.ROWS", 300)  # several chunks of samples
    problem = DeepLinearNetwork.random(widths=[3, 2], n=500, seed=0)
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 1e-6},
        chains=3,
        steps=60,
        burn_in=20,
        functional_variance=4,
        step_decay=decay,
        dtype="float64",
    )
    run, losses, weights = Run(config, problem), [], []
    for step in range(60):
        if step >= 20 and (step - 20) % 4 == 0:
            losses.append(problem.per_sample_loss(run.state["delta"], 0, 500).numpy())
            weights.append((step + 1.0) ** -decay)
        run.advance(1)
    per_chain = np.stack([np.cov(np.array(losses)[:, c].T, aweights=weights, bias=True).trace() for c in range(3)])
    within = run._record.observers.variance
    assert (within.squares.sum(dim=1) / within.weight).numpy() == pytest.approx(per_chain)
    pooled = np.concatenate([np.array(losses)[:, c] for c in range(3)])
    expected = np.cov(pooled.T, aweights=np.tile(weights, 3), bias=True).trace()
    beta = problem.n_beta / problem.n
    assert run.estimates()[0].singular_fluctuation == pytest.approx(beta / 2 * expected)
    # memory does not grow with the steps
    assert within.means.shape == within.squares.shape == (3, 500)


def check_fluctuation(result, exact, factor=1.0):
    assert abs(factor * result.singular_fluctuation - exact) < 4 * result.singular_fluctuation_se + 0.01, (
        result.singular_fluctuation,
        exact,
    )
    assert result.singular_fluctuation_se < 0.1 * exact


@pytest.mark.slow
def test_nu_is_that_of_quadrature(measured):
    problem, results = measured
    for result in results:
        exact = posterior(problem, result.n_beta, 1e-3).singular_fluctuation.mean()
        check_fluctuation(result, exact)
        with pytest.raises(AssertionError):
            check_fluctuation(result, exact, factor=2.0)  # β in place of β/2


@pytest.mark.slow
def test_nu_of_one_singular_data_set_with_its_error():
    problem = planar_landscape("normal_crossing", k=[1, 2], n=400)
    result = estimate(problem, HMC(step_size=0.05), chains=32, steps=800, functional_variance=4)
    check_fluctuation(result, float(posterior(problem).singular_fluctuation[0]))
    said = repr(result)
    assert f"λ̂ + βν̂ = {debiased(result)[0]:.4g}" in said, "beside ν̂ stands what follows from it"
    assert f"WAIC {waic(result):.5g} per sample and WBIC {wbic(result):.6g}" in said
    assert "WBIC" not in repr(dataclasses.replace(result, n_beta=result.n_beta / 2)), "it is defined at n/log n alone"
    assert "λ̂ + βν̂" not in repr(dataclasses.replace(result, polished=POLISHED)), "w0 is then no true parameter"
    assert "ν̂" in said and json.loads(result.to_json())["singular_fluctuation"] > 0


@pytest.mark.slow
def test_nu_of_a_regular_network():
    """One layer, squared error without ½: ν = d/2 · 2·noise_std² with p := exp(−loss)."""
    problem = DeepLinearNetwork.random(widths=[4, 3], n=4000, seed=0)
    result = estimate(problem, chains=8, steps=3000, functional_variance=10)
    assert abs(result.singular_fluctuation - 6 * 0.5) < 4 * result.singular_fluctuation_se + 0.15
    assert result.diagnostics["distance"] > 0


def test_dead_chains_are_left_out_of_nu():
    problem = planar_landscape("normal_crossing", k=[0, 1])
    watch = FunctionalVariance()
    watch.begin(RunShape(problem, None, 3, 1, torch.float64, torch.device("cpu")))
    ones = torch.ones(3, dtype=torch.float64)
    for w in (-0.1, 0.0, 0.1, 0.05):
        delta = torch.tensor([[0, w], [0, -w], [0, math.nan]]).double()
        watch.look(Look(0, 1.0, slice(None), delta, ones, problem))
    good = watch.mean(Group(slice(None), np.array([True, True, False]), 0.1 * problem.n))
    assert good.value > 0 and math.isfinite(good.se)
    assert math.isnan(watch.mean(Group(slice(None), np.array([False] * 3), 0.1 * problem.n)).value)


# -- criteria ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_wbic_waic_and_the_debiased_coefficient(measured):
    problem, results = measured
    at = results[1]
    exact = posterior(problem, at.n_beta, 1e-3)
    assert wbic(at) == pytest.approx(
        problem.n * problem.baseline_loss + exact.llc.mean() * math.log(1000), abs=4 * at.llc_se * math.log(1000)
    )
    value, error = debiased(at)
    assert abs(value - 1.0) < 4 * error + 0.02, "λ of two regular directions, without −β·ν"
    assert at.llc < 1.0 - 0.05, "λ̂ itself is lower by β/2 for each direction"
    law = generalisation(1.0, 1.0, problem.n, at.n_beta / at.n, problem.baseline_loss)
    # WAIC has L_n(w0) in place of L(w0), and the −βν of the training data; both sides are means over data sets
    beta = at.n_beta / at.n
    slack = 4 * (at.llc_se / at.n_beta + at.singular_fluctuation_se * (1 / at.n_beta + 2 / at.n)) + 2e-5
    assert waic(at) == pytest.approx(law.bayes_generalisation, abs=slack)
    assert gibbs_generalisation(at) == pytest.approx(law.gibbs_generalisation, abs=slack)
    assert abs(waic(at) - law.gibbs_generalisation) > 1 / at.n_beta / 2, (slack, beta)
    with pytest.raises(ValueError, match="WBIC is defined at"):
        wbic(results[0])
    plain = estimate(regular(4), HMC(), steps=64)
    with pytest.raises(ValueError, match="functional_variance"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        waic(plain)


# -- temperatures -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_slope_over_temperatures_has_no_bias_of_the_training_data(measured):
    problem, results = measured
    found = temperature_llc(results)
    assert abs(found.llc - 1.0) < 4 * found.llc_se + 0.01 and found.llc_se < 0.1
    assert found.intercept == pytest.approx(-1.0, abs=4 * found.llc_se * 7 + 0.1), "−ν"
    two = temperature_llc(results[:2])
    by_hand = (results[0].llc * two.inverse_beta[0] - results[1].llc * two.inverse_beta[1]) / (
        two.inverse_beta[0] - two.inverse_beta[1]
    )
    assert two.llc == pytest.approx(by_hand)
    exact = [
        posterior(problem, r.n_beta, 1e-3).llc.mean() * x for r, x in zip(results, found.inverse_beta, strict=True)
    ]
    slope = np.polyfit(found.inverse_beta, exact, 1)[0]
    assert found.llc == pytest.approx(slope, abs=4 * found.llc_se)
    with pytest.raises(ValueError, match="two or more"):
        temperature_llc(results[:1])
    with pytest.raises(ValueError, match="same n_beta"):
        temperature_llc([results[0], results[0]])


@pytest.mark.slow
def test_one_chain_seen_at_another_temperature():
    problem = planar_landscape("normal_crossing", k=[1, 2])
    result = estimate(problem, HMC(step_size=0.05), chains=48, steps=1000)
    for factor in (0.7, 1.5):
        other = factor * problem.n_beta
        seen = reweighted(result, other)
        exact = float(posterior(problem, other).llc[0])
        assert abs(seen.llc - exact) < 4 * seen.llc_se + 0.005 and seen.llc_se < 0.05 * exact
        assert not seen.reason and 50 < seen.ess <= result.ess
    kept = result.trace[result.trace_steps >= result.burn_in]
    same = reweight(kept, result.n_beta, result.n_beta)
    assert same.llc == pytest.approx(result.llc, rel=1e-6) and same.weight_share == pytest.approx(1)
    wrong = reweight(kept, result.n_beta, 0.5 * problem.n_beta).llc
    exact = float(posterior(problem, 1.5 * problem.n_beta).llc[0])
    assert abs(wrong / 0.5 * 1.5 - exact) > 0.05, "weights of the wrong sign would be seen"


def test_too_far_a_reweighting_says_so():
    rng = np.random.default_rng(0)
    trace = rng.gamma(50.0, size=(400, 4))
    with pytest.warns(UserWarning, match="effective draws"):
        seen = reweight(trace, 100.0, 400.0)
    assert seen.ess < 50 and "too far apart" in seen.reason
    with pytest.raises(ValueError, match="finite throughout"):
        reweight(np.full((10, 2), np.nan), 1.0, 2.0)


def test_reweighting_a_gamma_law_is_exact():
    """nβ·ΔL ~ Gamma(λ) at every nβ for a regular model: λ̂ must not change with temperature."""
    rng = np.random.default_rng(1)
    seen = reweight(rng.gamma(2.0, size=(4000, 20)), 100.0, 130.0)
    assert abs(seen.llc - 2.0) < 4 * seen.llc_se < 0.1
    each = reweight(rng.gamma(2.0, size=(4000, 20)), 100.0, 130.0, pool=False)
    assert abs(each.llc - 2.0) < 4 * each.llc_se < 0.1


# -- a second loss ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_loss_is_averaged_along_the_same_chains():
    """Sampling on data A, observing data B: exact for a normal posterior."""
    first, second = (planar_landscape("quadratic", scales=[1.0], data_sets=100, seed=s) for s in (0, 1))
    result = estimate(first, HMC(step_size=0.03), chains=100, steps=800, observable=second, observe_every=5)
    (a, b), (a2, b2) = ((-2 * p.data.mean[:, 1], p.data.mean[:, 0]) for p in (first, second))
    precision = first.n_beta * a + 1
    mean, variance = first.n_beta * b / precision, 1 / precision
    exact = first.n_beta * (a2 / 2 * (mean**2 + variance) - b2 * mean)
    difference = result.observed_per_chain - exact
    assert abs(difference.mean()) < 4 * difference.std() / 10 and difference.std() < 0.3
    assert abs((result.per_chain - exact).mean()) > 8 * difference.std() / 10, "not the loss of the first data"
    assert result.observed_llc == pytest.approx(result.observed_per_chain.mean())
    same = estimate(first, HMC(step_size=0.03), chains=100, steps=60, observable=first, observe_every=1)
    assert same.observed_per_chain == pytest.approx(same.per_chain, rel=1e-6)


def test_configurations_with_a_second_loss_travel():
    first, second = regular(2), regular(2, seed=5)
    values = {"observable": second.to_dict(), "functional_variance": 3, "observe_every": 7, "steps": 40, "chains": 2}
    config = RunConfig.from_json(RunConfig(problem=first.to_dict(), **values).to_json())
    results = []
    for run in (Run(config), Run(config.replace(observable=None), first, second)):
        run.advance(40)
        results.append(run.estimates()[0])
    assert results[0].observed_llc == results[1].observed_llc and math.isfinite(results[0].observed_llc)
    assert results[0].config == results[1].config
    pytest.importorskip("xarray")
    assert results[0].to_dataset()["observed_llc"] == results[0].observed_llc


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: RunConfig(functional_variance=0), ["functional_variance", "0", "1"]),
        (lambda: RunConfig(observe_every=1.5), ["observe_every", "1.5"]),
        (lambda: RunConfig(observable=3), ["observable", "int"]),
        (lambda: Run(RunConfig(), regular(1), planar_landscape("quadratic", scales=[1])), ["observable", "1", "2"]),
        (lambda: Run(RunConfig(), regular(1), "other"), ["observable", "str"]),
        (
            lambda: Run(RunConfig(problem={"kind": "landscape", "name": "normal"}, functional_variance=2)),
            ["functional_variance", "landscape"],
        ),
        (
            lambda: Run(RunConfig(chains=100_000, functional_variance=2), planar_landscape("quadratic", n=10**6)),
            ["functional_variance", "GiB", "fewer chains"],
        ),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.slow
def test_sgld_and_nu_side_by_side_on_many_data_sets():
    problem = planar_landscape("normal_crossing", k=[1, 1], data_sets=100)
    result = estimate(
        problem, SGLD(step_size=5e-4), chains=100, steps=4000, burn_in=0, functional_variance=20, dtype="float64"
    )
    exact = posterior(problem)
    assert (
        abs(result.singular_fluctuation - exact.singular_fluctuation.mean()) < 3 * result.singular_fluctuation_se + 0.04
    )
    assert abs(result.llc - exact.llc.mean()) < 3 * result.llc_se + 0.04
