"""Weighted averages of losses, chain by chain, against numpy's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from llc_core import DeepLinearNetwork, RunConfig
from llc_core.diagnostics.convergence import standard_error
from llc_core.engine.record import BEYOND, LossAccumulator
from llc_core.engine.run import Run

STEPS, CHAINS, BURN_IN = 120, 3, 20


@pytest.fixture(scope="module")
def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ΔL [T, C], L_m(w0) [T, C] and weights [T, C], a third of them 0."""
    rng = np.random.default_rng(0)
    weights = rng.gamma(1.0, size=(STEPS, CHAINS)) * (rng.random((STEPS, CHAINS)) > 1 / 3)
    return rng.normal(3.0, 1.0, (STEPS, CHAINS)), rng.normal(size=(STEPS, CHAINS)), weights


def averaged(losses, baselines, weights, cuts=(STEPS,), baseline="same_batch") -> LossAccumulator:
    found = LossAccumulator(CHAINS, STEPS, BURN_IN, np.full(CHAINS, 2.0), baseline, 5.0)
    start = 0
    for stop in cuts:
        part = slice(start, stop)
        found.add(
            losses[part], None if baselines is None else baselines[part], None if weights is None else weights[part]
        )
        start = stop
    return found


def test_weighted_means_are_those_of_numpy(drawn):
    losses, baselines, weights = drawn
    kept = slice(BURN_IN, None)
    mean = np.average(losses[kept], axis=0, weights=weights[kept])
    assert averaged(losses, None, weights).llc() == pytest.approx(2 * mean, rel=1e-13)
    assert averaged(losses, None, weights).llc() != pytest.approx(2 * losses[kept].mean(axis=0), rel=1e-3)
    at_w0 = np.average(baselines[kept], axis=0, weights=weights[kept])
    found = averaged(losses, baselines, weights)
    assert found.llc("full") == pytest.approx(2 * (mean + at_w0 - 5.0), rel=1e-12)
    assert found.llc("first_batch") == pytest.approx(2 * (mean + at_w0 - baselines[0]), rel=1e-12)


@pytest.mark.parametrize("kind", ["none", "steps", "chains"])
def test_ones_change_no_bit(drawn, kind):
    losses, baselines, _ = drawn
    ones = {"none": None, "steps": np.ones(STEPS), "chains": np.ones((STEPS, CHAINS))}[kind]
    plain, found = averaged(losses, baselines, None), averaged(losses, baselines, ones)
    for baseline in ("same_batch", "full", "first_batch"):
        assert np.array_equal(found.llc(baseline), plain.llc(baseline))
    assert found.effective_share().tolist() == [1.0] * CHAINS


@pytest.mark.parametrize("cuts", [(STEPS,), (30, 31, STEPS)])
def test_a_chain_is_lost_at_its_first_loss_that_is_not_finite(drawn, cuts):
    losses = drawn[0].copy()
    losses[30:33, 0], losses[5, 1], losses[50, 1] = np.inf, np.nan, np.nan
    found = averaged(losses, None, None, cuts)
    assert found.lost_at[:2].tolist() == [30, 5] and np.isnan(found.lost_at[2])


@pytest.mark.parametrize("cuts", [(450,), (150, 200, 299, 450), tuple(range(1, 451))])
@pytest.mark.parametrize("forgiving, at", [(0, [299, 5]), (10, [299, 150])])
def test_a_chain_whose_mean_is_beyond_reach_is_lost_and_lives(forgiving, at, cuts):
    """nβ is 2 and reach 200: a block of 100 steps is beyond it where its losses sum to more than 10,000. The last block is not whole.
    What the first `forgiving` steps do does not count."""
    losses = np.zeros((450, 3))
    losses[[199, 250], 0], losses[[5, 150], 1] = [9_999, 10_001], np.nan
    losses[400:, 2] = 1e6
    found = LossAccumulator(3, 450, 50, np.full(3, 2.0), "full", 5.0, forgiving, reach=200)
    for start, stop in itertools.pairwise((0, *cuts)):
        found.add(losses[start:stop], None)
    assert found.lost_at[:2].tolist() == at and np.isnan(found.lost_at[2])
    assert found.alive.tolist() == [True, False, True]


