"""What an estimate says of a value that is known by other means, and what its trace's own distribution says of it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import OrderedDict

import numpy as np
import pytest
import torch
from cases import few

from llc_core import SGLD, DeepLinearNetwork, Estimate, Run, RunConfig, estimate, landscape, planar_landscape
from llc_core.compute.precision import EXACT
from llc_core.diagnostics import confirmation
from llc_core.diagnostics.conclusion import conclude
from llc_core.diagnostics.confirmation import LARGEST_DRAWN, draw_together, drawn_value, exact_value
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.minimum import variance_differs
from llc_core.diagnostics.signals import health
from llc_core.diagnostics.verdict import judge
from llc_core.engine.summary import Chains, make_estimate
from llc_core.verdicts import Trust


@pytest.fixture(scope="module")
def plane() -> Estimate:
    return estimate(planar_landscape("quadratic"), SGLD(step_size=3e-4), chains=4, steps=4000)


@pytest.fixture(scope="module")
def noisy() -> Estimate:
    """Data so noisy that L_n goes far below L_n(w0): λ = 8, and the posterior's mean of nβ·ΔL is near −33."""
    problem = DeepLinearNetwork.random(widths=[4, 4, 4], layer_ranks=[2, 2], n=10_000, noise_std=5.0, seed=1)
    return estimate(problem, steps=1000)


def own_law(found: Estimate):
    return next(sign for sign in health(found) if sign.name == "spread")


def test_an_exact_value_confirms_or_refutes(plane):
    assert plane.reference == plane.expected and plane.confirmed is True
    far = plane.reference * 1.05 + 4 * plane.llc_se
    assert dataclasses.replace(plane, llc=far).confirmed is False
    within = plane.reference + 2.9 * plane.llc_se
    assert dataclasses.replace(plane, llc=within).confirmed is True
    assert dataclasses.replace(plane, llc_se=math.nan, llc=plane.reference * 1.06).confirmed is False
    assert dataclasses.replace(plane, llc=math.nan).confirmed is None
    rough = dataclasses.replace(plane, reference_se=0.06 * plane.reference)
    assert rough.confirmed is None, "a reference known to 6% cannot say so"
    assert json.loads(plane.to_json())["confirmed"] is True


def test_what_confirms_is_documented_with_its_own_limits():
    assert f"up to {LARGEST_DRAWN:,} parameters" in " ".join(str(Estimate.confirmed.__doc__).split())


def test_a_formula_for_large_n_confirms_nothing():
    network = DeepLinearNetwork.random(widths=[3, 2, 3], n=10_000, seed=0)
    assert math.isnan(exact_value(network, network.n_beta, 1.0))
    layer = DeepLinearNetwork.random(widths=[3, 3], n=10_000, seed=0)
    assert exact_value(layer, layer.n_beta, 1.0) == layer.expected_llc_of_data()
    line = landscape("normal")
    assert exact_value(line, 1.0, 0.0) == pytest.approx(0.5, abs=1e-6)
    assert math.isnan(exact_value(line, 1.0, 2.0)), "its quadrature leaves the localisation out"


def test_noise_that_is_fitted_is_named_and_shows_in_the_own_law(noisy, plane):
    assert noisy.llc < -20 and "fits the noise of the data" in noisy.converged.reason
    assert "estimate at the minimum of L_n" in noisy.converged.remedy and "w0 may" not in str(noisy.converged)
    sign = own_law(noisy)
    assert sign.note and sign.ok and sign.value < 0 and "fits noise" in sign.sentence
    kept = noisy.trace[noisy.trace_steps >= noisy.burn_in]
    assert kept.var() == pytest.approx(8, rel=0.3), "the noise leaves the variance, which is λ"
    usual = own_law(plane).sentence
    assert usual.endswith(f"variance over mean is {own_law(plane).value:.2f}, and 0.3 to 3 is usual.")
    quiet = own_law(plane)
    assert not quiet.note and quiet.value == pytest.approx(1, abs=0.3)


def test_the_own_law_says_what_the_verdict_says_of_mean_and_variance(plane):
    def own(gap: float, gap_se: float):
        known = dataclasses.replace(plane.evidence, llc=50.0, gap=gap, gap_se=gap_se)
        found = own_law(dataclasses.replace(plane, evidence=known))
        assert found.note == (variance_differs(known) is not None)
        return found.sentence

    assert "the mean of the losses says 50, their variance 56 ± 1. So w0 is no minimum" in own(-6.0, 1.0)
    assert "varies as it should" in own(-6.0, 2.1) and "varies roughly as it should" in own(math.nan, math.nan)


