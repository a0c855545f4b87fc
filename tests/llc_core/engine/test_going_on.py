"""A run that goes on has the numbers of one that was begun for as long: every sampler, gradient and thing that is watched."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from cases import few

import llc_core.engine.record as estimators
import llc_core.estimating as estimating
from llc_core import (
    SGLD,
    DeepLinearFamily,
    DeepLinearNetwork,
    NetworkPotential,
    RunConfig,
    Verdict,
    estimate,
    planar_landscape,
)
from llc_core.cli.commands import main
from llc_core.engine.run import Run
from llc_core.engine.stepping.noise import NoiseByPlace, NoiseInBlocks
from llc_core.estimating import until_settled
from llc_core.potentials.base import Potential


@pytest.fixture(scope="module")
def tiny() -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=[3, 3, 3], layer_ranks=[2, 2], n=10_000, seed=1)


def to_end(current: Run) -> Run:
    for _ in current:
        pass
    return current


def compare(config: RunConfig, problem: Potential, times: int = 1, more: int | None = None) -> Run:
    """One run that goes on, and one from its configuration (as text): the same numbers, to the last bit. Returns the first."""
    first = to_end(Run(config, problem))
    for _ in range(times):
        first.estimates()  # to look changes nothing
        first.go_on(more)
        to_end(first)
    other = to_end(Run(RunConfig.from_json(first.config.to_json()), problem))
    mine, theirs = first.estimates(), other.estimates()
    assert [e.steps for e in mine] == [e.steps for e in theirs] == [first.total_steps] * len(mine)
    for a, b in zip(mine, theirs, strict=True):
        assert np.array_equal(a.per_chain, b.per_chain, equal_nan=True) and np.isfinite(a.llc)
        assert np.array_equal(a.trace, b.trace, equal_nan=True) and np.array_equal(a.trace_steps, b.trace_steps)
        assert (a.burn_in, a.r_hat, a.ess, str(a.converged)) == (b.burn_in, b.r_hat, b.ess, str(b.converged))
        for name, value in a.diagnostics.items():
            assert value == b.diagnostics[name] or np.isnan(value), name
        assert a.singular_fluctuation == b.singular_fluctuation or np.isnan(a.singular_fluctuation)
        assert a.observed_llc == b.observed_llc or np.isnan(a.observed_llc)
    return first


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler",
    few(
        [
            None,
            {"name": "SGLD", "step_size": 1e-7},
            {"name": "SGLD"},
            {"name": "AdamSGLD"},
            {"name": "SGNHT"},
            {"name": "PSGLD"},
            {"name": "FrozenPSGLD", "step_size": 1e-8},
            {"name": "UnderdampedLangevin", "step_size": 0.1},
            {"name": "HMC"},
        ],
        2,
    ),
)
def test_the_same_numbers_as_a_run_begun_for_as_long(tiny, sampler):
    steps = 40 if sampler and sampler["name"] in ("HMC",) else 300
    current = compare(RunConfig(sampler=sampler, gradient="full", steps=steps, chains=2), tiny, times=2)
    assert (current.total_steps, current.burn_in) == (4 * steps, 2 * steps)
    assert current.config.continued_from == {"steps": steps, "burn_in": steps // 2}


@pytest.mark.parametrize("burn_in", few([0.2, 200, 0.0, 100, 0.75], 2))
def test_what_was_done_becomes_burn_in_only_where_half_of_it_was(tiny, burn_in):
    current = compare(RunConfig(sampler={"name": "SGLD"}, steps=300, burn_in=burn_in, chains=2), tiny, more=250)
    assert current.total_steps == 550
    assert current.burn_in == {0.0: 0, 0.2: 60, 100: 100, 200: 300, 0.75: 300}[burn_in]


@pytest.mark.parametrize("gradient", few(["minibatch", "control_variate"], 1, rare=False))
@pytest.mark.parametrize("baseline", few(["first_batch", "same_batch"], 1))
def test_with_minibatches(tiny, gradient, baseline):
    config = RunConfig(
        sampler={"name": "SGLD"}, gradient=gradient, baseline=baseline, batch_size=20, steps=300, chains=2
    )
    compare(config, tiny)


def test_with_a_grid_and_a_step_that_decays(tiny):
    grid = {"step_size": [1e-8, 1e-7], "localization": [1.0, 10.0]}
    compare(RunConfig(sampler={"name": "SGLD"}, steps=200, chains=2, step_decay=0.3, grid=grid), tiny)


@pytest.mark.slow
@pytest.mark.parametrize("burn_in", [0.5, 0.1])
def test_with_all_that_is_watched(burn_in):
    torch.manual_seed(0)
    line = NetworkPotential(
        torch.nn.Linear(1, 1, bias=False), "mse", (torch.randn(60, 1), torch.randn(60, 1)), batch_size=20
    )
    histogram = {"low": -3.0, "high": 3.0, "count": 12}
    config = RunConfig(sampler={"name": "SGLD"}, gradient="full", steps=200, burn_in=burn_in, chains=3)
    first = compare(config.replace(histogram=histogram), line)
    again = to_end(Run(first.config, line))
    counts = [current.advance(0).observables["histogram"] for current in (first, again)]
    assert np.array_equal(*counts) and counts[0].sum() == 3 * (400 - first.burn_in)

    torch.manual_seed(0)
    data = torch.randn(60, 3), torch.randn(60, 1)
    other = torch.randn(60, 3), torch.randn(60, 1)
    model = torch.nn.Linear(3, 1)
    network = NetworkPotential(model, "mse", data, batch_size=20)
    observable = NetworkPotential(model, "mse", other, batch_size=20)
    config = RunConfig(sampler={"name": "SGLD"}, gradient="full", steps=120, burn_in=burn_in, functional_variance=10)
    first = to_end(Run(config, network, observable))
    first.go_on()
    to_end(first)
    again = to_end(Run(first.config, network, observable))
    mine, theirs = first.estimates()[0], again.estimates()[0]
    assert mine.singular_fluctuation == theirs.singular_fluctuation > 0
    assert mine.observed_llc == theirs.observed_llc != 0
    assert mine.diagnostics == pytest.approx(theirs.diagnostics, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("sampler", few(["SGLD", "UnderdampedLangevin"], 1))
@pytest.mark.parametrize("look", few([120, 125, 170], 1))
def test_a_chain_that_is_lost_after_the_adaptation_is_lost_for_good(tiny, sampler, look):
    """At steps 120 (when the state is saved) and 125 the burn-in of the first plan, 150 steps, still starts a lost chain again; at 170 nothing does, though a longer
    run is in its burn-in there."""
    config = RunConfig(sampler={"name": sampler}, gradient="full", steps=300, chains=3)
    going = Run(config, tiny)
    whole = Run(Run(config, tiny).config.longer(), tiny)
    for current in (going, whole):
        current.advance(look)
        with current._mode():
            current._state["delta"][1] = float("nan")
    to_end(going).go_on()
    mine, theirs = (to_end(current).estimates()[0] for current in (going, whole))
    assert mine.diverged == theirs.diverged == (look == 170)
    assert np.array_equal(mine.per_chain, theirs.per_chain, equal_nan=True)
    assert np.array_equal(mine.trace, theirs.trace, equal_nan=True)


def test_a_lost_chain_counts_nowhere_in_a_histogram():
    torch.manual_seed(0)
    line = NetworkPotential(torch.nn.Linear(1, 1, bias=False), "mse", (torch.randn(60, 1), torch.randn(60, 1)))
    histogram = {"low": -3.0, "high": 3.0, "count": 12}
    config = RunConfig(sampler={"name": "SGLD"}, gradient="full", steps=200, chains=3, histogram=histogram)
    going = Run(config, line)
    whole = Run(Run(config, line).config.longer(), line)
    for current in (going, whole):
        current.advance(150)
        with current._mode():
            current._state["delta"][1] = float("nan")
    to_end(going).go_on()
    counts = [to_end(current).advance(0).observables["histogram"] for current in (going, whole)]
    assert np.array_equal(*counts) and counts[0].sum() == 2 * 200


def test_networks_side_by_side_go_on():
    members = [DeepLinearNetwork.random(widths=[3, 3, 3], layer_ranks=[2, 2], n=10_000, seed=seed) for seed in (0, 1)]
    family = DeepLinearFamily(members)
    compare(RunConfig(sampler={"name": "SGLD"}, steps=200, chains=2, grid={"step_size": [1e-8, 1e-7]}), family)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["SGLD", "UnderdampedLangevin"])
def test_in_recorded_steps(tiny, sampler, monkeypatch):
    monkeypatch.setenv("LLC_LAB_GPU", "graphs")
    compare(RunConfig(sampler={"name": sampler}, gradient="full", steps=200, chains=2), tiny)


@pytest.mark.slow
def test_a_thinned_trace_is_thinned_further(tiny, monkeypatch):
    monkeypatch.setattr(estimators, "TRACE_ROWS", 50)
    current = compare(RunConfig(sampler={"name": "SGLD"}, steps=300, chains=2), tiny, times=2)
    steps = current.estimates()[0].trace_steps
    assert len(steps) <= 50 and set(np.diff(steps)) == {32}


@pytest.mark.parametrize("sampler", ["SGLD", "UnderdampedLangevin"])
def test_random_numbers_are_those_of_the_first_plan(sampler, monkeypatch):
    """Runs above a number of normals make them in another way: what begins below it must not change its way."""
    pytest.importorskip("numba")
    problem = DeepLinearNetwork.random(widths=[65, 64, 65], layer_ranks=[3, 3], n=10_000, seed=1)
    monkeypatch.setattr("llc_core.engine.stepping.compiled.WORTH", 2 * problem.dim * 61)
    current = compare(RunConfig(sampler={"name": sampler}, steps=60, chains=2), problem)
    assert isinstance(current._stepper.noise, NoiseInBlocks)
    begun_so_long = Run(current.config.replace(continued_from=None), problem)
    assert isinstance(begun_so_long._stepper.noise, NoiseByPlace)


def test_chains_of_a_large_network_one_after_another(monkeypatch):
    monkeypatch.setattr(NetworkPotential, "by_chain", True)
    torch.manual_seed(0)
    network = NetworkPotential(torch.nn.Linear(3, 1), "mse", (torch.randn(60, 3), torch.randn(60, 1)), batch_size=20)
    compare(RunConfig(sampler={"name": "SGLD"}, gradient="minibatch", steps=100, chains=2), network)


def test_what_cannot_go_on_is_said(tiny):
    current = Run(RunConfig(steps=100), tiny)
    current.advance(40)
    with pytest.raises(ValueError, match="60 steps left"):
        current.go_on()
    dead = to_end(Run(RunConfig(sampler={"name": "SGLD", "step_size": 1.0}, steps=100), tiny))
    with pytest.raises(ValueError, match="diverged"):
        dead.go_on()
    done = to_end(Run(RunConfig(steps=100), tiny))
    with pytest.raises(ValueError, match="steps is 0"):
        done.go_on(0)
    assert done.finished and done.config.continued_from is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"steps": 100}, "continued_from must be"),
        ([1], "continued_from must be a mapping"),
        ({"steps": 100, "burn_in": 100}, "burn_in"),
        ({"steps": 300, "burn_in": 50}, "no smaller"),
        ({"steps": 100, "burn_in": 90}, "no smaller"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(given: Any, words: str):
    with pytest.raises(ValueError, match=words):
        RunConfig(steps=200, burn_in=80, continued_from=given)


@pytest.mark.slow
def test_until_settled(monkeypatch):
    """A step far too small settles late: with max_steps the run goes on until the verdict is yes, and no further."""
    problem = DeepLinearNetwork.random(widths=[4, 4], n=10_000, seed=0)
    limit = float(estimate(problem, "SGLD", steps=100).diagnostics["stability_limit"])
    sampler = SGLD(step_size=limit / 40)
    short = estimate(problem, sampler, steps=250)
    assert not short.converged and short.converged.wants_steps
    long = estimate(problem, sampler, steps=250, max_steps=64_000)
    assert long.converged and 250 < long.steps <= 64_000 and long.steps == 250 * 2 ** round(np.log2(long.steps / 250))
    half = estimate(problem, sampler, steps=250, max_steps=long.steps - 1)
    assert not half.converged and half.steps == long.steps // 2
    assert abs(long.llc - 8) < 4 * long.llc_se + 0.4


@pytest.mark.slow
def test_one_setting_of_a_grid_that_wants_steps_is_enough():
    problem = DeepLinearNetwork.random(widths=[4, 4], n=10_000, seed=0)
    limit = float(estimate(problem, "SGLD", steps=100).diagnostics["stability_limit"])
    grid = {"step_size": [limit / 40, limit / 4000]}
    run = Run(RunConfig(sampler=SGLD().to_dict(), steps=16_000, grid=grid), problem)
    list(run)
    quick, slow = run.estimates()
    assert quick.converged and slow.converged.wants_steps
    list(until_settled(run, 32_000))
    assert [e.steps for e in run.estimates()] == [32_000, 32_000]


@pytest.mark.slow
@pytest.mark.long
def test_chains_that_begin_far_away_are_told_to_take_more_steps():
    """At 11% of the stability limit the step is not to blame; nor is the way from there an overflow."""
    far = planar_landscape("normal_crossing", k=[1, 1], start=[5.0, 5.0])
    short = estimate(far, SGLD(step_size=1e-5), steps=500)
    assert short.llc > 4 and short.converged.wants_steps and "falling" in short.converged.reason
    long = estimate(far, SGLD(step_size=1e-5), steps=500, max_steps=16_000)
    # It ends before 16,000 steps where the noise of the data is all that speaks against it: the minimum lies .02 below the crossing.
    assert long.steps >= 8_000 and long.llc < 0.6
    automatic = estimate(far, SGLD(), steps=6000, burn_in=0.1)
    assert automatic.llc < 1, "it is not held where it began"


def test_it_does_not_go_on_for_what_steps_cannot_mend(tiny):
    broken = estimate(tiny, SGLD(step_size=1.0), steps=100, max_steps=100_000)
    assert broken.steps <= 100 and not broken.converged.wants_steps
    regular = DeepLinearNetwork.random(widths=[4, 4], n=10_000, seed=0)
    limit = float(estimate(regular, SGLD(), steps=400).diagnostics["stability_limit"])
    inflated = estimate(regular, SGLD(step_size=0.7 * limit), steps=2000, chains=8, max_steps=8000)
    assert inflated.steps == 2000 and inflated.diverged == 0 and not inflated.converged
    assert not inflated.converged.wants_steps, str(inflated.converged)
    config = RunConfig(steps=100)
    with pytest.raises(ValueError, match="max_steps is 50"):
        list(until_settled(Run(config, tiny), 50))


def test_on_the_command_line(capsys, monkeypatch):
    asked: list[int | None] = []

    def spy(current: Run, max_steps: int | None) -> Any:
        asked.append(max_steps)
        return until_settled(current, max_steps)

    monkeypatch.setattr(estimating, "until_settled", spy)
    options = ["estimate", "--widths", "3", "3", "--steps", "64", "--max-steps", "256", "--json"]
    assert main(options) == 0
    found = json.loads(capsys.readouterr().out)
    assert asked == [256] and 64 <= found["steps"] <= 256


def test_an_estimate_that_no_coefficient_can_have_is_named():
    from llc_core.diagnostics.evidence import Evidence
    from llc_core.diagnostics.verdict import judge

    usual: dict[str, Any] = dict(
        se=1.0, chains=4, dead=0, r_hat=1.0, ess=1e3, drift=0.0, drift_se=1.0, step_size=1.2, stable_step=2.0,
        noise_inflation=0.0, kept_steps=1000, parameters=200,
    )  # fmt: skip
    verdict: Verdict = judge(Evidence(llc=401.0, **usual))
    assert not verdict and "half the number of parameters, 100" in verdict.reason and not verdict.wants_steps
    assert judge(Evidence(llc=399.0, **usual))
    early = judge(Evidence(llc=401.0, **{**usual, "step_size": 0.1}))
    assert "half the number" in early.reason and early.wants_steps
    falling = judge(Evidence(llc=401.0, **{**usual, "drift": -300.0}))
    assert "still falling" in falling.reason and falling.wants_steps
