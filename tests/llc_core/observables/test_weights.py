"""What a sampler says its chains weigh reaches every average: λ̂, its error, all that is watched, and the histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from targets import Quadratic
from torch import Tensor

from llc_core import NetworkPotential, Run, RunConfig, planar_landscape
from llc_core.diagnostics.convergence import standard_error
from llc_core.observables import Average, Look, base
from llc_core.samplers import SGLD

BINS = {"low": -2.0, "high": 2.0, "count": 20}


@dataclass
class Places(Average):
    """The mean of δ."""

    every: int = 1

    def measure(self, seen: Look) -> Tensor:
        return seen.delta


@pytest.fixture
def places(monkeypatch):
    monkeypatch.setitem(base._FAMILY, "Places", Places)


def weigh(monkeypatch, weights) -> None:
    """weights: δ [C, D] → [C]."""
    monkeypatch.setattr(SGLD, "weights", lambda self, state, hp: weights(state["delta"]))


def quiet(delta):
    """Left of w0 a state weighs nothing, right of it more the further it is; works for tensors and arrays."""
    return (delta[..., 0] > 0) * (0.5 + abs(delta[..., 0]))


def line(**changes) -> RunConfig:
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 0.3}, n_beta=1.0, localization=0.0, chains=3, steps=200, burn_in=40
    )
    return config.replace(dtype="float64", histogram=BINS, observables=["Places"], **changes)


def stepped(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """δ [T, C, D] and ΔL [T, C] before every step after burn-in."""
    delta, losses = [], []
    while not run.finished:
        delta.append(run.displacements)
        losses.append(run.advance(1).excess_loss[0])
    return np.array(delta)[run.burn_in :], np.array(losses)[run.burn_in :]


@pytest.mark.parametrize("decay", [0.0, 0.4])
def test_weights_of_states_are_those_of_a_sum_by_hand(monkeypatch, places, decay):
    weigh(monkeypatch, quiet)
    run = Run(line(step_decay=decay), Quadratic([1.0]))
    delta, losses = stepped(run)
    weights = quiet(delta) * ((np.arange(40, 200) + 1.0) ** -decay)[:, None]
    found = run.estimates()[0]
    assert found.per_chain == pytest.approx(np.average(losses, axis=0, weights=weights), rel=1e-12)
    assert found.per_chain != pytest.approx(losses.mean(axis=0), rel=1e-2), "without weights it is another number"
    by_hand = np.average(delta, axis=0, weights=np.broadcast_to(weights[..., None], delta.shape))
    assert found.observables["Places"]["per_chain"] == pytest.approx(by_hand, rel=1e-12)
    assert (by_hand > 0).all(), "no state on the left counts"
    counts = run.advance(0).observables["histogram"][0]
    assert counts[:11].sum() == 0 and counts.sum() == pytest.approx(weights.sum())
    own = quiet(delta)  # a long step is much time, not a likely state: errors leave it out
    share = own.sum(axis=0) ** 2 / len(own) / np.square(own).sum(axis=0)
    assert found.llc_se == pytest.approx(standard_error(found.per_chain, losses, own), rel=1e-9)
    if not decay:  # else the states are worth so few draws that the chains alone are counted
        assert found.llc_se != pytest.approx(standard_error(found.per_chain, losses), rel=1e-2)
    plain = Run(line(step_decay=decay), Quadratic([1.0]))
    monkeypatch.setattr(SGLD, "weights", lambda self, state, hp: None)
    stepped(plain)
    assert found.ess == pytest.approx(plain.estimates()[0].ess * share.mean(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("by_chain", [False, True])
def test_ones_change_no_bit(monkeypatch, places, by_chain):
    monkeypatch.setattr(NetworkPotential, "by_chain", by_chain)
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 1)
    first, second = (
        NetworkPotential(module, "mse", (torch.randn(60, 3), torch.randn(60, 1)), batch_size=20) for _ in range(2)
    )
    config = RunConfig(
        sampler={"name": "SGLD"}, gradient="minibatch", steps=200, chains=3, functional_variance=3, observe_every=2
    )
    config = config.replace(baseline="first_batch", step_decay=0.2, observables=["Places"])
    found = []
    for weights in (lambda delta: None, lambda delta: torch.ones(len(delta))):
        weigh(monkeypatch, weights)
        run = Run(config, first, second)
        run.advance(200)
        found.append(run.estimates()[0])
    plain, ones = found
    names = ("llc", "llc_se", "r_hat", "singular_fluctuation", "singular_fluctuation_se", "observed_llc")
    for name in names:
        assert getattr(plain, name) == getattr(ones, name) and np.isfinite(getattr(ones, name)), name
    assert dict(plain.diagnostics) == dict(ones.diagnostics)
    for name, value in plain.observables["Places"].items():
        assert np.array_equal(value, ones.observables["Places"][name])


def test_a_chain_that_weighs_nothing_is_in_no_result(monkeypatch, places):
    """The hotter chain of two, for example, which only helps the other."""
    weigh(monkeypatch, lambda delta: torch.tensor([1.0, 0.0, 1.0]))
    run = Run(line(), Quadratic([1.0]))
    delta, losses = stepped(run)
    found = run.estimates()[0]
    assert np.isnan(found.per_chain[1]) and found.llc == pytest.approx(losses[:, [0, 2]].mean(), rel=1e-12)
    assert found.observables["Places"]["mean"] == pytest.approx(delta[:, [0, 2]].mean(axis=(0, 1)), rel=1e-12)
    assert np.isfinite([found.llc_se, found.ess, found.r_hat]).all() and found.diverged == 0
    assert run.advance(0).observables["histogram"].sum() == 2 * 160
    looks = delta[::50, [0, 2]]
    assert found.diagnostics["distance"] == pytest.approx(np.sqrt(np.square(looks).sum(axis=2).mean()), rel=1e-12)


def test_the_streamed_variance_is_that_of_the_states_that_count(monkeypatch):
    """States of weight 0 are as if they had not been, also before a chain's first state that counts."""
    weigh(monkeypatch, lambda delta: quiet(delta - 0.02))
    problem, second = (planar_landscape("quadratic", scales=[1.0], n=50, seed=s) for s in (0, 1))
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": 0.03}, gradient="full", chains=3, steps=200, burn_in=20, dtype="float64"
    )
    run = Run(config.replace(functional_variance=1, observe_every=1), problem, second)
    delta, _ = stepped(run)
    weights = quiet(delta - 0.02)
    assert (weights[0] == 0).any() and 0.2 < (weights > 0).mean() < 0.8
    losses = np.array([problem.per_sample_loss(torch.as_tensor(d), 0, 50).numpy() for d in delta])
    normed = weights / weights.sum(axis=0)
    pooled = np.cov(losses.reshape(-1, 50).T, aweights=normed.ravel(), bias=True).trace()
    n_beta = run.config.n_beta
    assert n_beta is not None
    assert run.estimates()[0].singular_fluctuation == pytest.approx(n_beta / 50 / 2 * pooled)
    other = np.array([second.excess_loss_and_grad(torch.as_tensor(d))[0].numpy() for d in delta])
    by_hand = n_beta * np.average(other, axis=0, weights=weights)
    assert run.estimates()[0].observed_per_chain == pytest.approx(by_hand, rel=1e-12)