@pytest.mark.parametrize("widths, step_size", [([4, 4, 4], 3e-10), ([2, 2], 2e-10)])
def test_a_right_chain_on_minibatches_is_never_lost(widths, step_size):
    """Its single losses do lie beyond what all data allow, by the noise of the minibatch."""
    problem = DeepLinearNetwork.random(widths=widths, seed=0)
    sampler = {"name": "SGLD", "step_size": step_size}
    run = Run(
        RunConfig(problem=problem.to_dict(), sampler=sampler, gradient="minibatch", chains=4, steps=6000), problem
    )
    run.advance(6000)
    (found,) = run.estimates(0)
    assert found.trace.max() > problem.dim + BEYOND and np.isnan(run.lost_at()).all()


def test_the_same_weights_for_all_chains_are_those_of_the_steps(drawn):
    losses, baselines, weights = drawn
    steps = weights[:, 0] + 0.1
    one, each = (averaged(losses, baselines, w) for w in (steps, np.repeat(steps[:, None], CHAINS, axis=1)))
    assert np.array_equal(one.llc("full"), each.llc("full"))
    assert np.array_equal(one.effective_share(), each.effective_share())
    assert one.trace_weights() is None and np.array_equal(each.trace_weights(), np.repeat(steps[:, None], CHAINS, 1))


def test_lengths_of_steps_multiply_the_weights_and_say_nothing_of_how_many_states_they_are_worth(drawn):
    losses, baselines, weights = drawn
    shares = np.arange(1, STEPS + 1) ** -0.4
    found = LossAccumulator(CHAINS, STEPS, BURN_IN, np.full(CHAINS, 2.0), "same_batch", 5.0)
    found.add(losses, baselines, weights, shares)
    plain = averaged(losses, baselines, weights * shares[:, None])
    assert np.array_equal(found.llc("full"), plain.llc("full"))
    assert np.array_equal(found.effective_share(), averaged(*drawn).effective_share())
    assert not np.isclose(found.effective_share(), plain.effective_share()).any()
    assert np.array_equal(found.trace_weights(), weights)


def test_rows_of_weight_0_are_as_if_they_were_absent(drawn):
    losses, _, weights = drawn
    flags = (weights > 0).astype(float)
    found = averaged(losses, None, flags)
    for chain in range(CHAINS):
        own = losses[BURN_IN:, chain][flags[BURN_IN:, chain] > 0]
        assert found.llc()[chain] == pytest.approx(2 * own.mean(), rel=1e-13)
        assert found.effective_share()[chain] == pytest.approx(len(own) / (STEPS - BURN_IN), rel=1e-13)


def test_numbers_do_not_depend_on_the_cuts(drawn):
    whole, cut = (averaged(*drawn, cuts=cuts, baseline="full") for cuts in ((STEPS,), (1, 15, 40, 41, 119, STEPS)))
    assert np.array_equal(whole.llc(), cut.llc()) and np.array_equal(whole.effective_share(), cut.effective_share())
    assert np.array_equal(whole.trace_weights(), cut.trace_weights())


def test_a_chain_that_weighs_nothing_has_no_mean(drawn):
    losses, _, weights = drawn
    found = averaged(losses, None, weights * np.array([1.0, 0.0, 1.0]))
    assert np.isfinite(found.llc()).tolist() == np.isfinite(found.effective_share()).tolist() == [True, False, True]
    assert found.alive.all(), "it is not dead"


def test_weights_of_a_thinned_trace_are_those_of_its_rows(drawn):
    losses, _, weights = drawn
    found = averaged(losses, None, weights)
    found.thin = 1
    found.go_on(10**9, BURN_IN)
    assert found.thin > 1 and len(found.trace_weights()) == len(found.trace()[0]) < STEPS
    assert np.array_equal(found.trace_weights(), weights[:: found.thin])


@pytest.mark.slow
def test_the_error_of_a_weighted_mean_covers_it():
    """One chain of independent draws: the variance of Σwx/Σw is σ²·Σw²/(Σw)². Ones, and any constant, change no bit."""
    rng = np.random.default_rng(1)
    weights = rng.gamma(0.5, size=(4096, 2))
    errors = []
    for _ in range(200):
        trace = rng.normal(size=(4096, 2))
        errors.append(standard_error(trace.mean(axis=0), trace, weights))
        assert standard_error(trace.mean(axis=0), trace, np.full_like(trace, 0.3)) == standard_error(
            trace.mean(axis=0), trace
        )
    exact = np.sqrt((np.square(weights).sum(axis=0) / weights.sum(axis=0) ** 2).sum()) / 2
    wider = 1.02  # t(Φ(2)) / 2 of the 63 degrees of freedom of 64 batches
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(wider * exact, rel=0.05)
    assert exact > 1.5 * np.sqrt(1 / 4096 / 2), "equal weights would give less"
