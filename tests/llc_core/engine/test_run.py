"""The driver: what a run's numbers may and may not depend on, grids, dead chains, baselines, verdicts."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest
import torch
from cases import few

import llc_core
from llc_core import SGLD, DeepLinearNetwork, RunConfig, UnderdampedLangevin, estimate, run
from llc_core.engine.run import Run
from llc_core.results import Estimate


@pytest.fixture(scope="module")
def tiny() -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=[3, 3, 3], layer_ranks=[2, 2], n=10_000, seed=1)


def rows(current: Run, cuts: list[int]) -> np.ndarray:
    return np.concatenate([current.advance(k).excess_loss for k in cuts])


@pytest.mark.parametrize("sampler", few([{"name": "SGLD", "step_size": 1e-7}, None, {"name": "SGLD"}], 2, rare=False))
@pytest.mark.parametrize("gradient", few(["minibatch", "full"], 1))
def test_numbers_do_not_depend_on_blocks(tiny, sampler, gradient):
    config = RunConfig(sampler=sampler, gradient=gradient, steps=600, chains=2, batch_size=20)
    one, other = Run(config, tiny), Run(config, tiny)
    assert np.array_equal(rows(one, [600]), rows(other, [1, 7, 92, 250, 250]))
    assert np.array_equal(one.llc_per_chain(), other.llc_per_chain())


def test_same_seed_same_numbers_other_seed_other_numbers(tiny):
    first, again, other = (estimate(tiny, steps=300, seed=s) for s in (0, 0, 1))
    assert first.llc == again.llc != other.llc


def test_a_run_from_json_equals_the_run_from_objects():
    problem = DeepLinearNetwork.random(widths=[4, 3, 4], layer_ranks=[2, 2], n=5000, seed=2)
    result = estimate(problem, SGLD(step_size=1e-6), steps=200, chains=3)
    current = run(RunConfig.from_json(result.config.to_json()))
    for _ in current:
        pass
    assert current.estimates()[0].llc == result.llc


def test_defaults_are_recorded(tiny):
    config = estimate(tiny, steps=64).config
    assert config.sampler["name"] == "UnderdampedLangevin"
    assert config.gradient == "full" and config.dtype == "float32" and config.device == "cpu"
    assert config.n_beta == pytest.approx(tiny.n_beta)
    assert estimate(tiny, gradient="minibatch", steps=64).config.sampler["name"] == "SGLD"


def test_a_grid_is_one_run_and_equals_single_runs_where_noise_is_shared(tiny):
    results = estimate(
        tiny,
        SGLD(),
        chains=3,
        steps=400,
        grid={"step_size": [1e-7, 1e-6], "localization": [1.0, 50.0]},
        gradient="minibatch",
    )
    assert [r.setting for r in results] == [
        {"step_size": e, "localization": g} for e in (1e-7, 1e-6) for g in (1.0, 50.0)
    ]
    assert all(r.trace.shape == (400, 3) for r in results)
    # common random numbers: with the same seed each chain of a single run sees the same batches as in the grid
    assert results[0].trace[0] == pytest.approx(results[2].trace[0])


def test_snapshots_are_copies(tiny):
    current = Run(RunConfig(steps=100), tiny)
    first = current.advance(10)
    kept = first.excess_loss.copy(), first.llc.copy(), first.step_size.copy()
    current.advance(50)
    assert np.array_equal(first.excess_loss, kept[0])
    assert np.array_equal(first.step_size, kept[2])


def test_dead_chains_are_frozen_counted_and_left_out(tiny):
    stable = float(estimate(tiny, SGLD(), steps=200).diagnostics["stability_limit"])
    results = estimate(tiny, SGLD(), grid={"step_size": [stable / 20, stable * 50]}, steps=600, chains=4)
    fine, broken = results
    assert fine.diverged == 0 and math.isfinite(fine.llc)
    assert broken.diverged == 4 and math.isnan(broken.llc) and not broken.converged
    assert "4 of 4 chains diverged" in str(broken.converged) and "step size" in str(broken.converged)
    assert np.isnan(broken.trace[-1]).all()


def test_a_step_above_the_limit_is_named_even_when_it_stays_finite(tiny):
    stable = float(estimate(tiny, SGLD(), steps=200).diagnostics["stability_limit"])
    result = estimate(tiny, SGLD(step_size=1.5 * stable), steps=400, chains=2)
    assert not result.converged
    assert "stability limit" in str(result.converged) or "diverged" in str(result.converged)


def test_an_unfinished_burn_in_is_seen():
    problem = DeepLinearNetwork.random(widths=[8, 8], n=10_000, seed=0)
    limit = float(estimate(problem, SGLD(), steps=100).diagnostics["stability_limit"])
    slow = estimate(problem, SGLD(step_size=limit / 3000), steps=2000, burn_in=0)
    assert not slow.converged and "rising" in str(slow.converged)


@pytest.mark.slow
def test_default_estimate_of_a_regular_network_is_exact_within_error():
    """One layer: U is quadratic, the posterior mean of nβΔL is known exactly: d/2 − nβ·‖…‖² terms as expected_llc says."""
    problem = DeepLinearNetwork.random(widths=[5, 4], seed=0)
    result = estimate(problem, steps=4000, chains=8)
    sxx, snx = problem.data.sxx, problem.data.snx
    precision = 2 * problem.n_beta * sxx + torch.eye(5, dtype=torch.float64)
    mean = 2 * problem.n_beta * torch.linalg.solve(precision, snx.T).T
    covariance = torch.linalg.inv(precision)
    exact = problem.n_beta * float(4 * (sxx * covariance).sum() + ((mean @ sxx) * mean).sum() - 2 * (mean * snx).sum())
    assert abs(result.llc - exact) < 4 * result.llc_se
    assert result.llc_se < 0.03 * exact
    assert result.converged, str(result.converged)
    assert result.expected == pytest.approx(exact, rel=0.05)


@pytest.mark.slow
def test_baselines_differ_as_they_should(tiny):
    """The printed estimator (first_batch) subtracts one draw of a noisy loss: same chains, far larger spread."""
    values: dict[str, list[np.ndarray]] = {"same_batch": [], "full": [], "first_batch": []}
    for seed in range(6):
        config = RunConfig(
            sampler={"name": "SGLD", "step_size": 2e-6}, gradient="minibatch", batch_size=50, steps=400, seed=seed
        )
        current = Run(config, tiny)
        current.advance(400)
        for baseline, collected in values.items():
            collected.append(current.llc_per_chain(baseline))
    same, full, first = (np.concatenate(v) for v in values.values())
    assert np.isfinite(first).all()
    assert np.var(first) > 100 * np.var(same)
    assert np.var(same) < np.var(full) < np.var(first)
    assert abs(full.mean() - same.mean()) < 4 * full.std() / 24**0.5
    chosen = estimate(
        tiny, SGLD(step_size=2e-6), gradient="minibatch", batch_size=50, steps=400, seed=5, baseline="first_batch"
    )
    assert np.array_equal(chosen.per_chain, values["first_batch"][-1])


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_minibatch_noise_is_predicted_and_flagged(tiny):
    limit = float(estimate(tiny, SGLD(), steps=100).diagnostics["stability_limit"])
    step = limit / 40
    settings = {"steps": 3000, "burn_in": 2000, "chains": 48}
    exact = estimate(tiny, SGLD(step_size=step), gradient="full", **settings)
    noisy = estimate(tiny, SGLD(step_size=step), gradient="minibatch", batch_size=50, **settings)
    added = noisy.per_chain - exact.per_chain  # the same injected noise in both, so chain by chain
    predicted = noisy.diagnostics["noise_inflation"]
    error = float(added.std(ddof=1)) / math.sqrt(48)
    assert predicted > 5 * error
    assert abs(added.mean() - predicted) < 4 * error + 0.1 * predicted
    assert "Minibatch noise" in str(noisy.converged)
    assert exact.diagnostics["noise_inflation"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_adapted_and_unit_mass_sample_the_same_law():
    problem = DeepLinearNetwork.random(widths=[5, 4, 5], layer_ranks=[3, 3], n=100_000, seed=3)
    adapted = estimate(problem, UnderdampedLangevin(), steps=1000, chains=128)
    unit = estimate(problem, UnderdampedLangevin(mass="unit", friction=100.0), steps=10_000, chains=32)
    assert abs(adapted.llc - unit.llc) < 4 * math.hypot(adapted.llc_se, unit.llc_se)
    assert adapted.llc_se < 0.03 * adapted.llc and unit.llc_se < 0.03 * unit.llc


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_a_given_step_is_meant_for_the_adapted_coordinates():
    problem = DeepLinearNetwork.random(widths=[6, 5, 6], layer_ranks=[3, 3], seed=1)
    auto = estimate(problem, steps=1200, chains=32)
    step = auto.diagnostics["step_size"]
    given = estimate(problem, UnderdampedLangevin(step_size=step), steps=1200, chains=32)
    assert given.diagnostics["step_size"] == pytest.approx(step, rel=1e-6)
    assert given.diverged == 0
    assert abs(given.llc - auto.llc) < 4 * math.hypot(given.llc_se, auto.llc_se)
    swept = estimate(problem, UnderdampedLangevin(), grid={"step_size": [step / 3, 9.0]}, steps=2000)
    assert swept[0].diverged == 0 and swept[1].diverged == 4


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
def test_a_grid_of_temperatures_gives_each_setting_its_own_coordinates():
    pytest.importorskip("arviz_stats")  # ESS
    problem = DeepLinearNetwork.random(widths=[6, 5, 6], layer_ranks=[3, 3], seed=1)
    both = estimate(problem, grid={"n_beta": [30.0, 1e6]}, steps=2000, chains=32)
    alone = estimate(problem, n_beta=30.0, steps=2000, chains=32)
    assert abs(both[0].llc - alone.llc) < 4 * math.hypot(both[0].llc_se, alone.llc_se)
    assert both[0].ess > 200


@pytest.mark.slow
def test_the_bias_of_the_step_is_predicted_and_flagged():
    """One layer is quadratic: SGLD's inflation is known, and the exact sampler beside it has none."""
    problem = DeepLinearNetwork.random(widths=[4, 3], seed=0)
    limit = estimate(problem, SGLD(), gradient="full", steps=200).diagnostics["stability_limit"]
    biased = estimate(problem, SGLD(step_size=limit / 5), gradient="full", steps=4000, chains=16)
    exact = estimate(problem, steps=4000, chains=16)
    added, predicted = biased.llc - exact.llc, biased.diagnostics["step_bias"]
    assert predicted == pytest.approx(added, rel=0.35)
    assert "The step size is measured to make" in str(biased.converged)
    assert exact.diagnostics["step_bias"] == 0 and exact.converged


