"""Chains that interact are one draw: errors, R-hat and ESS count groups, and the weights' share of Kish stands beside them."""

from __future__ import annotations

import numpy as np
import pytest

import llc_core
from llc_core.engine.summary import Chains, make_estimate

STEPS, GROUPS, MEMBERS = 400, 4, 5


@pytest.fixture
def losses() -> np.ndarray:
    return 50 + np.random.default_rng(0).standard_normal((STEPS, GROUPS))


def estimated(trace: np.ndarray, members: int = 1, weights: np.ndarray | None = None) -> llc_core.Estimate:
    surface = llc_core.surface(noise=0.0)
    config = llc_core.RunConfig(sampler={"name": "SGLD"}, chains=trace.shape[1], steps=STEPS, burn_in=0)
    total = None if weights is None else weights.sum(axis=0)
    each = trace.mean(axis=0) if weights is None else (weights * trace).sum(axis=0) / total
    chains = Chains(
        per_chain=each,
        living=np.ones(trace.shape[1], dtype=bool),
        trace=trace,
        trace_steps=np.arange(STEPS),
        n_beta=1.0,
        localization=0.0,
        steps=STEPS,
        burn_in=0,
        seconds=1.0,
        steps_per_second=1.0,
        weights=weights,
        effective_share=None if weights is None else total**2 / (STEPS * (weights**2).sum(axis=0)),
        total_weight=total,
        members=members,
    )
    return make_estimate(surface, config, chains)


def test_copies_of_a_chain_in_a_group_are_worth_one_chain(losses):
    alone = estimated(losses)
    together = estimated(np.repeat(losses, MEMBERS, axis=1), MEMBERS)
    apart = estimated(np.repeat(losses, MEMBERS, axis=1))
    for name in ("llc", "llc_se", "r_hat", "ess"):
        assert getattr(together, name) == pytest.approx(getattr(alone, name), rel=1e-12), name
    assert apart.ess > 4 * alone.ess, "counted one by one they would pass for more draws"


def test_of_uneven_weights_kish_s_share_is_told_and_refused(losses):
    weights = np.where(np.arange(STEPS)[:, None] % 10 == 0, 1.0, 1e-4) * np.ones(GROUPS)
    found = estimated(losses, 2, weights)
    total = weights.sum()
    assert found.diagnostics["effective_share"] == pytest.approx(total**2 / (weights.size * (weights**2).sum()))
    assert not found.converged and "worth 10% of as many equal ones" in str(found.converged)