def settled(mean: float, n_beta: float = 1.0) -> Chains:
    """Four chains that agree, with independent values of nβ·ΔL around `mean`."""
    trace = np.random.default_rng(0).gamma(mean, size=(4000, 4))
    return Chains(
        per_chain=trace.mean(axis=0), living=np.ones(4, dtype=bool), trace=trace, trace_steps=np.arange(4000),
        n_beta=n_beta, localization=1.0, steps=4000, burn_in=0, seconds=1.0, steps_per_second=1.0,
    )  # fmt: skip


def test_the_verdict_hears_of_the_law(plane):
    """What is measured of the sampler's distribution and of the distance reaches the verdict."""
    seen = settled(50.0)
    problem = DeepLinearNetwork.random(widths=[3, 2, 3], n=10_000, seed=0)

    def reason(**known) -> str:
        return make_estimate(problem, plane.config, seen, Evidence(**known)).converged.reason

    assert "have settled" in reason()
    assert "not known here" in reason(exact_law=False)
    assert "bias is measured to make up about 10%" in reason(law_bias=5.0, law_bias_se=0.2)


@pytest.fixture(scope="module")
def singular() -> DeepLinearNetwork:
    """w0 = 0 with population loss: its exact value at nβ = 10⁵/log 10⁵ and γ = 1 is 3.4215, by quadrature."""
    return DeepLinearNetwork(weights=[np.zeros((3, 3))] * 2, noise_std=0, n=10**5)


@pytest.mark.slow
def test_exact_draws_give_what_quadrature_gives(singular):
    value, error = drawn_value(singular, singular.n_beta, 1.0)
    assert 0 < error < 0.04 * 3.4215
    assert abs(value - 3.4215) < 4 * error
    assert drawn_value(singular, singular.n_beta, 1.0) == (value, error)
    assert math.isnan(drawn_value(singular, singular.n_beta, 0.0)[0]), "without localisation there is no proper law"
    assert math.isnan(drawn_value(singular, singular.n_beta, 1.0, largest=10)[0]), "too large to draw from"
    assert math.isnan(drawn_value(landscape("normal"), 1.0, 1.0)[0])


@pytest.mark.slow
def test_draws_of_several_laws_at_once_are_those_of_each_alone(monkeypatch):
    """The same random numbers: only the order of sums differs, and what the accepted moves make of it."""
    network = DeepLinearNetwork.random(widths=[3, 2, 3], layer_ranks=[1, 1], n=10_000, seed=4)
    laws = [(100.0, 1.0), (1000.0, 1.0), (1000.0, 1000.0)]
    n_betas, pulls = (
        torch.tensor(values, **EXACT).repeat_interleave(2).unsqueeze(1) for values in zip(*laws, strict=True)
    )
    together = network.conditionals(n_betas, pulls, 5, True, companies=3)
    first = [together.move(adapt=True) for _ in range(2)]
    for i, law in enumerate(laws):
        mine = slice(2 * i, 2 * i + 2)
        alone = network.conditionals(n_betas[mine], pulls[mine], 5, True)
        for losses in first:
            assert losses[mine].numpy() == pytest.approx(alone.move(adapt=True).numpy(), rel=1e-9), law

    monkeypatch.setattr(confirmation, "_known", OrderedDict())
    each = [drawn_value(network, *law) for law in laws[:2]]
    monkeypatch.setattr(confirmation, "_known", OrderedDict())
    draw_together(network, [*laws, (50.0, 0.0)])
    monkeypatch.setattr(confirmation, "_draw", None)  # all of them are remembered
    for (value, error), law in zip(each, laws, strict=False):
        found, found_se = drawn_value(network, *law)
        assert abs(found - value) < 0.01 * error and found_se == pytest.approx(error, rel=0.01)
    assert drawn_value(network, *laws[2])[0] < 0.9 * each[1][0], "a strong pull takes from the estimate"


