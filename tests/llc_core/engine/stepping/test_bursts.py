"""Chains that an automatic step throws out are put back, and no others; the verdict names what cannot be put back."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from targets import Quadratic

from llc_core import DeepLinearNetwork, RunConfig, estimate
from llc_core.diagnostics.convergence import SPIKE_SHARE, spike_share
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.verdict import judge
from llc_core.engine.run import Run
from llc_core.engine.stepping.bursts import ROOM, TIMES, TRIES, WINDOW, Bursts, ceiling

EXACT = 28.78
"""nβ·E[ΔL] of network 28 of the class 1K: blocked Gibbs, four runs of 1,000 sweeps (standard error 0.02)."""


@pytest.fixture(scope="module")
def flat():
    return DeepLinearNetwork.random("1K", seed=28)


@pytest.mark.slow
def test_a_flat_network_is_read_right_where_the_step_throws_chains_out(flat, monkeypatch):
    """A short burn-in leaves a step that throws chains out on every machine; which ones, and when, rounding decides."""
    settings = {"chains": 8, "steps": 6000, "burn_in": 1500, "seed": 3, "progress": False}
    mended = estimate(flat, **settings)
    assert mended.diagnostics["bursts"] >= 3 and mended.diverged == 0
    assert abs(mended.llc / EXACT - 1) < 0.08
    kept = mended.trace[mended.trace_steps >= mended.burn_in]
    assert kept.max() < 2 * ceiling(np.array([EXACT]), flat.dim)[0]

    monkeypatch.setattr("llc_core.engine.stepping.choose.guard", lambda setup, notes: None)
    plain = estimate(flat, **settings)
    assert not plain.converged and (plain.diverged > 4 or plain.llc > 1.2 * EXACT)
    first = int(np.argmax(np.any(plain.trace != mended.trace, axis=1)))
    assert plain.trace[first].max() > 300 > mended.trace[first].max(), "before a burst nothing is different"


def short(flat, steps=2400, **changes):
    """Chains of which all are put back."""
    settings = {"seed": 3, "burn_in": 800, "sampler": {"name": "UnderdampedLangevin"}, **changes}
    return Run(RunConfig(problem=flat.to_dict(), steps=steps, **settings), flat)


def finish(run, block=2400):
    while not run.finished:
        run.advance(block)
    return run


@pytest.mark.slow
def test_numbers_do_not_depend_on_how_the_run_is_cut(flat):
    one, other = finish(short(flat), 37), finish(short(flat))
    assert one._stepper.guard.count.sum() >= 2 and np.array_equal(one._stepper.guard.count, other._stepper.guard.count)
    assert np.array_equal(one.displacements, other.displacements)


@pytest.mark.slow
@pytest.mark.long
def test_a_run_that_goes_on_is_the_run_that_is_begun_so(flat):
    on = finish(short(flat, steps=1200, burn_in=600))
    on.go_on(1500)
    assert on._stepper.guard.count.sum() == 0, "what was put back belongs to the burn-in now"
    finish(on, 7)
    begun = finish(Run(RunConfig.from_dict(on.config.to_dict()), flat))
    assert on._stepper.guard.count.sum() >= 2 and np.array_equal(on._stepper.guard.count, begun._stepper.guard.count)
    assert np.array_equal(on.displacements, begun.displacements)
    assert on.estimates()[0].diagnostics == begun.estimates()[0].diagnostics


@pytest.mark.slow
def test_bursts_are_counted_for_each_setting(flat):
    run = finish(short(flat, chains=2, grid={"n_beta": [20.0, 72_382.0]}))
    assert run._stepper.guard.count.sum() >= 1
    run._stepper.guard.count[:] = [1, 10, 2, 20]  # chain-major, settings vary fastest
    assert [each.diagnostics["bursts"] for each in run.estimates()] == [3.0, 30.0]


@pytest.mark.slow
@pytest.mark.long
def test_updates_in_place_leave_the_kept_places_alone(monkeypatch):
    """Runs of many normals change their states in place."""
    pytest.importorskip("numba")
    monkeypatch.setattr("llc_core.engine.stepping.compiled.WORTH", 1)
    run = short(DeepLinearNetwork.random(widths=[40, 70, 30, 60], layer_ranks=[25, 20, 20], n=4000, seed=1), chains=2)
    assert run._stepper.compiled is not None
    run.advance(800)  # the last of these makes the first mark
    kept = {name: value.clone() for name, value in run._stepper.guard._candidate.items()}
    now = run.state["delta"]
    run.advance(50)
    assert not torch.equal(run.state["delta"], now)
    for places in (run._stepper.guard._proven, run._stepper.guard._candidate):
        assert all(torch.equal(places[name], value) for name, value in kept.items())


def test_the_histogram_counts_where_the_chain_was_put():
    config = RunConfig(
        problem={"kind": "quadratic"}, steps=2000, burn_in=600, chains=1, seed=1,
        sampler={"name": "SGLD"}, histogram={"low": -30.0, "high": 30.0, "count": 10},
    )  # fmt: skip
    run = Run(config, Quadratic([1.0]))
    run.advance(1500)
    with run._mode():
        run._state["delta"][:] = 40.0
    run.advance(500)
    assert run._stepper.guard.count.sum() == 1
    counts = run.advance(0).observables["histogram"]
    assert counts[0, -1] == 0 and counts.sum() == 1400


@pytest.mark.usefixtures("no_draws")
@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["UnderdampedLangevin", "SGLD"])
@pytest.mark.parametrize(
    "problem",
    [
        Quadratic([1.0, 30.0, 0.0]),
        Quadratic(np.geomspace(1e-3, 1e3, 300)),
        DeepLinearNetwork.random("1K", seed=5),
        DeepLinearNetwork([[[0.0]], [[0.0]], [[0.0]]], n=1000),
    ],
    ids=["plane", "wide", "1K", "cube"],
)
def test_a_posterior_is_left_alone(problem, sampler):
    # Looked at from step 700 on: 24 · 900 losses. Of 8 chains for 4,000 steps they were 8 · 2,100.
    found = estimate(problem, sampler, chains=24, steps=1600, seed=1, progress=False)
    assert found.diagnostics["bursts"] == 0 and found.llc > 0


def test_only_steps_that_were_chosen_here_are_mended(flat):
    def guard(**changes):
        return Run(RunConfig(problem=flat.to_dict(), steps=2000, **changes), flat)._stepper.guard

    assert guard() is not None and guard(sampler={"name": "SGLD"}) is not None
    assert guard(sampler={"name": "SGLD", "step_size": 1e-9}) is None
    assert guard(sampler={"name": "UnderdampedLangevin", "step_size": 0.01}) is None
    assert guard(sampler={"name": "HMC"}) is None, "its own test rejects"
    assert guard(sampler={"name": "SGLD"}, gradient="minibatch") is None, "losses of batches are not the chain's"
    assert guard(burn_in=300) is None, "the loss may still be rising"


def state(values):
    delta = torch.tensor(values, dtype=torch.float32).unsqueeze(1)
    return {"delta": delta, "momentum": torch.ones_like(delta)}


def look(bursts, step, losses, at=None):
    return bursts.look(step, at or state([float(step)] * len(losses)), torch.tensor(losses, dtype=torch.float32))


def test_a_chain_goes_back_to_where_a_calm_window_began():
    """Two chains, nβ = 2, D = 4: at level 10 the ceiling is 10 + 100 + 10·10 = 210."""
    notes: list[str] = []
    bursts = Bursts(torch.full((2, 1), 2.0), 4, 50, 353, notes)
    for step in range(50 + 3 * WINDOW):
        look(bursts, step, [5.0, 5.0])
    assert bursts._ceiling == pytest.approx([10 + ROOM + TIMES * 10] * 2)

    now = state([777.0, 778.0])
    assert look(bursts, 351, [104.9, 5.0], now) is now, "just below"
    after = look(bursts, 352, [105.1, 5.0], now)
    assert after["delta"].squeeze(1).tolist() == [50.0 + 2 * WINDOW - 1, 778.0]
    assert after["momentum"].squeeze(1).tolist() == [0.0, 1.0] and bursts.count.tolist() == [0, 0], "counted later"
    assert "Step 352" in notes[0] and "burst to 210" in notes[0]
    lost = look(bursts, 353, [5.0, math.nan], now)
    assert lost["delta"].squeeze(1).tolist() == [777.0, 50.0 + 2 * WINDOW - 1] and "burst to inf" in notes[1]
    assert bursts.count.tolist() == [0, 1]

    # This window was not calm: its end is no place to come back to, nor is the place before it proven by it.
    for step in range(354, 50 + 5 * WINDOW):
        look(bursts, step, [5.0, 5.0])
    again = look(bursts, 50 + 5 * WINDOW, [1e9, 5.0], now)
    assert again["delta"][0].item() == 50.0 + 2 * WINDOW - 1


def test_a_place_that_is_not_proven_is_none():
    """Until a window was calm nothing is put back; a chain goes back to one place a limited number of times."""
    bursts = Bursts(torch.ones(1, 1), 4, 0, 0, [])
    for step in range(WINDOW):
        look(bursts, step, [5.0])
    wild = state([7.0])
    for step in range(WINDOW, 2 * WINDOW):
        assert look(bursts, step, [1e6 if step % 5 == 0 else 5.0], wild) is wild, "the first place may be in a burst"
    for step in range(2 * WINDOW, 4 * WINDOW):
        look(bursts, step, [5.0])
    put = [look(bursts, step, [1e6], wild) is not wild for step in range(4 * WINDOW, 5 * WINDOW)]
    assert put == [True] * TRIES + [False] * (WINDOW - TRIES)


def test_what_was_lost_before_stays_lost_and_a_level_may_rise():
    bursts = Bursts(torch.ones(2, 1), 4, 0, 0, [])
    for step in range(WINDOW):
        look(bursts, step, [math.nan, 1.0])
    now = state([1.0, 2.0])
    assert look(bursts, WINDOW, [math.nan, 1.0], now) is now and bursts.count.sum() == 0
    for step in range(WINDOW + 1, 30 * WINDOW):  # slowly: a chain that is still on its way
        look(bursts, step, [math.nan, step * 0.5], now)
    assert bursts.count.sum() == 0


def test_negative_levels_have_a_ceiling_that_varies_with_the_parameters():
    assert ceiling(np.array([-500.0]), 10_000)[0] == -500 + ROOM + TIMES * 100
    rng = np.random.default_rng(0)
    for shape in (0.5, 5.0, 50.0, 5000.0):  # the posterior's own distribution never comes near
        draws = rng.gamma(shape, size=100_000)
        assert draws.max() < ceiling(np.median(draws, keepdims=True), int(2 * shape))[0]


def test_the_share_of_spikes():
    quiet = np.random.default_rng(1).gamma(20.0, size=(2000, 4))
    assert spike_share(quiet) < 0.01 and math.isnan(spike_share(quiet[:10])) and math.isnan(spike_share(-quiet))
    quiet[500:510, 2] = 8000.0
    assert spike_share(quiet) == pytest.approx(64_000 / quiet.sum(), rel=0.01) and spike_share(quiet) > SPIKE_SHARE


def test_the_verdict_names_what_was_not_put_back():
    sound = {
        "llc": 50.0, "se": 0.5, "chains": 4, "dead": 0, "r_hat": 1.005, "ess": 900.0, "drift": 0.1, "drift_se": 0.2,
        "step_size": 0.02, "stable_step": 0.08, "noise_inflation": 0.0, "kept_steps": 4000, "parameters": 400,
    }  # fmt: skip
    assert "chains reset after a burst: 9" in str(judge(Evidence(**sound, bursts=9, undone=0.03, spikes=0.1)))
    assert judge(Evidence(**sound, bursts=3, undone=0.06)), "not once a chain"
    assert "bursts" not in str(judge(Evidence(**sound)))
    found = judge(Evidence(**sound, bursts=9, undone=0.06))
    assert "burst 9 times" in str(found) and "such as 0.005," in str(found) and not found.wants_steps
    found = judge(Evidence(**{**sound, "se": 10.0}, spikes=0.3))
    assert "One draw in a thousand carries 30%" in str(found) and not found.wants_steps
    assert "such as 0.005," in str(judge(Evidence(**{**sound, "dead": 1}))), (
        "the limit is above the step that lost the chain"
    )
    assert "half the largest stable step size, 0.04, or leave it automatic" in str(
        judge(Evidence(**{**sound, "step_size": 0.2}))
    )
