"""The split of an error: it adds up, it names the planted cause, and it says what switching that cause off changes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from cases import few

from lab.benchmarks.verdicts.why import Case, cases
from llc_core import (
    HMC,
    PSGLD,
    SGHMC,
    SGLD,
    AdamSGLD,
    DeepLinearNetwork,
    Estimate,
    Run,
    RunConfig,
    estimate,
    landscape,
)
from llc_core.samplers import samplers
from llc_core.studies.explain import comparisons, references
from llc_core.studies.explain.parts import CAUSES, Explanation
from llc_core.studies.explain.split import explain, explaining

pytestmark = pytest.mark.usefixtures("no_draws")
"""A split has a reference of its own, and nothing here reads a verdict."""
SHARP = 0.25
"""The error bars of a planted part and of the change must be below this share of it, or the comparison says nothing."""
CASES = cases()


@pytest.fixture(scope="module")
def small() -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=[3, 2], n=2000, seed=0)


@pytest.fixture
def few_sweeps(monkeypatch):
    monkeypatch.setattr(references, "FEWEST_SWEEPS", 40)


def assert_adds_up(split: Explanation, found: Estimate) -> None:
    assert sum(part.value for part in split.parts) == pytest.approx(split.total, abs=1e-9)
    assert split.total == pytest.approx(found.llc - split.truth)
    assert math.sqrt(split.covariance.sum()) == pytest.approx(split.total_se)
    assert np.sqrt(np.diag(split.covariance)) == pytest.approx([part.se for part in split.parts])
    causes = [cause for part in split.parts for cause in part.causes if cause != "law"]
    assert causes == sorted(causes, key=list(CAUSES).index)


def check(case: Case, seed: int = 0) -> None:
    """The planted cause is the largest part, and as large as the change seen when it alone is switched off."""
    found = case.estimate(seed)
    split = explain(found, case.problem)
    assert_adds_up(split, found)
    assert split.total_se == pytest.approx(found.llc_se)
    assert split.dominant.name == case.cause, split
    off = case.estimate_without(seed + 1000)
    value, se = case.planted(split)
    change, change_se = found.llc - off.llc, math.hypot(found.llc_se, off.llc_se)
    assert max(se, change_se) < SHARP * abs(change), (se, change_se, change)
    assert abs(value - change) < 3.5 * math.hypot(se, change_se), (value, se, change, change_se)


@pytest.mark.slow
@pytest.mark.parametrize("name", few(CASES, 5))
def test_the_split_names_the_planted_cause_and_its_size(name):
    check(CASES[name])


@pytest.mark.slow
def test_planted_bug_wrong_order_of_the_step_size_is_caught(monkeypatch):
    monkeypatch.setattr(SGLD, "order", 2)
    with pytest.raises(AssertionError):
        check(CASES["large step"])


@pytest.mark.slow
def test_planted_bug_gradients_that_stay_noisy_are_caught(monkeypatch):
    def noisy(config: RunConfig, problem: DeepLinearNetwork) -> Run:
        return Run(config.replace(gradient="minibatch", batch_size=60), problem)

    monkeypatch.setattr(comparisons, "Run", noisy)
    with pytest.raises(AssertionError):
        check(CASES["noisy gradients"])


@pytest.mark.slow
def test_planted_bug_law_held_against_itself_is_caught(monkeypatch):
    monkeypatch.setattr(comparisons, "with_right_distribution", lambda sampler, step: sampler)
    with pytest.raises(AssertionError):
        check(CASES["moving metric"])


@pytest.mark.slow
def test_planted_bug_reference_without_the_prior_is_caught(monkeypatch):
    right = references.BlockedGibbs
    monkeypatch.setattr(
        references, "BlockedGibbs", lambda p, chains, n_beta, gamma, seed: right(p, chains, n_beta, 1.0, seed)
    )
    with pytest.raises(AssertionError):
        check(CASES["prior too strong"])


@pytest.mark.slow
def test_step_size_part_of_a_regression_is_the_closed_form():
    """SGLD on a quadratic of curvatures c: λ̂ is too large by Σ ½·a/(1 − a), a = εc/4."""
    case = CASES["large step"]
    found = case.estimate(5)
    part = explain(found, case.problem)["step_size"]
    spectrum = np.linalg.eigvalsh(case.problem.data.sxx.numpy())
    a = found.diagnostics["step_size"] * (2 * found.n_beta * spectrum + 1) / 4
    exact = case.problem.widths[-1] * (a / (1 - a)).sum() / 2
    assert part.se < 0.1 * exact
    assert abs(part.value - exact) < 3 * part.se


def test_every_stage_adds_up_and_splits_what_the_one_before_held(small, few_sweeps):
    found = estimate(small, SGLD(), gradient="minibatch", batch_size=20, chains=6, steps=300, progress=False)
    stages = list(explaining(found, small))
    for stage in stages:
        assert_adds_up(stage, found)
    shares = [stage.share for stage in stages]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert all(stage.doing for stage in stages[:-1]) and not stages[-1].doing
    counts = [len(stage.parts) for stage in stages]
    assert counts == sorted(counts) and set(counts) == {2, 3, 4, 5}
    assert stages[0].parts[0].causes == ("minibatch", "step_size", "mixing", "localization")
    assert "not separated" in stages[0].parts[0].how
    assert [part.name for part in stages[-1].parts] == ["minibatch", "step_size", "mixing", "localization", "finite_n"]


def test_same_estimate_same_split_and_no_touch_of_global_random_numbers(small, few_sweeps):
    found = estimate(small, SGLD(), gradient="minibatch", batch_size=20, steps=100, progress=False)
    before = torch.get_rng_state()
    seen: list[float] = []
    first = explain(found, small, progress=lambda share, doing: seen.append(share))
    assert torch.equal(before, torch.get_rng_state())
    assert [p.value for p in explain(found, small).parts] == [p.value for p in first.parts]
    assert seen[-1] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(samplers(conditionals=True)))
def test_every_sampler_can_be_split(name, small, few_sweeps):
    gradient = "full" if name in ("HMC", "MALA", "Gibbs") else "minibatch"
    found = estimate(small, name, gradient=gradient, batch_size=50, steps=60, progress=False)
    split = explain(found, small)
    assert_adds_up(split, found)
    assert split.reference is not None
    for part in split.parts:
        assert part.sentence.endswith(".") and "nan" not in part.sentence and part.how and part.label


def test_a_sampler_with_a_wrong_law_has_a_part_for_it(small, few_sweeps):
    def parts(sampler) -> list[str]:
        found = estimate(small, sampler, gradient="full", steps=60, progress=False)
        return [part.name for part in explain(found, small).parts]

    assert "law" not in "".join(parts(SGLD()))
    assert "law" in parts(PSGLD()) and "law" in parts(SGHMC(dynamics="printed"))
    assert "law+mixing" in parts(AdamSGLD())


def test_exact_steps_and_full_gradients_leave_exact_zeros(small, few_sweeps):
    split = explain(estimate(small, HMC(), steps=100, progress=False), small)
    for name in ("minibatch", "step_size"):
        assert split[name].value == split[name].se == 0
    assert "no minibatch noise" in split["minibatch"].sentence
    with pytest.raises(KeyError):
        split["law"]


@pytest.mark.slow
def test_a_setting_of_a_grid_is_split_at_its_own_values(small, few_sweeps):
    grid = {"step_size": [1e-5, 1e-4], "n_beta": [30.0, 300.0], "localization": [1.0, 3000.0]}
    results = estimate(small, SGLD(), gradient="full", grid=grid, chains=16, steps=300, burn_in=100, progress=False)
    alone = {}
    for found in results:
        split = explain(found, small)
        assert_adds_up(split, found)
        alone[tuple(found.setting.values())] = split
    assert f"ε = {1e-4:.3g}" in alone[1e-4, 300.0, 1.0]["step_size"].how
    assert alone[1e-4, 300.0, 1.0]["step_size"].value > 3 * alone[1e-4, 300.0, 1.0]["step_size"].se
    assert alone[1e-4, 30.0, 3000.0]["localization"].value < -1
    assert abs(alone[1e-4, 300.0, 1.0]["localization"].value) < 1


def test_without_a_prior_there_is_no_reference_and_parts_stay_together(small):
    found = estimate(small, SGLD(), localization=0.0, gradient="full", steps=100, progress=False)
    split = explain(found, small)
    assert_adds_up(split, found)
    assert split.reference is None and split["mixing"].causes == ("mixing", "localization")


def test_on_a_line_the_reference_is_exact():
    target = landscape("skewed")
    found = estimate(target, SGLD(step_size=1.2), chains=256, steps=300, burn_in=50, progress=False)
    split = explain(found, target)
    assert_adds_up(split, found)
    assert split.reference == target.expected_llc() and split.reference_se == 0
    assert split.dominant.name == "step_size"
    assert abs(split["mixing"].value) < 3.5 * split["mixing"].se


@pytest.mark.slow
def test_a_problem_without_known_answers_is_split_down_to_the_reference(small, monkeypatch):
    class Anonymous(DeepLinearNetwork):
        learning_coefficient = local_learning_coefficient = None

        def expected_llc(self, n_beta=None):
            return None

    problem = Anonymous(small.weights, n=2000)
    found = estimate(problem, SGLD(), gradient="full", steps=200, progress=False)
    split = explain(found, problem)
    assert_adds_up(split, found)
    assert split.truth_label == "exact reference" and split.truth == pytest.approx(split.reference)
    with monkeypatch.context() as patch:
        patch.setattr(references, "DeepLinearNetwork", HMC)  # no Gibbs: Hamiltonian Monte Carlo is the reference then
        other = explain(found, problem)
    assert "Hamiltonian" in other["mixing"].how
    assert abs(other.reference - split.reference) < 4 * math.hypot(other.reference_se, split.reference_se)


@pytest.mark.slow
def test_a_larger_budget_makes_smaller_error_bars(small, few_sweeps):
    found = estimate(small, SGLD(), gradient="minibatch", batch_size=50, chains=8, steps=300, progress=False)
    few, many = (explain(found, small, budget=b) for b in (4, 64))
    assert many["step_size"].se < 0.5 * few["step_size"].se


def test_a_run_that_was_stopped_is_split_as_far_as_it_went(small, few_sweeps):
    config = RunConfig(problem=small.to_dict(), sampler={"name": "SGLD"}, gradient="minibatch", steps=10**6, burn_in=50)
    run = Run(config.replace(batch_size=20), small)
    run.advance(200)
    found = run.estimates()[0]
    split = explain(found, small)
    assert_adds_up(split, found)
    assert split["minibatch"].value > 0


def test_a_comparison_that_diverges_leaves_its_causes_together(small, few_sweeps, monkeypatch):
    found = estimate(small, SGLD(), gradient="minibatch", batch_size=20, steps=100, progress=False)

    def exploding(config: RunConfig, problem: DeepLinearNetwork) -> Run:
        wild = {**config.sampler, "step_size": 10.0}
        return Run(config.replace(sampler=wild), problem)

    monkeypatch.setattr(comparisons, "Run", exploding)
    split = explain(found, small)
    assert_adds_up(split, found)
    assert split.parts[0].causes == ("minibatch", "step_size", "mixing")


def test_bad_input_is_refused_at_once(small):
    found = estimate(small, SGLD(), steps=60, progress=False)
    with pytest.raises(ValueError, match="budget is 0"):
        explaining(found, small, budget=0)
    with pytest.raises(ValueError, match="not the one"):
        explaining(found, DeepLinearNetwork.random(widths=[3, 2], n=2000, seed=1))
    decaying = estimate(small, SGLD(), steps=60, step_decay=0.3, progress=False)
    with pytest.raises(ValueError, match="step_decay is 0.3"):
        explaining(decaying, small)
    dead = estimate(small, SGLD(step_size=10.0), steps=60, progress=False)
    with pytest.raises(ValueError, match="no value"):
        explaining(dead, small)