@pytest.mark.slow
def test_chains_that_agree_with_one_another_alone_are_not_trusted(singular, plane):
    """Chains that begin at w0 and do not travel out along the flat valleys: R-hat 1.00, thousands of draws, 9% low."""
    value, error = drawn_value(singular, singular.n_beta, 1.0)
    for factor, trusted in ((1.0, True), (0.91, False), (1.1, False)):
        mean = factor * value + (math.copysign(3 * error, factor - 1) if factor != 1 else 0)
        seen = settled(mean, singular.n_beta)
        by_signs = make_estimate(singular, plane.config, seen)
        assert by_signs.converged and by_signs.confirmed is None
        found = make_estimate(singular, plane.config, seen, largest_drawn=singular.dim)
        assert bool(found.converged) is trusted is found.confirmed
        guessing = conclude(found, with_answers=False)
        assert (
            guessing.kind is Trust.ALONE and f"{value:.4g}" not in str(guessing) and "exact draws" not in str(guessing)
        )
        assert (
            conclude(found).kind == (Trust.CONFIRMED if trusted else Trust.REFUSED) and not conclude(by_signs).trusted
        )
        assert ("exact draws" in str(found.converged)) and f"{value:.4g}" in str(found.converged)
        assert (found.reference, found.reference_se) == (value, error)
    assert found.converged.reason.count("above") == 1 and not found.converged.wants_steps


NOT_SPREAD = {"unspread": 31.0, "unspread_se": 2.0, "pull": 0.02, "localization": 1.0, "parameters": 400}


@pytest.mark.parametrize("doubt", [{"r_hat": 1.2}, {"exact_law": False}, {"step_bias": 5.0}, NOT_SPREAD])
def test_a_doubt_that_an_answer_settles_reads_the_same_with_the_answer_hidden(plane, doubt):
    known = {"llc": 50.0, "se": 0.5, "chains": 4, "kept_steps": 4000, "drift": 0.1, "drift_se": 0.2, **doubt}
    open_, settled_, refuted_ = (
        dataclasses.replace(plane, converged=judge(evidence), evidence=evidence)
        for evidence in (Evidence(**known, reference=value) for value in (math.nan, 50.3, 60.0))
    )
    hidden = [conclude(each, with_answers=False) for each in (open_, settled_, refuted_)]
    assert hidden[0].reason == hidden[1].reason == hidden[2].reason and len({each.kind for each in hidden}) == 1
    assert hidden[0] == hidden[1] == hidden[2]
    assert "17% below what it should be" in str(conclude(refuted_)) and not conclude(refuted_).trusted
    assert (
        conclude(settled_).kind is Trust.CONFIRMED and "50.3" in str(conclude(settled_)) and not conclude(open_).trusted
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler, steps", few([("SGLD", 4000), ("UnderdampedLangevin", 4000), ("HMC", 400)], 1, unpack=True)
)
def test_chains_that_have_not_arrived_are_never_trusted_wrong(sampler, steps):
    """Five layers of 2,098 parameters. Exact draws give 137; chains that begin at w0 agree with one another at 125 to 129."""
    network = DeepLinearNetwork.random("1K", "paper", seed=200)
    found = estimate(network, sampler, steps=steps, progress=False)
    exact, error = drawn_value(network, found.n_beta, 1.0)
    assert 132 < exact < 142 and error < 1
    right = abs(found.llc - exact) <= max(0.05 * exact, 3 * math.hypot(found.llc_se, error))
    assert right or not found.converged
    assert not found.converged or found.confirmed, "where exact draws can be made, none is trusted without them"


@pytest.mark.slow
@pytest.mark.long
def test_draws_are_made_for_a_finished_run_that_they_would_decide(singular, monkeypatch):
    asked = []

    def recorded(problem, n_beta, localization, largest):
        asked.append((n_beta, localization))
        return math.nan, 0.0

    monkeypatch.setattr("llc_core.engine.summary.drawn_value", recorded)
    config = RunConfig(problem=singular.to_dict(), sampler={"name": "SGLD"}, steps=64, chains=2)
    run = Run(config, singular)
    run.advance(63)
    run.estimates()
    assert not asked, "the run is not finished"
    run.advance(1)
    assert not run.estimates()[0].converged and not asked, "it is refused without them"
    exact = Run(config.replace(sampler={"name": "Gibbs"}, steps=1600), singular)
    exact.advance(1600)
    assert exact.estimates()[0].converged and not asked, "draws need no draws"
    monkeypatch.setattr("llc_core.engine.summary.worth_an_answer", lambda evidence: True)
    run.estimates(0)
    assert not asked
    run.estimates()
    assert asked == [(pytest.approx(singular.n_beta, rel=1e-6), 1.0)], "the nβ of a run in single precision"