@pytest.mark.slow
def test_an_exactly_flat_start_without_prior():
    problem = DeepLinearNetwork(weights=[np.zeros((4, 4))] * 3, n=100_000)
    result = estimate(problem, localization=0.0, steps=3000)
    assert result.diverged == 0 and 0 < result.llc < 16


def test_results_travel(tiny, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    result = estimate(tiny, steps=200)
    dataset = result.to_dataset()
    assert dataset["loss_trace"].shape == (200, 4)
    dataset.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    again = xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf")
    assert float(again["llc"]) == pytest.approx(result.llc)
    assert json.loads(again.attrs["config"]) == result.config.to_dict()
    assert json.loads(result.to_json())["chains"] == 4
    assert "λ̂" in repr(result)


def test_long_runs_keep_a_thinned_trace_but_average_every_step(monkeypatch, tiny):
    import llc_core.engine.record as module

    full = estimate(tiny, SGLD(step_size=1e-6), steps=1000)
    monkeypatch.setattr(module, "TRACE_ROWS", 100)
    thin = estimate(tiny, SGLD(step_size=1e-6), steps=1000)
    assert thin.trace.shape == (63, 4) and thin.llc == full.llc  # every 16th


@pytest.mark.usefixtures("no_draws")
def test_overflow_in_burn_in_is_started_again_not_fatal():
    problem = DeepLinearNetwork.random(widths=[4, 4, 4], layer_ranks=[1, 1], n=10_000, seed=0)
    current = Run(RunConfig(steps=2000, sampler={"name": "UnderdampedLangevin"}), problem)
    current.advance(101)
    current._step_size.current = current._step_size.current * 3000
    notes = [note for snapshot in current for note in snapshot.notes]
    result = current.estimates()[0]
    assert any("overflowed" in note for note in notes)
    assert result.diverged == 0 and math.isfinite(result.llc)


SMALL = DeepLinearNetwork.random(widths=[4, 4, 4], layer_ranks=[1, 1], n=10_000, seed=0)


def settings_of(step_size: float | None) -> RunConfig:
    return RunConfig(steps=2000, sampler={"name": "UnderdampedLangevin", "step_size": step_size})


@cache
def unspoiled(step_size: float | None) -> Estimate:
    whole = Run(settings_of(step_size), SMALL)
    whole.advance(2000)
    return whole.estimates()[0]


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
@pytest.mark.long
@pytest.mark.parametrize("step_size", [None, 0.05])
@pytest.mark.parametrize("spoiled", ["momentum", "delta"])
def test_a_chain_saved_on_its_way_out_is_not_started_again_from_there_for_ever(step_size, spoiled):
    """What is saved at a check may be a chain with the momentum to blow up, or one that has: halving the step helps neither."""
    current = Run(settings_of(step_size), SMALL)
    current.advance(150)  # the next thing is to save this state
    with current._mode():
        current._state[spoiled][0] *= 1e5
    notes = [note for snapshot in current for note in snapshot.notes]
    assert 0 < len([note for note in notes if "overflowed" in note]) <= 12
    found, usual = current.estimates()[0], unspoiled(step_size)
    assert found.diverged == 0 and found.diagnostics["step_size"] > usual.diagnostics["step_size"] / 5000
    assert abs(found.llc / usual.llc - 1) < 0.3


@pytest.mark.slow
def test_a_chain_lost_after_a_given_step_has_taken_over_is_dead():
    """Until 70% of the burn-in the step is automatic and lost chains start again; then nothing does, and they must count as dead."""
    problem = DeepLinearNetwork.random(widths=[4, 4, 4], layer_ranks=[1, 1], n=10_000, seed=0)
    sampler = {"name": "UnderdampedLangevin", "step_size": 0.05}
    for at, dead in ((500, 0), (900, 1)):
        current = Run(RunConfig(steps=2000, sampler=sampler), problem)
        current.advance(at)
        with current._mode():
            current._state["delta"][2] = math.nan
        for _ in current:
            pass
        assert current.estimates()[0].diverged == dead


def test_a_config_of_one_object_refuses_another():
    one, other = (DeepLinearNetwork(weights=[np.full((2, 2), v)], n=100) for v in (1.0, 2.0))
    with pytest.raises(ValueError, match="another problem"):
        Run(RunConfig(problem=one.to_dict(), steps=10), other)


def test_public_names():
    for name in (
        "SGLD",
        "RMSPropSGLD",
        "AdamSGLD",
        "SGHMC",
        "SGNHT",
        "UnderdampedLangevin",
        "DeepLinearNetwork",
        "RunConfig",
    ):
        assert hasattr(llc_core, name), name
    assert callable(llc_core.run) and callable(llc_core.estimate)


@pytest.mark.usefixtures("no_draws")
@pytest.mark.slow
@pytest.mark.parametrize("seed", [13, 20])
def test_trajectories_that_are_all_rejected_get_a_smaller_step(seed, monkeypatch):
    """Near w0 the loss of these networks is so flat that the first automatic step leads every trajectory onto a wall."""
    problem = DeepLinearNetwork.random("1K", seed=seed)
    settings = {"chains": 2, "progress": False}
    found = estimate(problem, "HMC", steps=400, **settings)
    assert found.diagnostics["acceptance"] > 0.5 and abs(found.llc / found.expected - 1) < 0.3
    monkeypatch.setattr("llc_core.engine.adapting.step_limit.REFUSED", -1.0)
    stuck = estimate(problem, "HMC", steps=200, **settings)
    assert stuck.diagnostics["acceptance"] < 0.1 and stuck.llc < 0.1 * stuck.expected and not stuck.converged
